import type { SigningPerson, Strongroom, StrongroomOptions } from '@strongroom/sdk'
import { CliError } from './errors/cli-error.ts'
import type { GlobalFlags } from './model/globals.ts'
import type { Speaker } from './output/speaker.ts'
import { type Credential, findCredential } from './place/credentials.ts'
import type { Io } from './place/io.ts'
import type { KeyStore, KeyStorePlace } from './place/key-store.ts'
import { type Paths, pathsOf } from './place/paths.ts'
import type { Ask } from './prompt/ask.ts'

/** What every command has in hand. Everything that costs time to load is loaded when it is first used. */
export interface Cli extends Speaker {
  readonly io: Io
  readonly globals: GlobalFlags
  readonly paths: Paths
  /** Ends with Ctrl-C and with --timeout. */
  readonly signal: AbortSignal
  /** Whether either of them can end this command: otherwise there is no signal to follow. */
  readonly canBeEnded: boolean
  readonly ask: Ask
  /** Who this command acts as. */
  credential(): Promise<Credential>
  /** The SDK, as that principal. */
  strongroom(options?: StrongroomOptions): Promise<Strongroom>
  /** A person who is signed in, for what only people can do; refuses for agents. */
  person(): Promise<SigningPerson>
  keyStore(): Promise<KeyStore>
  readonly keyPlace: KeyStorePlace
}

/** The address in the order in which it is decided: flag, environment, profile. */
export const serverOf = ({ globals, io }: Pick<Cli, 'globals' | 'io'>): string | undefined =>
  globals.server ?? (io.env.STRONGROOM_SERVER || undefined)

/** Whether nothing but what was read before may answer. */
export function isOffline({ globals, io }: Pick<Cli, 'globals' | 'io'>): boolean {
  const { STRONGROOM_OFFLINE: off } = io.env
  return globals.offline || (off !== undefined && off !== '' && off !== '0')
}

export interface CliParts {
  readonly io: Io
  readonly globals: GlobalFlags
  readonly speaker: Speaker
  readonly signal: () => AbortSignal
  readonly canBeEnded: boolean
  readonly ask: Ask
}

export function makeCli({ io, globals, speaker, signal, canBeEnded, ask }: CliParts): Cli {
  const paths = pathsOf(io.env)
  const keyPlace: KeyStorePlace = {
    env: io.env,
    paths,
    askPassphrase: (question) => ask.secret(question, 'STRONGROOM_PASSPHRASE_FILE'),
  }
  let store: Promise<KeyStore> | undefined
  let found: Promise<Credential> | undefined
  const keyStore = (): Promise<KeyStore> => {
    store ??= import('./place/key-store.ts').then(({ openKeyStore }) => openKeyStore(keyPlace))
    return store
  }
  const cli: Cli = {
    ...speaker,
    io,
    globals,
    paths,
    get signal() {
      return signal()
    },
    canBeEnded,
    ask,
    keyPlace,
    keyStore,
    credential: () => {
      found ??= findCredential({
        io,
        paths,
        wanted: globals.profile,
        keyStore,
        isOffline: isOffline({ globals, io }),
        signInAgain: async (name, profile) => (await import('./place/sign-in.ts')).signInAgain(cli, name, profile),
        renewIdle: async (name, profile) => (await import('./place/sign-in.ts')).renewIdle(cli, name, profile),
      })
      return found
    },
    strongroom: async (options) => (await import('./place/client.ts')).makeStrongroom(cli, options),
    person: async () => (await import('./place/person.ts')).makePerson(cli),
  }
  return cli
}

/** Refuses to show a value to a coding agent; what it may do instead is in the refusal. */
export function ensureNotAgent({ isAgent }: Speaker): void {
  if (!isAgent) return
  throw new CliError('plaintext_refused_for_agent', 'a coding agent drives this terminal, so values are not printed', {
    fix: 'use the value without seeing it: strongroom run -- COMMAND',
  })
}

/** Asks before what does not come back; `--yes` answers where nobody can be asked. */
export async function confirm({ globals, isInteractive, ask }: Cli, question: string): Promise<void> {
  if (globals.yes) return
  if (!isInteractive) throw new CliError('confirmation_required', question, { fix: 'give --yes if you are sure' })
  if (!(await ask.yes(question, false))) throw new CliError('cancelled', 'nothing was changed')
}
