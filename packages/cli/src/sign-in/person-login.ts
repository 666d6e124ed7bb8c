import { parseTrustAnchor } from '@strongroom/protocol'
import { login, type Person, recover } from '@strongroom/sdk'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import type { Profile } from '../place/config-file.ts'
import type { PersonSecrets } from '../place/credentials.ts'
import { explainingWait, keepPerson, openSession } from '../place/sign-in.ts'
import { withProgress } from '../prompt/progress.ts'
import { kitOf, newDeviceId } from './kept-person.ts'
import type { LoginFlags } from './login-flags.ts'
import { readyKeyStore, setAsideLostKeys } from './machine-keys.ts'
import { choosePassphrase, existingPassphrase } from './passphrase.ts'
import { type Kit, readKit, reserveKit, shownKit } from './recovery-kit.ts'
import { secretFrom } from './secret-input.ts'
import { whichServer } from './which-server.ts'

interface Where {
  readonly server: string
  readonly email: string
  readonly trustAnchor: string | undefined
  readonly kit: Kit | undefined
}

async function whereTo(cli: Cli, profile: Profile | undefined, flags: LoginFlags): Promise<Where> {
  const kit = flags.kit === undefined ? undefined : await readKit(cli, flags.kit)
  const server = serverOf(cli) ?? kit?.server ?? profile?.server ?? (await whichServer(cli)).url
  const email = flags.email ?? kit?.email ?? profile?.email ?? (await cli.ask.text('Email', '--email EMAIL'))
  // Whatever the address is, a profile stays with the organisation it was pinned to.
  const known = profile?.kind === 'person' ? profile.trust_anchor : undefined
  if (kit && known && parseTrustAnchor(kit.trustAnchor).genesis !== parseTrustAnchor(known).genesis)
    throw new CliError('usage', 'the recovery kit is of another organisation than this profile', {
      fix: 'choose another name with --profile NAME',
    })
  return { server: server.replace(/\/+$/, ''), email, trustAnchor: kit?.trustAnchor ?? known, kit }
}

/** A wrong device secret shows as keys that do not open: that is said in words that help. */
async function explained<T>(cli: Cli, profile: Profile | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await explainingWait(profile, work)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'aead')
      throw new CliError(
        'wrong_passphrase',
        'the passphrase is right, but the device secret is not that of this person',
        {
          fix: 'take SRD1-… from the newest recovery kit: strongroom login --kit FILE',
          cause: error,
        },
      )
    if (code === 'genesis_mismatch')
      cli.say('this is another organisation than the one that was pinned; for a new one, choose another --profile')
    if (code === 'log_key')
      cli.say(
        'ask an administrator for what strongroom trust export prints; it takes the place of the anchor in the kit',
      )
    if (code === 'malformed')
      throw new CliError('usage', 'this is no device secret and no recovery code', {
        fix: 'they are written SRD1-… and SRR1-…; copy them whole, or give the kit with --kit',
        cause: error,
      })
    throw error
  }
}

interface Kept {
  readonly name: string
  readonly server: string
  readonly person: Person
  readonly deviceSecret: string
  readonly deviceId: string | undefined
  readonly before: Profile | undefined
}

async function keep(cli: Cli, { name, server, person, deviceSecret, deviceId, before }: Kept): Promise<void> {
  const { trustAnchor, email, orgId } = person
  const sameOrg = before && parseTrustAnchor(before.trust_anchor).org === orgId ? before : undefined
  const profile: Profile = {
    ...(sameOrg?.vault !== undefined && { vault: sameOrg.vault }),
    kind: 'person',
    server,
    org: sameOrg?.org ?? orgId,
    // What was pinned stays pinned.
    trust_anchor: sameOrg?.trust_anchor ?? trustAnchor,
    email,
    ...(deviceId !== undefined && { device_id: deviceId }),
  }
  await keepPerson(cli, name, profile, person, deviceSecret)
}

