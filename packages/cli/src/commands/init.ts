import type { FirstPerson, SetUpOptions } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { command, flag, type Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { ensureProfileName, readConfigFile } from '../place/config-file.ts'
import { keepPerson } from '../place/sign-in.ts'
import { withProgress } from '../prompt/progress.ts'
import { kitOf, logKeyOf, newDeviceId, useProfile } from '../sign-in/kept-person.ts'
import { newProfileName, readyKeyStore } from '../sign-in/machine-keys.ts'
import { choosePassphrase } from '../sign-in/passphrase.ts'
import { type ReservedKit, reserveKit, shownKit } from '../sign-in/recovery-kit.ts'
import { secretFromFile } from '../sign-in/secret-input.ts'
import { type FoundServer, whichServer } from '../sign-in/which-server.ts'

// The organisation, its first person, their keys: made on this machine, and the server gets only what it may have.

interface InitFlags {
  readonly org: string | undefined
  readonly name: string | undefined
  readonly email: string | undefined
  readonly 'passphrase-file': string | undefined
  readonly 'setup-token-file': string | undefined
  readonly kit: string | undefined
}

const EMAIL = /^[^\s@]+@[^\s@]+$/
const checkEmail = (text: string): string | undefined =>
  EMAIL.test(text) ? undefined : 'write it like ada@example.com'

/** From the file that was named, from `up` on this machine, or from a person who was shown it. */
async function setupTokenFor(cli: Cli, url: string, file: string | undefined): Promise<string> {
  if (file !== undefined) return secretFromFile(cli, file, '--setup-token-file')
  const { localServerAt } = await import('../up/local-server.ts')
  const kept = (await localServerAt(cli.paths, url))?.setupToken
  return kept ?? cli.ask.secret('Setup token, as the server printed it', '--setup-token-file FILE')
}

/** The server has its organisation: fine if this machine belongs to it, otherwise there are other ways in. */
async function alreadyThere(cli: Cli, { url }: FoundServer): Promise<Result> {
  const { profiles } = await readConfigFile(cli.paths.config)
  const [name, profile] = Object.entries(profiles).find(([, one]) => one.server === url && one.kind === 'person') ?? []
  if (name === undefined || profile === undefined)
    throw new CliError('already_set_up', `the server at ${url} has its organisation already`, {
      fix: 'strongroom login   if you belong to it, or strongroom init --invite FILE   with a link from an administrator',
    })
  const { parseTrustAnchor } = await import('@strongroom/protocol')
  const { org, genesis } = parseTrustAnchor(profile.trust_anchor)
  const email = profile.email ?? ''
  return {
    data: {
      status: 'exists',
      server: url,
      org: { id: org },
      person: { email },
      profile: name,
      fingerprint: genesis,
      logKey: logKeyOf(profile.trust_anchor),
    },
    text: `The server at ${url} has its organisation, and you are ${safeText(email)} there: profile "${name}".`,
    next: 'strongroom whoami',
  }
}

type Founder = Pick<SetUpOptions, 'orgName' | 'userName' | 'email' | 'passphrase'>

async function askFounder(cli: Cli, flags: InitFlags): Promise<Founder> {
  const orgName = flags.org ?? (await cli.ask.text('Organisation', '--org NAME'))
  const userName = flags.name ?? (await cli.ask.text('Your name', '--name NAME'))
  const email = flags.email ?? (await cli.ask.text('Email', '--email EMAIL', { check: checkEmail }))
  if (checkEmail(email) !== undefined)
    throw new CliError('usage', 'the email is no address', { fix: 'write it like --email ada@example.com' })
  const own = [orgName, userName, ...email.split(/[@.]/)]
  return { orgName, userName, email, passphrase: await choosePassphrase(cli, { file: flags['passphrase-file'], own }) }
}

async function found(cli: Cli, url: string, flags: InitFlags): Promise<Result> {
  const setupToken = await setupTokenFor(cli, url, flags['setup-token-file'])
  const founder = await askFounder(cli, flags)
  const { orgName, email, passphrase } = founder
  const profileName = ensureProfileName(await newProfileName(cli, orgName))
  const store = await readyKeyStore(cli, passphrase)
  const kit = await reserveKit(cli, orgName, flags.kit)
  const device_id = newDeviceId()
  const person = await makeOrg(cli, kit, { ...founder, baseUrl: url, setupToken, deviceInstallationId: device_id })
  const { orgId, trustAnchor, codes, identity } = person
  // The kit first: if anything fails after it, the keys are not lost.
  await kit.write(kitOf({ server: url, orgId, orgName, email, kid: identity.kid, trustAnchor, codes }))
  const profile = { kind: 'person', server: url, org: orgName, trust_anchor: trustAnchor, email, device_id } as const
  await keepPerson(cli, profileName, profile, person, codes.deviceSecret)
  await useProfile(cli, profileName, { ...profile, kdf: person.kdf, user: person.userId })
  const { forgetSetupToken } = await import('../up/local-server.ts')
  await forgetSetupToken(cli.paths, url)
  return founded(cli, { person, orgName, url, profileName, kit, where: store.where(profileName), kind: store.kind })
}

async function makeOrg(cli: Cli, kit: ReservedKit, given: Omit<SetUpOptions, 'tenantName'>): Promise<FirstPerson> {
  const { setUp } = await import('@strongroom/sdk')
  try {
    return await withProgress(cli, 'making your keys on this machine', () => setUp({ ...given, tenantName: 'main' }))
  } catch (error) {
    await kit.release()
    throw error
  }
}

interface Founded {
  readonly person: FirstPerson
  readonly orgName: string
  readonly url: string
  readonly profileName: string
  readonly kit: ReservedKit
  readonly where: string
  readonly kind: string
}

async function founded(cli: Cli, { person, orgName, url, profileName, kit, where, kind }: Founded): Promise<Result> {
  const { parseTrustAnchor } = await import('@strongroom/protocol')
  const { userId, orgId, email, identity, trustAnchor } = person
  const { genesis } = parseTrustAnchor(trustAnchor)
  const logKey = logKeyOf(trustAnchor)
  const tick = cli.style.good('✓')
  return {
    data: {
      status: 'founded',
      server: url,
      org: { id: orgId, name: orgName },
      person: { id: `user:${userId}`, email },
      profile: profileName,
      keyId: identity.kid,
      fingerprint: genesis,
      logKey,
      recoveryKit: kit.path,
      keyStore: { kind, where },
    },
    text: [
      `${tick} Organisation    ${safeText(orgName)}, you are its owner   ${cli.style.dim(genesis.slice(0, 16))}`,
      `${tick} Your key        ${identity.kid}`,
      `${tick} Recovery kit    ${shownKit(cli, kit.path)}   keep it offline, we have no copy`,
      `${tick} Log key pinned  ${logKey}`,
      `${tick} Signed in       profile "${profileName}", key in ${where}`,
    ].join('\n'),
    next: 'strongroom set prod/stripe/STRIPE_SECRET_KEY',
  }
}

/** The administrator who invites has said who comes, and to which organisation. */
function ensureOnlyJoining(flags: InitFlags): void {
  const given = (['org', 'name', 'email', 'setup-token-file'] as const).find((name) => flags[name] !== undefined)
  if (given === undefined) return
  throw new CliError('usage', `--${given} does not go with --invite: the invite says it already`, {
    fix: 'strongroom init --invite FILE',
  })
}

export const init = command({
  summary: 'make the organisation and its first person, or join one with an invite',
  about:
    'Your keys are made on this machine and leave it only sealed. The recovery kit is the one other way to them: a file that is written once, readable by you alone, to be kept offline. After `strongroom up` on the same machine the server and its setup token are found by themselves.',
  args: {},
  flags: {
    org: flag.text('name of the organisation', 'NAME'),
    name: flag.text('your name', 'NAME'),
    email: flag.text('your email', 'EMAIL'),
    'passphrase-file': flag.text('file with the passphrase, - for standard input', 'FILE', { completes: 'file' }),
    'setup-token-file': flag.text('file with the setup token of a server elsewhere', 'FILE', { completes: 'file' }),
    invite: flag.text('join: file with the invite link, - for standard input', 'FILE', { completes: 'file' }),
    kit: flag.text('where the recovery kit is written', 'FILE', { completes: 'file' }),
  },
  examples: [
    { run: 'strongroom init', does: 'asks for what it needs' },
    {
      run: 'strongroom init --org Acme --name Ada --email ada@acme.io --passphrase-file pw',
      does: 'asks nothing',
    },
    { run: 'strongroom init --invite link.txt --server https://vault.example.com', does: 'join with an invite' },
  ],
  next: 'strongroom set prod/stripe/STRIPE_SECRET_KEY',
  output: async () => (await import('../schemas/sign-in.ts')).initShape,
  run: async (cli, { flags }) => {
    if (flags.invite !== undefined) {
      ensureOnlyJoining(flags)
      return (await import('../sign-in/join.ts')).join(cli, { ...flags, invite: flags.invite })
    }
    const server = await whichServer(cli)
    if (server.isSetUp) return alreadyThere(cli, server)
    return found(cli, server.url, flags)
  },
})
