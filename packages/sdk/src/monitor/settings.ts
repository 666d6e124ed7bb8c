import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseTrustAnchor, parseVkey } from '@strongroom/protocol'
import type { ClientOptions } from '../client.ts'
import type { WitnessedLog } from './witness.ts'

// The settings of the programs: one JSON file without secrets, and a credential from the environment or a file, never from the
// command line, where every user of the machine can read it.

/** Said to whoever started the program; there is nothing to debug. */
export class UsageError extends Error {
  override name = 'UsageError'
}

interface Common {
  readonly name: string
  readonly keyFile: string
  readonly stateDirectory: string
  readonly everyMs: number
  readonly refreshMs: number
}

export interface WitnessSettings extends Common {
  readonly logs: readonly WitnessedLog[]
  readonly listen: { readonly host: string; readonly port: number } | undefined
  readonly server: string | undefined
}

export interface AuditorSettings extends Common {
  readonly anchor: string
  readonly server: string
}

type Raw = Readonly<Record<string, unknown>>

async function readJson(path: string): Promise<Raw> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`cannot read ${path}: ${error.message}`)
  })
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Raw
  } catch {
    // Said below.
  }
  throw new UsageError(`${path} is not a JSON object`)
}

function member(raw: Raw, name: string): string {
  const value = raw[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`the settings need a text "${name}"`)
  return value
}

function seconds(raw: Raw, name: string, usual: number): number {
  const value = raw[name] ?? usual
  if (typeof value !== 'number' || !(value > 0 && value <= 86_400))
    throw new UsageError(`"${name}" is a number of seconds`)
  return value * 1000
}

function ensureKnown(raw: Raw, names: readonly string[]): void {
  const strange = Object.keys(raw).filter((name) => !names.includes(name))
  if (strange.length > 0) throw new UsageError(`the settings have unknown members: ${strange.join(', ')}`)
}

const COMMON = ['name', 'key', 'state', 'everySeconds', 'refreshSeconds']

function commonOf(raw: Raw, path: string): Common {
  const beside = (file: string): string => resolve(dirname(path), file)
  return {
    name: member(raw, 'name'),
    keyFile: beside(member(raw, 'key')),
    stateDirectory: beside(member(raw, 'state')),
    everyMs: seconds(raw, 'everySeconds', 2),
    refreshMs: seconds(raw, 'refreshSeconds', 600),
  }
}

function checked<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${what}: ${(error as Error).message}`)
  }
}

function logOf(value: unknown): WitnessedLog {
  const { origin, vkey } = (value ?? {}) as { origin?: unknown; vkey?: unknown }
  if (typeof origin !== 'string' || typeof vkey !== 'string') throw new UsageError('a log has an "origin" and a "vkey"')
  const { name } = checked('a log has a bad vkey', () => parseVkey(vkey))
  if (name !== origin) throw new UsageError(`the vkey of ${origin} is named ${name}`)
  return { origin, vkeys: [vkey] }
}

function listenOf(raw: Raw): WitnessSettings['listen'] {
  if (raw.listen === undefined) return undefined
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(member(raw, 'listen')) ?? []
  if (host === undefined) throw new UsageError('"listen" is <host>:<port>')
  return { host, port: Number(port) }
}

export async function readWitnessSettings(path: string): Promise<WitnessSettings> {
  const raw = await readJson(path)
  ensureKnown(raw, [...COMMON, 'logs', 'listen', 'server'])
  const listed = Array.isArray(raw.logs) ? raw.logs.map(logOf) : []
  if (listed.length === 0) throw new UsageError('the settings name no "logs"')
  const byOrigin = new Map<string, WitnessedLog>()
  for (const { origin, vkeys } of listed)
    byOrigin.set(origin, { origin, vkeys: [...(byOrigin.get(origin)?.vkeys ?? []), ...vkeys] })
  const server = raw.server === undefined ? undefined : member(raw, 'server')
  return { ...commonOf(raw, path), logs: [...byOrigin.values()], listen: listenOf(raw), server }
}

export async function readAuditorSettings(path: string): Promise<AuditorSettings> {
  const raw = await readJson(path)
  ensureKnown(raw, [...COMMON, 'anchor', 'server'])
  const anchor = member(raw, 'anchor')
  checked('the anchor is refused', () => parseTrustAnchor(anchor))
  return { ...commonOf(raw, path), anchor, server: member(raw, 'server') }
}

type Env = Readonly<Record<string, string | undefined>>

async function secretOf(env: Env, name: string): Promise<string | undefined> {
  const file = env[`${name}_FILE`]
  if (env[name] !== undefined && file !== undefined) throw new UsageError(`set ${name} or ${name}_FILE, not both`)
  return file === undefined ? env[name] : (await readFile(file, 'utf8')).trim()
}

/** The one credential of the environment: an API key or an access token. */
export async function readCredential(env: Env): Promise<Pick<ClientOptions, 'apiKey' | 'accessToken'>> {
  const apiKey = await secretOf(env, 'STRONGROOM_API_KEY')
  const accessToken = await secretOf(env, 'STRONGROOM_ACCESS_TOKEN')
  if (apiKey !== undefined && accessToken === undefined) return { apiKey }
  if (accessToken !== undefined && apiKey === undefined) return { accessToken }
  throw new UsageError('set one of STRONGROOM_API_KEY[_FILE] and STRONGROOM_ACCESS_TOKEN[_FILE]')
}
