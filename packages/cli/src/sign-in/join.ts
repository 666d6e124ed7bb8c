import type { Accepted } from '@strongroom/sdk'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { ensureProfileName } from '../place/config-file.ts'
import type { PersonSecrets } from '../place/credentials.ts'
import { withProgress } from '../prompt/progress.ts'
import { kitOf, logKeyOf, newDeviceId, useProfile } from './kept-person.ts'
import { newProfileName, readyKeyStore } from './machine-keys.ts'
import { choosePassphrase } from './passphrase.ts'
import { reserveKit, shownKit } from './recovery-kit.ts'
import { secretFromFile } from './secret-input.ts'
import { whichServer } from './which-server.ts'

// Joining with an invite. The link is a secret that did not pass through the server: it comes from a file or standard input.

export interface JoinFlags {
  readonly invite: string
  readonly 'passphrase-file': string | undefined
  readonly kit: string | undefined
}

interface Link {
  readonly link: string
  /** Where a link in the form of an address leads to. */
  readonly server: string | undefined
}

async function linkFrom(cli: Cli, given: string): Promise<Link> {
  if (given.includes('vin1.'))
    throw new CliError('usage', 'an invite link is a secret, and others can read the command line', {
      fix: 'save it in a file and give --invite FILE, or --invite - to paste it',
    })
  const isTyped = given === '-' && cli.isInteractive
  const text = isTyped
    ? await cli.ask.secret('Invite link', '--invite FILE')
    : await secretFromFile(cli, given, '--invite')
  const [, link] = /(vin1\.[A-Za-z0-9_-]+)\s*$/.exec(text.trim()) ?? []
  if (link === undefined) throw new CliError('file_unreadable', 'this is no invite link', { fix: 'it ends in vin1.…' })
  return { link, server: /^https?:\/\/[^/?#\s]+/.exec(text.trim())?.[0] }
}

/** A session is not to be had before an administrator has endorsed the key: the profile waits for it. */
async function keep(cli: Cli, server: string, name: string, accepted: Accepted): Promise<void> {
  const { codes, trustAnchor, email, orgId } = accepted
  const secrets: PersonSecrets = {
    deviceSecret: codes.deviceSecret,
    accessToken: '',
    expiresAt: new Date(0).toISOString(),
    privateKey: accepted.exportPem().reveal(),
  }
  await (await cli.keyStore()).put(name, JSON.stringify(secrets))
  await useProfile(cli, name, {
    kind: 'person',
    server,
    org: orgId,
    trust_anchor: trustAnchor,
    email,
    device_id: newDeviceId(),
    waiting: true,
  })
}

export async function join(cli: Cli, flags: JoinFlags): Promise<Result> {
  const { link, server } = await linkFrom(cli, flags.invite)
  const url = serverOf(cli) === undefined && server !== undefined ? server : (await whichServer(cli)).url
  const { acceptInvite } = await import('@strongroom/sdk')
  const orgName = await orgNameOf(url, link)
  const passphrase = await choosePassphrase(cli, { file: flags['passphrase-file'], own: [] })
  const name = ensureProfileName(await newProfileName(cli, orgName))
  const store = await readyKeyStore(cli, passphrase)
  const kit = await reserveKit(cli, orgName, flags.kit)
  const accepted = await withProgress(cli, 'making your keys on this machine', () =>
    acceptInvite({ baseUrl: url, link, passphrase }),
  ).catch(async (error: unknown) => {
    await kit.release()
    throw error
  })
  const { orgId, email, identity, trustAnchor, codes } = accepted
  await kit.write(kitOf({ server: url, orgId, email, kid: identity.kid, trustAnchor, codes }))
  await keep(cli, url, name, accepted)
  const keyStore = { kind: store.kind, where: store.where(name) }
  return joined(cli, { accepted, orgName, url, name, kit: kit.path, keyStore })
}

/** What the server calls the organisation; which one it is, only the link says. */
async function orgNameOf(baseUrl: string, link: string): Promise<string> {
  const { createClient } = await import('@strongroom/sdk')
  const { parseInviteLink } = await import('@strongroom/protocol')
  const { org } = await createClient({ baseUrl }).invites.show({ params: { id: parseInviteLink(link).inviteId } })
  return org.name
}

interface Joined {
  readonly accepted: Accepted
  readonly orgName: string
  readonly url: string
  readonly name: string
  readonly kit: string
  readonly keyStore: { readonly kind: string; readonly where: string }
}

async function joined(cli: Cli, { accepted, orgName, url, name, kit, keyStore }: Joined): Promise<Result> {
  const { parseTrustAnchor } = await import('@strongroom/protocol')
  const { orgId, userId, email, identity, trustAnchor } = accepted
  const logKey = logKeyOf(trustAnchor)
  const tick = cli.style.good('✓')
  return {
    data: {
      status: 'joined',
      server: url,
      org: { id: orgId, name: orgName },
      person: { id: `user:${userId}`, email },
      profile: name,
      keyId: identity.kid,
      fingerprint: parseTrustAnchor(trustAnchor).genesis,
      logKey,
      recoveryKit: kit,
      keyStore,
    },
    text: [
      `${tick} Joined          ${safeText(orgName)}, as ${safeText(email)}; an administrator confirms your key now`,
      `${tick} Your key        ${identity.kid}`,
      `${tick} Recovery kit    ${shownKit(cli, kit)}   keep it offline, we have no copy`,
      `${tick} Log key pinned  ${logKey}`,
      `${tick} Profile         "${name}", key in ${keyStore.where}`,
    ].join('\n'),
    next: 'strongroom login   once you are confirmed',
  }
}
