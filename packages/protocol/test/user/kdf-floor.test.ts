// Seen red on this breakage of kdf-floor.ts: each floor lowered by one (memory, passes, iterations, salt), lanes not
// compared, version not compared, policy not asked, `lastUsed` ignored, each ceiling removed, the regular expressions
// without their final `$`.
import { expect, it } from 'vitest'
import { PROTOCOL_ERRORS } from '../../src/error-codes.ts'
import type { ProtocolError } from '../../src/errors.ts'
import { checkKdf, makeKdf } from '../../src/user/kdf-floor.ts'

const SALT = 'AAECAwQFBgcICQoLDA0ODw'
const argon2id = ({ v = '19', m = '65536', t = '3', p = '4', salt = SALT } = {}) =>
  `$argon2id$v=${v}$m=${m},t=${t},p=${p}$${salt}`
const pbkdf2 = ({ i = '600000', salt = SALT } = {}) => `$pbkdf2-sha256$i=${i}$${salt}`

function refusal(phc: string, rule: Parameters<typeof checkKdf>[1] = { policyKdf: 'argon2id' }): string {
  try {
    checkKdf(phc, rule)
    return 'accepted'
  } catch (error) {
    const { code } = error as ProtocolError
    expect(PROTOCOL_ERRORS).toHaveProperty(code)
    return code
  }
}

it('gives typed parameters for Argon2id at the floor', () => {
  expect(checkKdf(argon2id(), { policyKdf: 'argon2id' })).toEqual({
    algorithm: 'argon2id',
    memoryKib: 65_536,
    passes: 3,
    lanes: 4,
    salt: Uint8Array.from({ length: 16 }, (_, i) => i),
    phc: argon2id(),
  })
})

it('gives typed parameters for PBKDF2 at the floor, where the signed policy chose it', () => {
  const salt = Uint8Array.from({ length: 16 }, (_, i) => i)
  const expected = { algorithm: 'pbkdf2-sha256', iterations: 600_000, salt, phc: pbkdf2() }
  expect(checkKdf(pbkdf2(), { policyKdf: 'pbkdf2' })).toEqual(expected)
})

it.each([
  ['less memory', argon2id({ m: '65535' })],
  ['fewer passes', argon2id({ t: '2' })],
  ['fewer lanes', argon2id({ p: '3' })],
  ['more lanes, which need less time', argon2id({ p: '5' })],
  ['the older Argon2', argon2id({ v: '16' })],
  ['a salt of 15 bytes', argon2id({ salt: SALT.slice(0, 20) })],
  ['Argon2i', argon2id().replace('argon2id', 'argon2i')],
  ['Argon2d', argon2id().replace('argon2id', 'argon2d')],
  ['PBKDF2 with SHA-1', '$pbkdf2-sha1$i=600000$AAECAwQFBgcICQoLDA0ODw'],
  ['scrypt', '$scrypt$ln=17,r=8,p=1$AAECAwQFBgcICQoLDA0ODw'],
])('refuses %s as below the floor, whatever the policy', (_, phc) => {
  expect(refusal(phc)).toBe('kdf_floor')
  expect(refusal(phc, { policyKdf: 'pbkdf2' })).toBe('kdf_floor')
})

it('refuses PBKDF2 unless the signed policy says so, and below 600000 iterations or 16 bytes of salt even then', () => {
  expect(refusal(pbkdf2())).toBe('kdf_floor')
  expect(refusal(pbkdf2({ i: '599999' }), { policyKdf: 'pbkdf2' })).toBe('kdf_floor')
  expect(refusal(pbkdf2({ salt: SALT.slice(0, 20) }), { policyKdf: 'pbkdf2' })).toBe('kdf_floor')
})

it('still accepts Argon2id under a policy of PBKDF2, so that nobody is locked out before the change', () => {
  expect(refusal(argon2id(), { policyKdf: 'pbkdf2' })).toBe('accepted')
})

