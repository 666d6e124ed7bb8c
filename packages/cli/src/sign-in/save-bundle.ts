import { shellLine } from '@strongroom/contract'
import { parseTrustAnchor } from '@strongroom/protocol'
import { parseBundle } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { ensureProfileName, readConfigFile } from '../place/config-file.ts'
import { hasMaster } from '../place/sealed-files.ts'
import { keepProfile } from '../place/sign-in.ts'
import type { LoginFlags } from './login-flags.ts'
import { readyKeyStore } from './machine-keys.ts'
import { choosePassphrase } from './passphrase.ts'
import { secretFromFile } from './secret-input.ts'

// The bundle of an agent as a profile of this machine.

async function ensureFree({ paths }: Cli, name: string, agentId: string): Promise<void> {
  const { profiles } = await readConfigFile(paths.config)
  const there = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (there === undefined || (there.kind === 'agent' && there.agent === agentId)) return
  throw new CliError('usage', `profile ${name} is somebody else`, { fix: 'give another name with --profile NAME' })
}

/** Sealed files need a passphrase, also where nobody has signed in before. */
async function openStore(cli: Cli, file: string | undefined): Promise<void> {
  const store = await cli.keyStore()
  if (store.kind === 'keychain' || (await hasMaster(cli.paths.keys))) return
  cli.say('there is no system keychain here: keys are kept in files that a passphrase seals')
  await readyKeyStore(cli, await choosePassphrase(cli, { file, own: [] }))
}

/** Before a bundle is made here: its profile has to be free, and the key store open. */
export async function readyFor(cli: Cli, name: string, agentId: string, passphraseFile?: string): Promise<void> {
  await ensureFree(cli, ensureProfileName(name), agentId)
  await openStore(cli, passphraseFile)
}

export async function saveBundle(cli: Cli, wanted: string | undefined, flags: LoginFlags): Promise<Result> {
  const text = (await secretFromFile(cli, flags.bundle ?? '-', '--bundle')).trim()
  return keepBundle(cli, wanted, text, flags)
}

export async function keepBundle(
  cli: Cli,
  wanted: string | undefined,
  text: string,
  flags: Pick<LoginFlags, 'passphrase-file'>,
): Promise<Result> {
  const { server, org, agentId, trustAnchor } = parseBundle(text)
  const name = ensureProfileName(wanted ?? agentId)
  await readyFor(cli, name, agentId, flags['passphrase-file'])
  const store = await cli.keyStore()
  await store.put(name, text)
  await keepProfile(cli, name, {
    kind: 'agent',
    server,
    org,
    trust_anchor: trustAnchor,
    bundle: 'keys',
    agent: agentId,
  })
  const keyStore = { kind: store.kind, where: store.where(name) }
  const { genesis } = parseTrustAnchor(trustAnchor)
  return {
    data: { profile: name, kind: 'agent', server, org, id: `agent:${agentId}`, fingerprint: genesis, keyStore },
    text: `${cli.style.good('✓')} Profile saved   "${name}", agent:${agentId}, key in ${keyStore.where}`,
    next: shellLine`strongroom agent test ${name}`,
  }
}
