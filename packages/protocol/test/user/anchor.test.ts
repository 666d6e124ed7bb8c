// Seen red on this breakage of trust/anchor.ts: `s` without `r` accepted; no log key accepted; length not limited;
// version not compared; control characters in lines accepted; formatting without checking;
// verifier keys or the witness policy not read.
import { expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import { ProtocolError } from '../../src/errors.ts'
import { makeVerifierKey, NOTE_COSIGNATURE, NOTE_SIGNATURE } from '../../src/log/note.ts'
import { NO_WITNESSES } from '../../src/log/witness-policy.ts'
import { formatTrustAnchor, parseTrustAnchor, type TrustAnchor } from '../../src/trust/anchor.ts'

const HASH = toBase64url(new Uint8Array(32).fill(1))
const ROOT = toBase64url(new Uint8Array(32).fill(2))
const key = new Uint8Array(32).fill(3)
const LOG = makeVerifierKey('log.strongroom.example/5f1c0000000000000000000000000000', NOTE_SIGNATURE, key)
const WITNESS = makeVerifierKey('w1', NOTE_COSIGNATURE, key)
const anchor: TrustAnchor = {
  org: 'org_acme',
  genesis: HASH,
  origin: LOG.name,
  logVkeys: [LOG.vkey],
  tlogPolicy: `witness w1 ${WITNESS.vkey}\nquorum w1\n`,
}
const members = { g: HASH, k: anchor.logVkeys, l: anchor.origin, o: anchor.org, q: anchor.tlogPolicy }
const written = (value: unknown) => `vta1.${toBase64url(canonical(value))}`
const without = (key: keyof typeof members) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => name !== key))

function refusal(run: () => unknown): string {
  try {
    run()
    return 'accepted'
  } catch (error) {
    return error instanceof ProtocolError ? error.code : String(error)
  }
}

it('reads what it wrote, with and without a minimum checkpoint', () => {
  const minimum = { size: 5_000_000_000, root: ROOT }
  expect(parseTrustAnchor(formatTrustAnchor(anchor))).toEqual(anchor)
  expect(parseTrustAnchor(formatTrustAnchor({ ...anchor, minimum }))).toEqual({ ...anchor, minimum })
  expect(parseTrustAnchor(formatTrustAnchor({ ...anchor, tlogPolicy: NO_WITNESSES }))).toEqual({
    ...anchor,
    tlogPolicy: NO_WITNESSES,
  })
})

it('writes exactly the form of section 9.2', () => {
  expect(formatTrustAnchor(anchor)).toBe(written(members))
  expect(formatTrustAnchor({ ...anchor, minimum: { size: 7, root: ROOT } })).toBe(
    written({ ...members, r: ROOT, s: 7 }),
  )
})

it.each([
  ['a size without a root', written({ ...members, s: 7 })],
  ['a root without a size', written({ ...members, r: ROOT })],
  ['an empty log', written({ ...members, s: 0, r: ROOT })],
  ['no log key', written({ ...members, k: [] })],
  ['an empty log key', written({ ...members, k: [''] })],
  ['a log key that is no text', written({ ...members, k: [1] })],
  ['a log key of two lines', written({ ...members, k: ['a\nb'] })],
  ['nine log keys', written({ ...members, k: new Array(9).fill(LOG.vkey) })],
  ['a log key with the id of another', written({ ...members, k: [LOG.vkey.replace(/\+[0-9a-f]{8}\+/, '+00112233+')] })],
  ['a witness policy without a quorum', written({ ...members, q: '' })],
  ['an origin of two lines', written({ ...members, l: 'log\nother' })],
  ['an empty origin', written({ ...members, l: '' })],
  ['a genesis that is no hash', written({ ...members, g: 'AAAA' })],
  ['an organisation that is no id', written({ ...members, o: 'a:b/c' })],
  ['a further member', written({ ...members, z: 1 })],
  ['white space in the JSON', `vta1.${toBase64url(utf8(JSON.stringify(members, null, 1)))}`],
  ['other base64', `${written(members)}=`],
  ['white space around it', ` ${written(members)}`],
  ['nothing', ''],
  ['an invite link', 'vin1.AAAA'],
  ['no genesis', written(without('g'))],
  ['no list of log keys', written(without('k'))],
  ['no origin', written(without('l'))],
  ['no organisation', written(without('o'))],
  ['no witness policy', written(without('q'))],
])('refuses %s as malformed', (_, text) => {
  expect(refusal(() => parseTrustAnchor(text))).toBe('malformed')
})

it('refuses another version as a downgrade and a flood as too long', () => {
  expect(refusal(() => parseTrustAnchor(written(members).replace('vta1.', 'vta2.')))).toBe('alg_downgrade')
  expect(refusal(() => parseTrustAnchor(`vta1.${'A'.repeat(65_536)}`))).toBe('limit_exceeded')
})

it('writes nothing that it would not read', () => {
  expect(refusal(() => formatTrustAnchor({ ...anchor, logVkeys: [] }))).toBe('malformed')
  expect(refusal(() => formatTrustAnchor({ ...anchor, genesis: 'x' }))).toBe('malformed')
  expect(refusal(() => formatTrustAnchor({ ...anchor, minimum: { size: 0, root: ROOT } }))).toBe('malformed')
})
