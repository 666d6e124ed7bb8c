// What the process that kills and the process that writes tell each other.

export interface Start {
  readonly type: 'start'
  readonly url: string
  readonly setupToken: string
  readonly dataDirectory: string
  readonly seed: number
  /** How many write at once, where the suite leaves that open. */
  readonly writers?: number
}

export type ToLoad =
  | Start
  /** Write until further notice. */
  | { readonly type: 'run' }
  /** It was killed at this moment. */
  | { readonly type: 'down'; readonly killedAt: number }
  /** It is back: settle what is open, then compare everything. */
  | { readonly type: 'up'; readonly thorough: boolean }

export interface Pace {
  readonly type: 'pace'
  readonly ackedLastSecond: number
  readonly inFlight: number
}

/** What the writers saw of a kill. */
export interface Seen {
  readonly type: 'seen'
  /** In the second before the kill. */
  readonly ackedLastSecond: number
  /** Sent before the kill and not answered then. */
  readonly inFlight: number
}

export interface Checked {
  readonly type: 'checked'
  readonly ackedInAll: number
  /** Requests of this cycle of which nobody could say whether they had happened. */
  readonly ambiguous: number
  readonly lost: readonly string[]
  readonly failures: readonly string[]
  /** What a suite counts besides, since the beginning. */
  readonly counts?: Readonly<Record<string, number>>
}

export type FromLoad = { readonly type: 'ready' } | Pace | Seen | Checked | { readonly type: 'broken'; why: string }
