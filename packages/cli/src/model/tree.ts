import type { Noun } from './command.ts'

// Every first word and where it is. A command line loads the one file it names; help of everything, completions and the
// reference load them all.

export interface Entry {
  readonly summary: string
  /** Under which heading help lists it. */
  readonly heading: 'start' | 'every day' | 'manage' | 'money' | 'look' | 'this program' | 'hidden'
  /** It answers from what was read before, or never asks the server. Absent: `--offline` is refused. */
  readonly offline?: true
  load(): Promise<Noun>
}

export const TREE: Readonly<Record<string, Entry>> = {
  up: {
    summary: 'start a server on this machine',
    heading: 'start',
    load: async () => (await import('../commands/up.ts')).up,
  },
  init: {
    summary: 'make the organisation, or join one',
    heading: 'start',
    load: async () => (await import('../commands/init.ts')).init,
  },
  config: {
    summary: 'profiles and settings of this machine',
    heading: 'this program',
    offline: true,
    load: async () => (await import('../commands/config.ts')).config,
  },
  doctor: {
    summary: 'look at everything, and say how to fix it',
    heading: 'this program',
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  explain: {
    summary: 'what a code means, and what to do',
    heading: 'this program',
    offline: true,
    load: async () => (await import('../commands/explain.ts')).explain,
  },
  login: {
    summary: 'sign in, or save the bundle of an agent',
    heading: 'start',
    load: async () => (await import('../commands/login.ts')).login,
  },
  logout: {
    summary: 'end the session, remove the keys from here',
    heading: 'start',
    load: async () => (await import('../commands/logout.ts')).logout,
  },
  open: {
    summary: 'the address of a page',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/open.ts')).open,
  },
  whoami: {
    summary: 'who this machine acts as',
    heading: 'start',
    load: async () => (await import('../commands/whoami.ts')).whoami,
  },
  version: {
    summary: 'versions of this program and of the server',
    heading: 'this program',
    offline: true,
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
  file: {
    summary: 'files of items: encrypted here, of any size',
    heading: 'manage',
    load: async () => (await import('../commands/file.ts')).file,
  },
  project: {
    summary: 'projects: vaults that make one environment',
    heading: 'manage',
    load: async () => (await import('../commands/project.ts')).project,
  },
  admin: {
    summary: 'the server itself, on its host',
    heading: 'manage',
    offline: true,
    load: async () => (await import('../commands/admin.ts')).admin,
  },
  agent: {
    summary: 'agents: what processes act as',
    heading: 'manage',
    load: async () => (await import('../commands/agent.ts')).agent,
  },
  key: {
    summary: 'keys of people and agents',
    heading: 'manage',
    load: async () => (await import('../commands/key.ts')).key,
  },
  user: {
    summary: 'people: invited, endorsed, removed',
    heading: 'manage',
    load: async () => (await import('../commands/user.ts')).user,
  },
  access: {
    summary: 'access lists: who may read, write and share',
    heading: 'manage',
    load: async () => (await import('../commands/access.ts')).access,
  },
  billing: {
    summary: 'prepaid credit: balance, movements, readiness',
    heading: 'money',
    load: async () => (await import('../commands/billing.ts')).billing,
  },
  budget: {
    summary: 'budgets: decided before it is spent',
    heading: 'money',
    load: async () => (await import('../commands/budget.ts')).budget,
  },
  license: {
    summary: 'licences: bought within budgets, handed over sealed',
    heading: 'money',
    load: async () => (await import('../commands/license.ts')).license,
  },
  domain: {
    summary: 'domains that are managed here',
    heading: 'manage',
    load: async () => (await import('../commands/domain.ts')).domain,
  },
  webhook: {
    summary: 'signed events, at an address of yours',
    heading: 'manage',
    load: async () => (await import('../commands/webhook.ts')).webhook,
  },
  trust: {
    summary: 'what this machine has pinned',
    heading: 'look',
    offline: true,
    load: async () => (await import('../commands/trust.ts')).trust,
  },
  log: {
    summary: 'the transparency log: every change, append-only',
    heading: 'look',
    load: async () => (await import('../commands/log.ts')).log,
  },
  env: {
    summary: 'print variables for a program that reads files',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/env.ts')).env,
  },
  inject: {
    summary: 'fill references into a template',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/inject.ts')).inject,
  },
  run: {
    summary: 'run a command with secrets in its environment',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/run.ts')).run,
  },
  mcp: {
    summary: 'serve a coding agent, which uses values and sees none',
    heading: 'every day',
    load: async () => (await import('../commands/mcp.ts')).mcp,
  },
  allow: {
    summary: 'let coding agents run tasks of strongroom.toml',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/allow.ts')).allow,
  },
  deny: {
    summary: 'take that back',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/allow.ts')).deny,
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
  'verify-console': {
    summary: 'is the console there the one of this release, or of the log',
    heading: 'look',
    load: async () => (await import('../commands/verify-console.ts')).verifyConsole,
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
  import: {
    summary: 'bring secrets from a file of another program',
    heading: 'manage',
    load: async () => (await import('../commands/import.ts')).importing,
  },
  export: {
    summary: 'an archive of your vaults, sealed',
    heading: 'manage',
    load: async () => (await import('../commands/export.ts')).exporting,
  },
  scan: {
    summary: 'find your own values in files and git history',
    heading: 'every day',
    load: async () => (await import('../commands/scan.ts')).scan,
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
  help: {
    summary: 'help for a command',
    heading: 'this program',
    offline: true,
    load: async () => (await import('../commands/help.ts')).help,
  },
  man: {
    summary: 'the man page of a command',
    heading: 'this program',
    offline: true,
    load: async () => (await import('../commands/help.ts')).man,
  },
  completion: {
    summary: 'completions for your shell',
    heading: 'this program',
    offline: true,
    load: async () => (await import('../commands/completion.ts')).completion,
  },
  __complete: {
    summary: 'what could come next',
    heading: 'hidden',
    offline: true,
    load: async () => (await import('../commands/completion.ts')).completing,
  },
  read: {
    summary: 'one value to standard output',
    heading: 'every day',
    offline: true,
    load: async () => (await import('../commands/read.ts')).read,
  },
  rm: {
    summary: 'remove a field, or archive an item',
    heading: 'every day',
    load: async () => (await import('../commands/rm.ts')).rm,
  },
  set: {
    summary: 'write one value',
    heading: 'every day',
    load: async () => (await import('../commands/set.ts')).set,
  },
}
