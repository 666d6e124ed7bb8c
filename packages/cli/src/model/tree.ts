import type { Noun } from './command.ts'

// Every first word and where it is. A command line loads the one file it names; help of everything, completions and the
// reference load them all.

export interface Entry {
  readonly summary: string
  /** Under which heading help lists it. */
  readonly heading: 'start' | 'every day' | 'manage' | 'money' | 'look' | 'this program'
  load(): Promise<Noun>
}

export const TREE: Readonly<Record<string, Entry>> = {
  whoami: {
    summary: 'who this machine acts as',
    heading: 'start',
    load: async () => (await import('../commands/whoami.ts')).whoami,
  },
  version: {
    summary: 'versions of this program and of the server',
    heading: 'this program',
    load: async () => (await import('../commands/version.ts')).version,
  },
}
