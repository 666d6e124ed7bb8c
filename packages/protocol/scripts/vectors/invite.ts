import * as crypto from 'node:crypto'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { streamOf } from '../../test/everywhere/vectors-notation.ts'
import { type Actors, openActors } from '../../test/world/actors.ts'
import { ORG, sign, T0 } from './chronicle.ts'
import { named } from './directory.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64, base64url, hex, hkdf, lp, pae, sha256, utf8 } from './reference.ts'

// Section 4.6: invites, as Seitan makes them.

const GENESIS = base64url(sha256(utf8('genesis')))
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BYTES = streamOf('invite id', 26)
const SECRET = streamOf('invite secret', 16)
const INVITE_ID = `inv_${Array.from(ID_BYTES, (byte) => CROCKFORD[byte & 31]).join('')}`
const EXPIRES = T0 + 86_400_000

function inviteKey(secret: Uint8Array, inviteId = INVITE_ID): crypto.KeyObject {
  const seed = hkdf(secret, lp('vault.v3/invite', ORG, inviteId), 32)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}
const spkiOf = (key: crypto.KeyObject): string =>
  base64url(crypto.createPublicKey(key).export({ format: 'der', type: 'spki' }))

const linkOf = (members: object): string => `vin1.${base64url(utf8(JSON.stringify(members)))}`

interface Desk extends Actors {
  readonly promised: Envelope
  readonly terms: { readonly caps: readonly string[]; readonly expires: number; readonly note: string }
  /** In the order of their names, as canonical JSON has them. */
  readonly link: { readonly g: string; readonly h: string; readonly i: string; readonly o: string; readonly s: string }
}

async function openDesk(): Promise<Desk> {
  const actors = await openActors()
  const terms = { caps: ['member'], expires: EXPIRES, note: 'for the new colleague' }
  const promised = await sign(
    'invite',
    { ...terms, inviteId: INVITE_ID, inviteKey: spkiOf(inviteKey(SECRET)) },
    actors.alice,
  )
  const link = { g: GENESIS, h: documentHash(promised), i: INVITE_ID, o: ORG, s: base64url(SECRET) }
  return { ...actors, promised, terms, link }
}

/** What the invitee sends: a key.add signed by the new key and by the invite key, with whatever changed. */
async function acceptance(
  { promised, alice }: Desk,
  who: Identity,
  change: object = {},
  key = inviteKey(SECRET),
): Promise<Envelope> {
  const members = {
    ...named(who),
    caps: ['member'],
    invite: documentHash(promised),
    by: alice.kid,
    at: T0 + 1,
    ...change,
  }
  const signed = await sign('key.add', members, who)
  const message = pae(signed.payloadType, Buffer.from(signed.payload, 'base64'))
  const sig = base64(crypto.sign(null, message, key))
  return { ...signed, signatures: [...signed.signatures, { keyid: `invite:${INVITE_ID}`, sig }] }
}

const who = { key: 'mallory', principal: 'user:ou_mallory' }
const BY = { key: 'alice', principal: 'user:ou_alice' }

function makeCases({ promised, terms, link }: Desk): VectorCase[] {
  const input = {
    by: BY,
    terms: { org: ORG, genesis: GENESIS, ...terms, at: T0 },
    idBytes: hex(ID_BYTES),
    secret: hex(SECRET),
  }
  const noLink = (name: string, text: string, code: ProtocolErrorCode = 'malformed') =>
    refuses('link', name, code, { link: text })
  return [
    accepts('make', 'an invite', input, { envelope: promised, link: linkOf(link) }),
    refuses('make', 'an invite that has expired already', 'malformed', {
      ...input,
      terms: { ...input.terms, expires: T0 },
    }),
    accepts(
      'link',
      'a link',
      { link: linkOf(link) },
      { org: ORG, genesis: GENESIS, inviteId: INVITE_ID, inviteHash: documentHash(promised) },
    ),
    noLink('another version', linkOf(link).replace('vin1', 'vin2'), 'alg_downgrade'),
    noLink('no prefix', linkOf(link).slice(5)),
    noLink('a secret that is too short', linkOf({ ...link, s: 'AAAA' })),
    noLink('a member too many', linkOf({ ...link, z: 1 })),
    noLink('no fingerprint', linkOf({ ...link, g: undefined })),
    noLink('members in another order', linkOf(Object.fromEntries(Object.entries(link).reverse()))),
    noLink('a link of 1025 characters', `vin1.${'A'.repeat(1020)}`, 'limit_exceeded'),
  ]
}

