import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere, writePrivate } from './private-file.ts'

// config.toml: who this machine can be. Nothing in it is secret: secrets are in the key store, by the name of the profile.

export interface Profile {
  readonly kind: 'person' | 'agent'
  readonly server: string
  readonly org: string
  /** `vta1.…`: what makes a lying server visible from the first request on. */
  readonly trust_anchor: string
  /** Of a person. */
  readonly email?: string
  /** Of a person: their id, so that nobody has to be asked whose keys these are. */
  readonly user?: string
  /** Parameters of passphrase stretching that were seen last; weaker ones are refused. */
  readonly kdf?: string
  readonly device_id?: string
  /** Of a person who has joined with an invite and was never signed in: whether the key is confirmed is not known here. */
  readonly waiting?: boolean
  /** Of an agent: `keys`, `env:NAME` or `file:PATH`. */
  readonly bundle?: string
  /** Of an agent: its id. */
  readonly agent?: string
  /** What `run`, `env` and others use where nothing else is said. */
  readonly vault?: string
}

export interface ConfigFile {
  readonly default?: string
  readonly profiles: Readonly<Record<string, Profile>>
}

const EMPTY: ConfigFile = { profiles: {} }
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function ensureProfileName(name: string): string {
  if (NAME.test(name)) return name
  throw new CliError('usage', 'a profile is named with letters, digits, dots, dashes and underscores')
}

const isText = (value: unknown): value is string => typeof value === 'string'

function profileOf(path: string, name: string, given: unknown): Profile {
  const members = given as Readonly<Record<string, unknown>>
  const isProfile =
    typeof given === 'object' &&
    given !== null &&
    ['server', 'org', 'trust_anchor'].every((member) => isText(members[member])) &&
    (members.kind === 'person' || members.kind === 'agent')
  if (isProfile) return given as Profile
  throw new CliError('config_invalid', `profile ${name} in ${path} is not complete`, {
    fix: shellLine`strongroom login --profile ${name} writes it anew`,
  })
}

/** The configuration of this machine; empty where there is none yet. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const text = await readIfThere(path)
  if (text === undefined) return EMPTY
  const { parse } = await import('smol-toml')
  let parsed: Readonly<Record<string, unknown>>
  try {
    parsed = parse(text)
  } catch (error) {
    const { line } = error as { line?: number }
    throw new CliError('config_invalid', `${path} is not TOML${line === undefined ? '' : `: line ${line}`}`, {
      fix: 'repair that line',
    })
  }
  const profiles = Object.entries((parsed.profiles ?? {}) as Readonly<Record<string, unknown>>)
  return {
    ...(isText(parsed.default) && { default: parsed.default }),
    profiles: Object.fromEntries(profiles.map(([name, given]) => [name, profileOf(path, name, given)])),
  }
}

export async function writeConfigFile(path: string, config: ConfigFile): Promise<void> {
  const { stringify } = await import('smol-toml')
  const head = '# Written by strongroom. Nothing here is secret; `strongroom config set` changes it.\n'
  await writePrivate(path, `${head}${stringify(config)}\n`, 0o644)
}
