import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { CliError } from '../errors/cli-error.ts'
import type { Io } from './io.ts'
import type { Paths } from './paths.ts'
import { readIfThere } from './private-file.ts'
import { hasMaster, makeMaster, openMaster, readSecretFile, secretFile, writeSecretFile } from './sealed-files.ts'
import { keepUnlocked, readUnlocked } from './unlocked.ts'

// Where secrets of profiles are kept: the system keychain where there is one, else files sealed with the passphrase.

export interface KeyStore {
  readonly kind: 'keychain' | 'file'
  /** For people: where the keys of a profile are. */
  where(name: string): string
  get(name: string): Promise<string | undefined>
  put(name: string, secret: string): Promise<void>
  remove(name: string): Promise<void>
}

export interface KeyStorePlace {
  readonly env: Io['env']
  readonly paths: Paths
  /** Asks a person; refuses where there is nobody. */
  askPassphrase(question: string): Promise<string>
}

interface Keychain {
  getPassword(): string | null
  setPassword(text: string): void
  deletePassword(): boolean
}

const SERVICE = 'strongroom'

/** The keychain, if this machine has one that answers. */
function findKeychain(): ((name: string) => Keychain) | undefined {
  try {
    // Required and not imported: from within a script that the starter has loaded, an import makes Node print a warning.
    const { Entry } = createRequire(import.meta.url)('@napi-rs/keyring') as typeof import('@napi-rs/keyring')
    const probe = new Entry(SERVICE, 'probe') as Keychain
    probe.setPassword('1')
    probe.deletePassword()
    return (name) => new Entry(SERVICE, name) as Keychain
  } catch {
    return undefined
  }
}

const NAMES: Readonly<Record<string, string>> = { darwin: 'macOS Keychain', win32: 'Windows Credential Manager' }

const keychainStore = (entry: (name: string) => Keychain): KeyStore => ({
  kind: 'keychain',
  where: () => NAMES[process.platform] ?? 'the system keychain',
  get: async (name) => entry(name).getPassword() ?? undefined,
  put: async (name, secret) => entry(name).setPassword(secret),
  remove: async (name) => {
    entry(name).deletePassword()
  },
})

/** The passphrase from where it was put for machines, or from a person. */
export async function passphraseFor({ env, askPassphrase }: KeyStorePlace, question: string): Promise<string> {
  const file = env.STRONGROOM_PASSPHRASE_FILE
  if (!file) return askPassphrase(question)
  const text = await readIfThere(file)
  if (text === undefined)
    throw new CliError('file_unreadable', 'the file that STRONGROOM_PASSPHRASE_FILE names is not there')
  return text.replace(/\r?\n$/, '')
}

async function unlock(place: KeyStorePlace): Promise<Uint8Array> {
  const { keys } = place.paths
  const unlocked = await readUnlocked(place.paths)
  if (unlocked) return unlocked
  if (!(await hasMaster(keys)))
    throw new CliError('not_signed_in', 'there are no keys on this machine yet', { fix: 'strongroom login' })
  const key = await openMaster(keys, await passphraseFor(place, 'Passphrase'))
  if (!key) throw new CliError('wrong_passphrase', 'the passphrase does not open the keys of this machine')
  await keepUnlocked(place.paths, key)
  return key
}

function fileStore(place: KeyStorePlace): KeyStore {
  const { keys } = place.paths
  let opening: Promise<Uint8Array> | undefined
  const master = (): Promise<Uint8Array> => {
    opening ??= unlock(place)
    return opening
  }
  return {
    kind: 'file',
    where: (name) => `${secretFile(keys, name)} (0600, sealed with your passphrase; no system keychain here)`,
    get: async (name) => {
      const isThere = (await readIfThere(secretFile(keys, name))) !== undefined
      return isThere ? readSecretFile(keys, name, await master()) : undefined
    },
    put: async (name, secret) => writeSecretFile(keys, name, await master(), secret),
    remove: (name) => rm(secretFile(keys, name), { force: true }),
  }
}

/** Where this machine keeps keys. `STRONGROOM_KEY_STORE` decides; otherwise the keychain, if it answers. */
export async function openKeyStore(place: KeyStorePlace, kind = place.env.STRONGROOM_KEY_STORE): Promise<KeyStore> {
  if (kind === 'file') return fileStore(place)
  const entry = findKeychain()
  if (entry) return keychainStore(entry)
  if (kind === 'keychain')
    throw new CliError('config_invalid', 'this machine has no system keychain that answers', {
      fix: 'set STRONGROOM_KEY_STORE=file',
    })
  return fileStore(place)
}

/** Before the first secret is put into files: the master key under the passphrase that was just chosen or proven. */
export async function prepareFileStore({ paths }: KeyStorePlace, passphrase: string): Promise<void> {
  const { keys } = paths
  const key = (await hasMaster(keys)) ? await openMaster(keys, passphrase) : await makeMaster(keys, passphrase)
  if (!key)
    throw new CliError('wrong_passphrase', 'the keys on this machine are sealed with another passphrase', {
      fix: 'sign in with that passphrase, or set STRONGROOM_CONFIG_DIR and XDG_DATA_HOME for a second set of keys',
    })
  await keepUnlocked(paths, key)
}