async function acceptCases(desk: Desk): Promise<VectorCase[]> {
  const { promised, link, mallory, bob } = desk
  const input = { link: linkOf(link), invite: promised, who, at: T0 + 1 }
  const no = (name: string, code: ProtocolErrorCode, change: object) =>
    refuses('accept', name, code, { ...input, ...change })
  const other = await sign(
    'invite',
    { ...desk.terms, inviteId: INVITE_ID, inviteKey: spkiOf(inviteKey(streamOf('other', 16))) },
    bob,
  )
  const foreign = await sign(
    'invite',
    { ...desk.terms, org: 'org_evil', inviteId: INVITE_ID, inviteKey: spkiOf(inviteKey(SECRET)) },
    bob,
  )
  return [
    accepts('accept', 'by the link', input, { envelope: await acceptance(desk, mallory) }),
    accepts(
      'accept',
      'in the last millisecond',
      { ...input, at: EXPIRES },
      { envelope: await acceptance(desk, mallory, { at: EXPIRES }) },
    ),
    no('another invite than the link names', 'key_substitution', { invite: other }),
    no('an invite for another secret', 'key_substitution', {
      invite: other,
      link: linkOf({ ...link, h: documentHash(other) }),
    }),
    no('an invite of another organisation', 'genesis_mismatch', {
      invite: foreign,
      link: linkOf({ ...link, h: documentHash(foreign) }),
    }),
    no('an invite that has expired', 'not_authorised', { at: EXPIRES + 1 }),
    no('as an agent', 'not_authorised', { who: { key: 'mallory', principal: 'agent:ag_mallory' } }),
    no('something else than an invite', 'wrong_type', { invite: await acceptance(desk, mallory) }),
  ]
}

async function verifiedCases(desk: Desk): Promise<VectorCase[]> {
  const { promised, mallory, alice } = desk
  const honest = await acceptance(desk, mallory)
  const input = { invite: promised, candidate: honest, now: T0 + 2 }
  const endorsed = { ...honest, signatures: [...honest.signatures, ...(await resign(honest, alice)).signatures] }
  const stuffed = { ...honest, signatures: [{ keyid: 'x', sig: '' }, ...honest.signatures] }
  const asked = { ...input, endorse: BY }
  return [
    accepts('verify', 'an acceptance', input, { kid: mallory.kid }),
    accepts('verify', 'an acceptance, endorsed', asked, { envelope: endorsed }),
    accepts('verify', 'with signatures nobody asked for', { ...asked, candidate: stuffed }, { envelope: endorsed }),
  ]
}

async function verifyCases(desk: Desk): Promise<VectorCase[]> {
  const { promised, mallory, bob } = desk
  const honest = await acceptance(desk, mallory)
  const input = { invite: promised, candidate: honest, now: T0 + 2 }
  const [own, invited] = honest.signatures as [Envelope['signatures'][number], Envelope['signatures'][number]]
  const no = (name: string, code: ProtocolErrorCode, candidate: unknown, change: object = {}) =>
    refuses('verify', name, code, { ...input, candidate, ...change })
  const changed = async (name: string, code: ProtocolErrorCode, change: object) =>
    no(name, code, await acceptance(desk, mallory, change))
  return [
    no('endorsed by another admin', 'not_authorised', honest, { endorse: { key: 'bob', principal: 'user:ou_bob1' } }),
    no('without the invite key', 'missing_signature', { ...honest, signatures: [own] }),
    no('without the new key', 'missing_signature', { ...honest, signatures: [invited] }),
    no(
      'with another invite key',
      'bad_signature',
      await acceptance(desk, mallory, {}, inviteKey(streamOf('other', 16))),
    ),
    no('with the signature of another key', 'bad_signature', {
      ...honest,
      signatures: [{ ...own, sig: (await resign(honest, bob)).signatures[0]?.sig }, invited],
    }),
    no('a key under the id of another', 'key_substitution', await acceptance(desk, { ...mallory, kid: bob.kid })),
    no('somebody who is a member already', 'continuity_broken', honest, { known: ['user:ou_mallory'] }),
    no('after the invite expired', 'not_authorised', honest, { now: EXPIRES + 1 }),
    await changed('more caps than were promised', 'not_authorised', { caps: ['dir-admin', 'member'] }),
    await changed('another invite', 'not_authorised', { invite: GENESIS }),
    await changed('another admin than the one who invited', 'not_authorised', { by: bob.kid }),
    await changed('another organisation', 'genesis_mismatch', { org: 'org_evil' }),
    no('an invite by a stranger', 'unknown_signer', honest, { invite: await resign(promised, mallory) }),
  ]
}

/** The same document with another signature alone. */
const resign = async (envelope: Envelope, by: Identity): Promise<Envelope> => {
  const message = pae(envelope.payloadType, Buffer.from(envelope.payload, 'base64'))
  return { ...envelope, signatures: [{ keyid: by.kid, sig: base64(await by.sign(message)) }] }
}

export async function makeInviteVectors(): Promise<VectorFile> {
  const desk = await openDesk()
  return {
    vectors: 'invite',
    section: '4.6',
    comment:
      'An admin invites, somebody accepts by the link, the admin’s client checks and endorses. The admin is the only key of `given.keys`.',
    given: { org: ORG, keys: [named(desk.alice)] },
    cases: [
      ...makeCases(desk),
      ...(await acceptCases(desk)),
      ...(await verifiedCases(desk)),
      ...(await verifyCases(desk)),
    ],
  }
}
