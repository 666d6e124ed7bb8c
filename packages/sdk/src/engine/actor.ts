import type { Evidence, Identity, Notice } from '@strongroom/protocol'
import type { Client } from '../client.ts'
import type { CacheStore } from './cache.ts'
import { type Memory, makeMemory } from './memory.ts'
import type { TrustKeeper } from './trust.ts'

/** How patient and how strict an actor is. */
export interface ActorPolicy {
  /** With witnesses: the age of the newest witnessed checkpoint that is still accepted. */
  readonly maxStaleMs: number
  /** How often a change is put on top of a newer head before giving up. */
  readonly maxRebases: number
  /** How often a change is sent again, with the same idempotency key, when no answer came. */
  readonly maxResends: number
  /** After this time without an answer a change is sent again. */
  readonly timeoutMs: number
  /** New keys of known principals that a person has confirmed out of band. */
  readonly confirmed: ReadonlySet<string>
}

const DEFAULT_POLICY: ActorPolicy = {
  maxStaleMs: 86_400_000,
  maxRebases: 8,
  maxResends: 4,
  timeoutMs: 30_000,
  confirmed: new Set(),
}

/** Somebody with keys, a connection and a memory: everything the engine does, it does for one of these. */
export interface Actor {
  readonly client: Client
  readonly org: string
  readonly identity: Identity
  readonly trust: TrustKeeper
  readonly policy: ActorPolicy
  readonly memory: Memory
  readonly cache: CacheStore | undefined
  now(): number
  /** An answer was refused. A text it gives back, such as the name of a file, is kept with the alarm. */
  onEvidence?: ((evidence: Evidence) => unknown) | undefined
  /** Legitimate, but people should hear of it. */
  onNotice?: ((notice: Notice) => void) | undefined
}

export interface ActorOptions extends Pick<Actor, 'client' | 'org' | 'identity' | 'trust' | 'onEvidence' | 'onNotice'> {
  readonly policy?: Partial<ActorPolicy>
  readonly cache?: CacheStore | undefined
  readonly now?: () => number
}

export const makeActor = ({ policy, cache, now = Date.now, ...given }: ActorOptions): Actor => ({
  ...given,
  policy: { ...DEFAULT_POLICY, ...policy },
  cache,
  now,
  memory: makeMemory(),
})

/** The same actor with other keys; what was remembered of vaults stays with the old one. */
export const withIdentity = (actor: Actor, identity: Identity): Actor => ({ ...actor, identity, memory: makeMemory() })

/** What every function of the engine takes last. */
export interface CallerOptions {
  readonly signal?: AbortSignal | undefined
}
