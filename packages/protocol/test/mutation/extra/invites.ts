import { invite } from '../../../src/directory/documents.ts'
import {
  acceptInvite,
  endorseAcceptance,
  type InviteLink,
  makeInvite,
  parseInviteLink,
  verifyAcceptance,
} from '../../../src/directory/invite.ts'
import { fromBase64url, toBase64url } from '../../../src/encoding/base64.ts'
import { canonical, type JsonObject, parseStrict } from '../../../src/encoding/canonical.ts'
import { documentHash, type Envelope, verifyDocument } from '../../../src/identity/document.ts'
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

async function invited(world: World, expires = 100) {
  const { alice } = world.actors
  const terms = { org: ORG, genesis: documentHash(world.genesis), caps: ['member'] as const, note: '', at: 1 }
  const made = await makeInvite({ ...terms, expires }, alice)
  const verified = await verifyDocument(invite, made.envelope, ORG, () => alice.key)
  return {
    ...made,
    verified,
    accepted: await acceptInvite(parseInviteLink(made.link), made.envelope, world.actors.mallory, 1),
  }
}

const linkWith = (link: string, change: JsonObject): string => {
  const members = parseStrict(fromBase64url(link.slice('vin1.'.length))) as JsonObject
  return `vin1.${toBase64url(canonical({ ...members, ...change }))}`
}

/** An acceptance that the invitee really signed, held against an invite that promised something else. */
const promised =
  (change: object, now = 1, hash?: string) =>
  async (open: () => Promise<World>) => {
    const { verified, accepted } = await invited(await open())
    const other = { ...verified, ...(hash && { hash }), payload: { ...verified.payload, ...change } }
    return verifyAcceptance({ invite: other as typeof verified, candidate: accepted, now, isKnown: () => false })
  }

/** Section 4.6, where an honest invitee or admin would not come. */
export const INVITES = [
  extra('invite-expired-when-made', 'malformed', async (open) => invited(await open(), 1)),
  extra('invite-link-too-long', 'limit_exceeded', () => parseInviteLink(`vin1.${'A'.repeat(2000)}`)),
  extra('invite-link-of-no-form', 'malformed', () => parseInviteLink('https://example.test')),
  extra('invite-link-of-other-version', 'alg_downgrade', () => parseInviteLink('vin2.AAAA')),
  extra('invite-of-other-organisation', 'genesis_mismatch', async (open) => {
    const world = await open()
    const { link, envelope } = await invited(world)
    return acceptInvite(parseInviteLink(linkWith(link, { o: 'org_other' })), envelope, world.actors.mallory, 1)
  }),
  extra('invite-expired', 'not_authorised', async (open) => {
    const world = await open()
    const { link, envelope } = await invited(world)
    return acceptInvite(parseInviteLink(link), envelope, world.actors.mallory, 101)
  }),
  extra('invite-link-from-elsewhere', 'malformed', async (open) => {
    const world = await open()
    const { link, envelope } = await invited(world)
    return acceptInvite({ ...parseInviteLink(link) } as InviteLink, envelope, world.actors.mallory, 1)
  }),
  extra('invite-of-other-secret', 'key_substitution', async (open) => {
    const world = await open()
    const { link, envelope } = await invited(world)
    return acceptInvite(
      parseInviteLink(linkWith(link, { s: 'AAAAAAAAAAAAAAAAAAAAAA' })),
      envelope,
      world.actors.mallory,
      1,
    )
  }),
  extra('acceptance-for-other-organisation', 'genesis_mismatch', promised({ org: 'org_other' })),
  extra(
    'acceptance-of-other-invite',
    'not_authorised',
    promised({}, 1, documentHash({ payload: '', payloadType: '', signatures: [] })),
  ),
  extra('acceptance-names-other-admin', 'not_authorised', promised({ by: 'user:ou_other' })),
  extra('acceptance-too-late', 'not_authorised', promised({}, 101)),
  extra('acceptance-for-other-caps', 'not_authorised', promised({ caps: ['member', 'recovery'] })),
  extra('acceptance-with-false-signature', 'bad_signature', async (open) => {
    const { verified, accepted } = await invited(await open())
    const [own, link] = accepted.signatures as [Envelope['signatures'][number], Envelope['signatures'][number]]
    const candidate = { ...accepted, signatures: [own, { ...link, sig: own.sig }] }
    return verifyAcceptance({ invite: verified, candidate, now: 1, isKnown: () => false })
  }),
  extra('acceptance-endorsed-by-other', 'not_authorised', async (open) => {
    const world = await open()
    const { verified, accepted } = await invited(world)
    const acceptance = await verifyAcceptance({ invite: verified, candidate: accepted, now: 1, isKnown: () => false })
    return endorseAcceptance(acceptance, world.actors.dave)
  }),
]