async function signedIn(cli: Cli, name: string, server: string, person: Person, kit?: string): Promise<Result> {
  const store = await cli.keyStore()
  const { genesis } = parseTrustAnchor(person.trustAnchor)
  const tick = cli.style.good('✓')
  const keyStore = { kind: store.kind, where: store.where(name) }
  return {
    data: {
      profile: name,
      kind: 'person',
      server,
      org: person.orgId,
      id: `user:${person.userId}`,
      email: person.email,
      expiresAt: person.expiresAt,
      fingerprint: genesis,
      ...(kit !== undefined && { recoveryKit: kit }),
      keyStore,
    },
    text: [
      `${tick} Signed in       ${safeText(person.email)}, profile "${name}", key in ${keyStore.where}`,
      `${tick} Organisation    ${genesis.slice(0, 16)}   its fingerprint`,
      ...(kit === undefined
        ? []
        : [`${tick} Recovery kit    ${shownKit(cli, kit)}   the one before is worthless now; keep this one offline`]),
    ].join('\n'),
    next: 'strongroom whoami',
  }
}

/** A session on a machine that keeps the device secret already. */
export async function renewSession(cli: Cli, name: string, profile: Profile, flags: LoginFlags): Promise<Result> {
  const kept = await (await cli.keyStore()).get(name)
  const { deviceSecret } = JSON.parse(kept ?? '{}') as PersonSecrets
  const passphrase = await existingPassphrase(cli, flags['passphrase-file'], `Passphrase of ${profile.email ?? ''}`)
  const server = serverOf(cli) ?? profile.server
  const person = await withProgress(cli, 'signing in', () =>
    explained(cli, profile, () => openSession(profile, { passphrase, deviceSecret, server })),
  )
  await keep(cli, { name, server, person, deviceSecret, deviceId: profile.device_id, before: profile })
  return signedIn(cli, name, server, person)
}

/** On a machine that does not know the person: passphrase and device secret. */
export async function loginHere(
  cli: Cli,
  name: string,
  profile: Profile | undefined,
  flags: LoginFlags,
): Promise<Result> {
  const { server, email, trustAnchor, kit } = await whereTo(cli, profile, flags)
  const deviceSecret =
    kit?.deviceSecret ??
    (await secretFrom(
      cli,
      flags['device-secret-file'],
      '--device-secret-file',
      'Device secret (SRD1-…, in your recovery kit)',
    ))
  const passphrase = await existingPassphrase(cli, flags['passphrase-file'], `Passphrase of ${email}`)
  const deviceInstallationId = newDeviceId()
  const person = await withProgress(cli, 'signing in', () =>
    explained(cli, profile, () =>
      login({ baseUrl: server, email, passphrase, deviceSecret, trustAnchor, deviceInstallationId }),
    ),
  )
  await readyKeyStore(cli, passphrase)
  await keep(cli, { name, server, person, deviceSecret, deviceId: deviceInstallationId, before: profile })
  if (trustAnchor === undefined)
    cli.say('this machine believed the server once: compare the fingerprint below with your recovery kit')
  return signedIn(cli, name, server, person)
}

/** With the recovery code alone: another passphrase, another device secret, another kit; the keys stay. */
export async function recoverPerson(
  cli: Cli,
  name: string,
  profile: Profile | undefined,
  flags: LoginFlags,
): Promise<Result> {
  const { server, email, trustAnchor, kit } = await whereTo(cli, profile, flags)
  const recoveryCode =
    kit?.recoveryCode ??
    (await secretFrom(cli, flags['recovery-code-file'], '--recovery-code-file', 'Recovery code (SRR1-…)'))
  const own = email.split(/[@.]/)
  const newPassphrase = await choosePassphrase(cli, { file: flags['passphrase-file'], own, question: 'New passphrase' })
  const fresh = await reserveKit(cli, profile?.org ?? email.split('@')[0] ?? 'strongroom', flags['new-kit'])
  const deviceInstallationId = newDeviceId()
  const person = await withProgress(cli, 'opening your keys with the recovery code', () =>
    explained(cli, profile, () =>
      recover({ baseUrl: server, email, recoveryCode, newPassphrase, trustAnchor, deviceInstallationId }),
    ),
  ).catch(async (error: unknown) => {
    await fresh.release()
    throw error
  })
  const { codes, orgId, identity } = person
  await fresh.write(kitOf({ server, orgId, email, kid: identity.kid, trustAnchor: person.trustAnchor, codes }))
  const aside = await setAsideLostKeys(cli, newPassphrase)
  if (aside !== undefined) cli.say(`keys that the old passphrase sealed were moved to ${aside}`)
  await readyKeyStore(cli, newPassphrase)
  const { deviceSecret } = codes
  await keep(cli, { name, server, person, deviceSecret, deviceId: deviceInstallationId, before: profile })
  return signedIn(cli, name, server, person, fresh.path)
}
