import { flag } from './command.ts'

/** Understood by every command. There is no flag that switches verification off, and none that takes a secret. */
export const GLOBALS = {
  profile: flag.text('use this profile', 'NAME', { completes: 'profile' }),
  server: flag.text('address of the server', 'URL'),
  json: flag.on('print one JSON document'),
  pick: flag.text('print only this part of the JSON, such as data[].name', 'PATH'),
  quiet: flag.on('print only data and errors'),
  verbose: flag.on('say method, path, status and time of each request'),
  'no-color': flag.on('print without colours'),
  'no-input': flag.on('never ask; name what is missing instead'),
  yes: flag.on('answer yes to confirmations'),
  timeout: flag.duration('give up after this time', '30s'),
  offline: flag.on('run, env, inject, read: answer from what was read before, verified again'),
  help: flag.on('show help'),
  schema: flag.on('print the JSON Schema of the answer'),
} as const

export type GlobalFlags = {
  readonly profile: string | undefined
  readonly server: string | undefined
  readonly json: boolean
  readonly pick: string | undefined
  readonly quiet: boolean
  readonly verbose: boolean
  readonly 'no-color': boolean
  readonly 'no-input': boolean
  readonly yes: boolean
  readonly timeout: number | undefined
  readonly offline: boolean
  readonly help: boolean
  readonly schema: boolean
}

export const SHORT: Readonly<Record<string, string>> = {
  h: 'help',
  q: 'quiet',
  v: 'verbose',
  y: 'yes',
  p: 'profile',
  i: 'in',
  o: 'out',
}