it('refuses parameters weaker in any respect than those used last', () => {
  const lastUsed = argon2id({ m: '131072', t: '4' })
  expect(refusal(argon2id({ m: '131071', t: '4' }), { policyKdf: 'argon2id', lastUsed })).toBe('kdf_floor')
  expect(refusal(argon2id({ m: '131072', t: '3' }), { policyKdf: 'argon2id', lastUsed })).toBe('kdf_floor')
  expect(refusal(argon2id({ m: '131072', t: '4' }), { policyKdf: 'argon2id', lastUsed })).toBe('accepted')
  expect(refusal(argon2id({ m: '131073', t: '5' }), { policyKdf: 'argon2id', lastUsed })).toBe('accepted')
  const pinned = { policyKdf: 'pbkdf2', lastUsed: pbkdf2({ i: '700000' }) } as const
  expect(refusal(pbkdf2({ i: '699999' }), pinned)).toBe('kdf_floor')
  expect(refusal(pbkdf2({ i: '700000' }), pinned)).toBe('accepted')
})

it('lets the signed policy, and only it, change the algorithm', () => {
  expect(refusal(pbkdf2(), { policyKdf: 'pbkdf2', lastUsed: argon2id() })).toBe('accepted')
  expect(refusal(pbkdf2(), { policyKdf: 'argon2id', lastUsed: argon2id() })).toBe('kdf_floor')
  expect(refusal(argon2id(), { policyKdf: 'argon2id', lastUsed: pbkdf2() })).toBe('accepted')
})

it('does not let a server burn the memory or the time of a client', () => {
  expect(refusal(argon2id({ m: '1048576', t: '4' }))).toBe('accepted')
  expect(refusal(argon2id({ m: '1048577', t: '3' }))).toBe('limit_exceeded')
  expect(refusal(argon2id({ m: '1048576', t: '5' }))).toBe('limit_exceeded')
  expect(refusal(argon2id({ m: '65536', t: '64' }))).toBe('accepted')
  expect(refusal(argon2id({ m: '65536', t: '65' }))).toBe('limit_exceeded')
  expect(refusal(pbkdf2({ i: '10000000' }), { policyKdf: 'pbkdf2' })).toBe('accepted')
  expect(refusal(pbkdf2({ i: '10000001' }), { policyKdf: 'pbkdf2' })).toBe('limit_exceeded')
  expect(refusal(argon2id({ salt: 'A'.repeat(88) }))).toBe('limit_exceeded')
  expect(refusal(argon2id({ salt: 'A'.repeat(300) }))).toBe('limit_exceeded')
})

it.each([
  ['nothing', ''],
  ['no PHC string', 'argon2id'],
  ['a leading zero', argon2id({ m: '065536' })],
  ['a sign', argon2id({ m: '+65536' })],
  ['an exponent', argon2id({ m: '65536e3' })],
  ['a number too long', argon2id({ m: '65536000000' })],
  ['no version', argon2id().replace('$v=19', '')],
  ['another order', `$argon2id$v=19$t=3,m=65536,p=4$${SALT}`],
  ['a parameter twice', `$argon2id$v=19$m=65536,m=8,t=3,p=4$${SALT}`],
  ['a further parameter', `$argon2id$v=19$m=65536,t=3,p=4,data=AA$${SALT}`],
  ['no salt', '$argon2id$v=19$m=65536,t=3,p=4'],
  ['a hash, which would be a verifier of the passphrase', `${argon2id()}$${SALT}`],
  ['white space', `${argon2id()}\n`],
  ['a padded salt', argon2id({ salt: `${SALT}==` })],
  ['a salt that is not canonical', argon2id({ salt: 'AAECAwQFBgcICQoLDA0ODx' })],
  ['a salt of an impossible length', argon2id({ salt: `${SALT}AAA` })],
  ['base64url in the salt', argon2id({ salt: '__ECAwQFBgcICQoLDA0ODw' })],
])('refuses %s as malformed', (_, phc) => {
  expect(refusal(phc)).toBe('malformed')
})

it('refuses PBKDF2 parameters that are not of the exact form as malformed', () => {
  for (const phc of [`${pbkdf2()}$${SALT}`, pbkdf2({ i: '0600000' }), `$pbkdf2-sha256$i=600000,l=32$${SALT}`]) {
    expect(refusal(phc, { policyKdf: 'pbkdf2' })).toBe('malformed')
  }
})

it('makes parameters that pass its own floor, each time with another salt', () => {
  const made = makeKdf('argon2id')
  expect(checkKdf(made.phc, { policyKdf: 'argon2id', lastUsed: argon2id() })).toEqual(made)
  expect(makeKdf('argon2id').phc).not.toBe(made.phc)
  expect(makeKdf('pbkdf2')).toMatchObject({ algorithm: 'pbkdf2-sha256', iterations: 600_000 })
})
