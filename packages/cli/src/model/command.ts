import type { TSchema } from 'typebox'
import type { Cli } from '../cli.ts'

// What a command is, as data: the parser, help, `--map`, completions, man pages, the reference and the tests all read this.

/** What names a shell can offer for an argument; they come from the local index, never from the network. */
export type Completes =
  | 'vault'
  | 'item'
  | 'ref'
  | 'agent'
  | 'project'
  | 'profile'
  | 'command'
  | 'file'
  | 'code'
  | 'call'

export interface Flag<T = unknown> {
  readonly kind: 'switch' | 'text' | 'many' | 'count' | 'duration'
  readonly summary: string
  /** What stands for the value in help: `NAME`. */
  readonly value?: string
  readonly choices?: readonly string[]
  readonly completes?: Completes
  /** `--help` gives its name and leaves what it does to `strongroom help COMMAND`. */
  readonly isRare?: true
  /** Carries the type of the value; there is nothing in it. */
  readonly of?: T
}

interface Extra {
  readonly completes?: Completes
}

export const flag = {
  on: (summary: string): Flag<boolean> => ({ kind: 'switch', summary }),
  text: (summary: string, value: string, extra: Extra = {}): Flag<string | undefined> => ({
    kind: 'text',
    summary,
    value,
    ...extra,
  }),
  choice: <const C extends string>(summary: string, choices: readonly C[]): Flag<C | undefined> => ({
    kind: 'text',
    summary,
    value: choices.join('|'),
    choices,
  }),
  many: (summary: string, value: string, extra: Extra = {}): Flag<readonly string[]> => ({
    kind: 'many',
    summary,
    value,
    ...extra,
  }),
  count: (summary: string, value = 'N'): Flag<number | undefined> => ({ kind: 'count', summary, value }),
  /** In milliseconds; written `90s`, `15m`, `24h`, `7d`. */
  duration: (summary: string, value = '24h'): Flag<number | undefined> => ({ kind: 'duration', summary, value }),
}

/** Flags that few need: `--help` has to fit a screen, and names them only. */
export const rare = <const F extends Flags>(flags: F): F =>
  Object.fromEntries(Object.entries(flags).map(([name, own]) => [name, { ...own, isRare: true }])) as F

export interface Arg<T = unknown> {
  readonly kind: 'one' | 'maybe' | 'rest'
  readonly summary: string
  readonly completes?: Completes
  readonly choices?: readonly string[]
  readonly of?: T
}

export const arg = {
  one: (summary: string, extra: Extra & { readonly choices?: readonly string[] } = {}): Arg<string> => ({
    kind: 'one',
    summary,
    ...extra,
  }),
  maybe: (summary: string, extra: Extra & { readonly choices?: readonly string[] } = {}): Arg<string | undefined> => ({
    kind: 'maybe',
    summary,
    ...extra,
  }),
  rest: (summary: string, extra: Extra = {}): Arg<readonly string[]> => ({ kind: 'rest', summary, ...extra }),
}

export type Flags = Readonly<Record<string, Flag>>
export type Args = Readonly<Record<string, Arg>>
type Value<D> = D extends { readonly of?: infer T } ? T : never
export type Values<D> = { readonly [K in keyof D]: Value<D[K]> }

export interface Input<A extends Args = Args, F extends Flags = Flags> {
  readonly args: Values<A>
  readonly flags: Values<F>
  /** What stands after `--`; only for commands that take another command. */
  readonly rest: readonly string[]
}

export interface Result {
  /** What `--json` prints as `data`. */
  readonly data: unknown
  /** For people; without it nothing is printed but `next`. */
  readonly text?: string
  /** For people: the exact command to go on with. */
  readonly next?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly exitCode?: number
}

export interface Example {
  readonly run: string
  readonly does: string
}

export interface Command<A extends Args = Args, F extends Flags = Flags> {
  readonly summary: string
  /** A paragraph for man pages and the reference. */
  readonly about?: string
  readonly args: A
  readonly flags: F
  /** Takes a command after `--`. */
  readonly takesCommand?: boolean
  readonly examples: readonly [Example, ...Example[]]
  /** The command people type next. */
  readonly next: string
  /** The shape of `data`; loaded only where somebody asks for it. Absent: the command prints no data of its own. */
  readonly output?: () => Promise<TSchema>
  run(cli: Cli, input: Input<A, F>): Promise<Result | undefined>
}

/** Only the compiler sees this: it ties what `run` gets to what `args` and `flags` say. */
export const command = <const A extends Args, const F extends Flags>(definition: Command<A, F>): Command =>
  definition as unknown as Command

export interface Group {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Command>>
}

export type Noun = Command | Group
export const isGroup = (noun: Noun): noun is Group => 'verbs' in noun
