// Seen red: KID with another alphabet; parseKid cutting at the first colon; certify over 19 bytes; makeId with
// one random byte for all characters; ids with a slash.
import { afterEach, expect, it } from 'vitest'
import { platform } from '#platform'
import { toHex, utf8 } from '../../src/encoding/bytes.ts'
import {
  certify,
  id,
  KEY_ID_PATTERN,
  kidText,
  makeId,
  parseKid,
  principalOf,
  principalText,
  projectIdText,
  vaultIdText,
} from '../../src/identity/identifiers.ts'
import { codeOf } from '../encoding/refused.ts'

const { randomBytes } = platform
afterEach(() => {
  platform.randomBytes = randomBytes
})

const KEY_ID = 'abcdefghijklmnopqrstuvwxyz234567'

it.each(['abcd', 'A-b_9', 'a'.repeat(64), '____', '0000'])('accepts the id %j', (text) => {
  expect(id(text, 'id')).toBe(text)
})

it.each(['', 'abc', 'a'.repeat(65), 'ab:cd', 'ab/cd', 'ab cd', 'abcd\n', 'äbcd', 'ab.cd', 'ab\u0000cd', 'ab%2f'])(
  'refuses the id %j',
  (text) => expect(codeOf(() => id(text, 'id'))).toBe('malformed'),
)

it.each([
  [`user:ou_alice:${KEY_ID}`, 'user', 'user:ou_alice'],
  [`agent:ag_1:${KEY_ID}`, 'agent', 'agent:ag_1'],
])('gives the parts of the key id %s', (kid, type, principal) => {
  expect(parseKid(kid)).toEqual({ principal, type, keyId: KEY_ID })
  expect(principalOf(kid)).toBe(principal)
  expect(kidText(kid, 'kid')).toBe(kid)
})

it.each([
  '',
  'user:ou_alice',
  `user:ou_alice:${KEY_ID}a`,
  `user:ou_alice:${KEY_ID.slice(1)}`,
  `user:ou_alice:${KEY_ID.toUpperCase()}`,
  `user:ou_alice:${KEY_ID.replace('a', '1')}`,
  `group:ou_alice:${KEY_ID}`,
  `User:ou_alice:${KEY_ID}`,
  `user:ou:${KEY_ID}`,
  `user:ou_alice:x:${KEY_ID}`,
  `user::ou_alice:${KEY_ID}`,
  ` user:ou_alice:${KEY_ID}`,
  `user:ou_alice:${KEY_ID}\n`,
  `user:ou_älice:${KEY_ID}`,
])('refuses the key id %j', (kid) => {
  expect(codeOf(() => parseKid(kid))).toBe('malformed')
  expect(codeOf(() => kidText(kid, 'kid'))).toBe('malformed')
  expect(new RegExp(KEY_ID_PATTERN).test(kid)).toBe(false)
})

it('tells principals, vaults and projects by their form', () => {
  const accepted = (shape: typeof id) =>
    ['user:ou_alice', 'agent:ag_1', `v${KEY_ID}`, `p${KEY_ID}`, KEY_ID, 'user:ou', `v${KEY_ID}a`, `V${KEY_ID}`].filter(
      (text) => codeOf(() => shape(text, 'it')) === 'accepted',
    )
  expect(accepted(principalText)).toEqual(['user:ou_alice', 'agent:ag_1'])
  expect(accepted(vaultIdText)).toEqual([`v${KEY_ID}`])
  expect(accepted(projectIdText)).toEqual([`p${KEY_ID}`])
})

it('certifies with the first 160 bits of SHA-256 in base32', () => {
  // SHA-256("abc") = ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 …
  expect(toHex(platform.sha256(utf8('abc'))).slice(0, 40)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a3')
  expect(certify(utf8('abc'))).toBe('xj4bnp4pahh6uqkbidpf3lrceoyagynd')
})

it('mints ids of 26 characters from 26 random bytes, each of which matters', () => {
  platform.randomBytes = (length) => Uint8Array.from({ length }, (_, i) => i + 224)
  expect(makeId('itm')).toBe('itm_0123456789abcdefghjkmnpqrs')
  platform.randomBytes = randomBytes
  const made = Array.from({ length: 200 }, () => makeId('fld'))
  expect(new Set(made).size).toBe(200)
  for (const one of made) expect(id(one, 'id')).toMatch(/^fld_[0-9a-hjkmnp-tv-z]{26}$/)
})
