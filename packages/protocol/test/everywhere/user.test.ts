// In Node and in a browser: the same bytes, the same refusals. The fixed keys and the fixed link were made in Node, so
// that a browser which derived other keys would be noticed.
// Seen red on this breakage: another info label in deriveUnlockKey, deriveRecoveryCodeKey and deriveInviteKey; the
// organisation left out of the bundle's associated data; kid not compared; expiry not compared; no hybrid recovery.
import { beforeAll, expect, it } from 'vitest'
import { invite, keyAdd, recoveryEnrol } from '../../src/directory/documents.ts'
import {
  acceptInvite,
  endorseAcceptance,
  makeInvite,
  parseInviteLink,
  verifyAcceptance,
} from '../../src/directory/invite.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import { type KeyOf, verifyDocument } from '../../src/identity/document.ts'
import { type Identity, makeKeys, openKeys, type PrivateKeyMaterial } from '../../src/identity/private-keys.ts'
import { NO_WITNESSES } from '../../src/log/witness-policy.ts'
import { formatTrustAnchor, parseTrustAnchor } from '../../src/trust/anchor.ts'
import { formatRecoveryCode, makeRecoveryCode, parseDeviceSecret, parseRecoveryCode } from '../../src/user/codes.ts'
import { makeKdf } from '../../src/user/kdf-floor.ts'
import {
  bundleKeyBytes,
  deriveUnlockKey,
  openPrivateBundle,
  resealPrivateBundle,
  sealPrivateBundle,
} from '../../src/user/private-bundle.ts'
import {
  deriveRecoveryCodeKey,
  openRecoverySeal,
  recoverySeal,
  sealForRecovery,
  verifyRecoverySeal,
} from '../../src/user/recovery.ts'

const ORG = 'org_acme'
const AT = 1_700_000_000_000
const version = { org: ORG, orgUserId: 'ou_alice', bundleVersion: 3 }
const deviceSecret = parseDeviceSecret('srd1 000g 40r4 0m30 e209 185g r38e 1wcv z6zf')
const unlockKey = deriveUnlockKey({ exportKey: new Uint8Array(64).fill(7), deviceSecret }, version)
const HASH = toBase64url(new Uint8Array(32).fill(1))

let material: PrivateKeyMaterial
let alice: Identity
let officer: Identity
let keyOf: KeyOf

beforeAll(async () => {
  material = await makeKeys({ rsaBits: 2048 })
  alice = await openKeys('user:ou_alice', material)
  officer = await openKeys('user:ou_officer', await makeKeys({ rsaBits: 2048, hybrid: true }))
  keyOf = (kid) => [alice, officer].find((identity) => identity.kid === kid)?.key
}, 60_000)

it('derives the same keys everywhere', () => {
  const code = parseRecoveryCode('SRR1-0041-0610-50R3-GG28-A1C6-0T3G-F208-H44R-M2MB-1E60-S38D-HR78-Y3W0-7X86-KW')
  expect(toBase64url(bundleKeyBytes(unlockKey))).toBe('eHhNo8rMUo8RLDlU-BO1hP5ZIAzMsm0Xrwqi_10M29s')
  expect(toBase64url(bundleKeyBytes(deriveRecoveryCodeKey(code, version)))).toBe(
    '5Nec45zhrboarjuH0SujVXcRRyHBDy1aAIc7Bpzw4TQ',
  )
})

it('opens its own bundle by passphrase and by recovery code, and refuses it in another place', async () => {
  const place = { ...version, kid: alice.kid, phcParams: makeKdf('argon2id').phc }
  const text = await sealPrivateBundle(unlockKey, place, material)
  expect((await openPrivateBundle(unlockKey, place, text)).kid).toBe(alice.kid)
  await expect(openPrivateBundle(unlockKey, { ...place, org: 'org_evil' }, text)).rejects.toMatchObject({
    code: 'aead',
  })
  await expect(sealPrivateBundle(unlockKey, { ...place, kid: officer.kid }, material)).rejects.toMatchObject({
    code: 'key_substitution',
  })

  const code = parseRecoveryCode(formatRecoveryCode(makeRecoveryCode()))
  const copy = { key: deriveRecoveryCodeKey(code, version), place: { ...place, phcParams: '' as const } }
  const copyText = await resealPrivateBundle({ key: unlockKey, place, text }, copy)
  expect((await openPrivateBundle(copy.key, copy.place, copyText)).kid).toBe(alice.kid)
})

