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
  vault: {
    summary: 'vaults: what is in them is encrypted here',
    heading: 'manage',
    load: async () => (await import('../commands/vault.ts')).vault,
  },
  item: {
    summary: 'items: named sets of fields in a vault',
    heading: 'manage',
    load: async () => (await import('../commands/item.ts')).item,
  },
  project: {
    summary: 'projects: vaults that make one environment',
    heading: 'manage',
    load: async () => (await import('../commands/project.ts')).project,
  },
  access: {
    summary: 'access lists: who may read, write and share',
    heading: 'manage',
    load: async () => (await import('../commands/access.ts')).access,
  },
  trust: {
    summary: 'what this machine has pinned',
    heading: 'look',
    load: async () => (await import('../commands/trust.ts')).trust,
  },
  log: {
    summary: 'the transparency log: every change, append-only',
    heading: 'look',
    load: async () => (await import('../commands/log.ts')).log,
  },
  search: {
    summary: 'find by name, also misspelt; never values',
    heading: 'every day',
    load: async () => (await import('../commands/search.ts')).search,
  },
  verify: {
    summary: 'prove that the log is the one you know',
    heading: 'every day',
    load: async () => (await import('../commands/verify.ts')).verify,
  },
  activity: {
    summary: 'what happened in your vaults',
    heading: 'every day',
    load: async () => (await import('../commands/activity.ts')).activity,
  },
  logs: {
    summary: 'your requests',
    heading: 'look',
    load: async () => (await import('../commands/logs.ts')).logs,
  },
  audit: {
    summary: 'the audit trail',
    heading: 'look',
    load: async () => (await import('../commands/logs.ts')).audit,
  },
  stats: {
    summary: 'requests by route, and what there is',
    heading: 'look',
    load: async () => (await import('../commands/stats.ts')).stats,
  },
  system: {
    summary: 'the server process and its sessions; for the operator',
    heading: 'look',
    load: async () => (await import('../commands/stats.ts')).system,
  },
  feedback: {
    summary: 'say what is missing',
    heading: 'this program',
    load: async () => (await import('../commands/feedback.ts')).feedback,
  },
  api: {
    summary: 'any route of the API, with your credential',
    heading: 'this program',
    load: async () => (await import('../commands/api.ts')).api,
  },
}
