import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import type { Io } from './io.ts'

export interface Paths {
  /** `config.toml` */
  readonly config: string
  /** Sealed keys, where there is no system keychain. */
  readonly keys: string
  readonly trust: string
  readonly cache: string
  readonly evidence: string
  /** Memory-backed, for what is unlocked for a while; absent where there is none. */
  readonly runtime: string | undefined
}

type Env = Io['env']

function homeOfAccount(): string {
  try {
    return userInfo().homedir
  } catch {
    // In a container the number of the user may belong to no account.
    return ''
  }
}

/** A variable that is set to nothing is not set. Keys and pins never land in whatever folder a command was typed in. */
export function homeOf({ HOME }: Env): string {
  const home = HOME || homeOfAccount()
  if (isAbsolute(home)) return home
  const what = home === '' ? 'HOME is not set, and this account has no home' : 'HOME is no absolute path'
  throw new CliError('config_invalid', what, { fix: 'set HOME to a folder of yours' })
}

function bases(env: Env): Record<'config' | 'data' | 'cache' | 'state', string> {
  const home = homeOf(env)
  if (process.platform === 'win32') {
    const roaming = env.APPDATA ?? join(home, 'AppData', 'Roaming')
    const local = env.LOCALAPPDATA ?? join(home, 'AppData', 'Local')
    return { config: roaming, data: local, cache: join(local, 'Cache'), state: local }
  }
  if (process.platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support')
    return { config: support, data: support, cache: join(home, 'Library', 'Caches'), state: support }
  }
  return {
    config: env.XDG_CONFIG_HOME || join(home, '.config'),
    data: env.XDG_DATA_HOME || join(home, '.local', 'share'),
    cache: env.XDG_CACHE_HOME || join(home, '.cache'),
    state: env.XDG_STATE_HOME || join(home, '.local', 'state'),
  }
}

function runtimeOf(env: Env): string | undefined {
  if (process.platform !== 'linux') return undefined
  return env.XDG_RUNTIME_DIR
    ? join(env.XDG_RUNTIME_DIR, 'strongroom')
    : `/dev/shm/strongroom-${process.getuid?.() ?? 0}`
}

/** Where this program keeps things. The environment can move each of them. */
export function pathsOf(env: Env): Paths {
  const base = bases(env)
  const data = join(base.data, 'strongroom')
  const config = env.STRONGROOM_CONFIG_DIR || join(base.config, 'strongroom')
  return {
    config: join(config, 'config.toml'),
    keys: join(data, 'keys'),
    trust: env.STRONGROOM_TRUST_STORE || join(data, 'trust.json'),
    cache: env.STRONGROOM_CACHE_DIR || join(base.cache, 'strongroom'),
    evidence: join(base.state, 'strongroom', 'evidence'),
    runtime: runtimeOf(env),
  }
}