it('recovers the unlock key with a hybrid recovery key', async () => {
  const caps = new Set(['recovery'])
  const { seal, enrol } = await sealForRecovery(unlockKey, { key: officer.key, caps }, alice, AT)
  const verified = verifyRecoverySeal(
    await verifyDocument(recoverySeal, seal, ORG, keyOf),
    await verifyDocument(recoveryEnrol, enrol, ORG, keyOf),
  )
  expect(bundleKeyBytes(await openRecoverySeal(verified, officer))).toEqual(bundleKeyBytes(unlockKey))
})

it('invites, accepts and endorses', async () => {
  const terms = { org: ORG, genesis: HASH, caps: ['member'], expires: AT + 1, note: '', at: AT } as const
  const { envelope, link } = await makeInvite(terms, officer)
  const candidate = await acceptInvite(parseInviteLink(link), envelope, alice, AT)
  const promised = await verifyDocument(invite, envelope, ORG, keyOf)
  const acceptance = await verifyAcceptance({ invite: promised, candidate, now: AT, isKnown: () => false })
  const { signers } = await verifyDocument(keyAdd, await endorseAcceptance(acceptance, officer), ORG, keyOf)
  expect(signers).toEqual(new Set([alice.kid, officer.kid]))
  const late = verifyAcceptance({ invite: promised, candidate, now: AT + 2, isKnown: () => false })
  await expect(late).rejects.toMatchObject({ code: 'not_authorised' })
})

it('makes the same invite key of the same secret everywhere', async () => {
  const link = parseInviteLink(
    'vin1.eyJnIjoiQVFFQkFRRUJBUUVCQVFFQkFRRUJBUUVCQVFFQkFRRUJBUUVCQVFFQkFRRSIsImgiOiJUS1pXYWpfdjl5QmhDMEN0RDN3eWpjSkg0Z3dGblFJcXdvRDJrMjlTMWQwIiwiaSI6Imludl85NjkyMXE0ZWhobmd5NWMxMXpjeXBxdGM0NiIsIm8iOiJvcmdfYWNtZSIsInMiOiJESU9iUDFTSXBpaGxCSXh0VTBrN1JBIn0',
  )
  const envelope = {
    payload:
      'eyJhdCI6MTcwMDAwMDAwMDAwMCwiYnkiOiJ1c2VyOm91X29mZmljZXI6NGd3cnRqNmg2YmtrNTVzZ3k0bXN3b21pYW15ZmtiNGsiLCJjYXBzIjpbIm1lbWJlciJdLCJleHBpcmVzIjoxNzAwMDAwMDAwMDAxLCJpbnZpdGVJZCI6Imludl85NjkyMXE0ZWhobmd5NWMxMXpjeXBxdGM0NiIsImludml0ZUtleSI6Ik1Db3dCUVlESzJWd0F5RUEyb2hvX2JsNksweTdDU3dkYU1BcF9ySHVuSXNmdHhZZkZERElTYWhPeW1rIiwibm90ZSI6IiIsIm9yZyI6Im9yZ19hY21lIiwidCI6Imludml0ZSIsInYiOjN9',
    payloadType: 'application/vnd.vault.v3.invite+json',
    signatures: [
      {
        keyid: 'user:ou_officer:4gwrtj6h6bkk55sgy4mswomiamyfkb4k',
        sig: 'c65mHLcx9JJ/JrtdBIlqrZmEXD8R6fIAiY+XbuuKcWwXmJ7nwUMJ5Qs4qo9flnRQIp8M3knFupd81DLk1rc3AA==',
      },
    ],
  }
  await expect(acceptInvite(link, envelope, alice, AT)).resolves.toHaveProperty('signatures.length', 2)
})

it('reads the trust anchor it wrote', () => {
  const anchor = {
    org: ORG,
    genesis: HASH,
    origin: 'log.example.test/o/1',
    logVkeys: ['log.example.test/o/1+b67723a3+AddZeTu8E6KBmoJ8dq22+6ikmu4Af0ny0JktmbglrSxI'],
    tlogPolicy: NO_WITNESSES,
    minimum: { size: 9, root: HASH },
  }
  expect(parseTrustAnchor(formatTrustAnchor(anchor))).toEqual(anchor)
})
