// Seen red: the bytes as a member of the object; openDek without its comparison; each part of the commitment's and of the
// item key's context left out; one cache of item keys for all vault keys.
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, fromHex, toHex } from '../../src/encoding/bytes.ts'
import { type Dek, dekBytes, deriveDekCommit, deriveFromDek, itemKey, makeDek, openDek } from '../../src/values/dek.ts'
import { codeOf } from '../encoding/refused.ts'

const { randomBytes } = platform
afterEach(() => {
  platform.randomBytes = randomBytes
})

const PLACE = { org: 'org_acme', vaultId: 'vlt_prod', dekVersion: 1 }
const SECRET: Bytes = Uint8Array.from({ length: 32 }, (_, i) => 0x41 + i)
const open = (place = PLACE, bytes = SECRET): Dek => openDek(bytes, place, deriveDekCommit(bytes, place))

describe('a vault key', () => {
  it('has 32 bytes from the random generator of the platform, and other ones each time', () => {
    platform.randomBytes = (length) => new Uint8Array(length).fill(0x11)
    expect(dekBytes(makeDek(PLACE))).toEqual(new Uint8Array(32).fill(0x11))
    platform.randomBytes = randomBytes
    expect(dekBytes(makeDek(PLACE))).not.toEqual(dekBytes(makeDek(PLACE)))
  })

  it('shows its bytes neither serialised nor inspected nor cloned nor spread', () => {
    const dek = open()
    const clone = structuredClone(dek)
    const shown = [
      JSON.stringify(dek),
      inspect(dek, { depth: 9, showHidden: true }),
      inspect(clone, { depth: 9, showHidden: true }),
      String(Object.getOwnPropertyNames(dek).map((name) => Reflect.get(dek, name))),
      JSON.stringify({ ...dek }),
    ].join('\n')
    for (const form of [toHex(SECRET), toBase64(SECRET), toBase64url(SECRET), 'ABCDEFGH', '65, 66, 67', '65,66,67'])
      expect(shown).not.toContain(form)
    expect(Object.keys(dek).sort()).toEqual(['dekCommit', 'dekVersion', 'org', 'vaultId'])
    expect(Object.getOwnPropertySymbols(dek)).toEqual([])
  })

  it('cannot be copied or made by hand: only the object that was given out opens anything', () => {
    const dek = open()
    for (const copy of [structuredClone(dek), { ...dek }, JSON.parse(JSON.stringify(dek)), Object.create(dek)])
      expect(codeOf(() => deriveFromDek(copy as Dek, new Uint8Array(0), 32))).toBe('unwrapped_key_missing')
  })
})

describe('the commitment', () => {
  it('is the one of the worked example: HKDF-SHA-256 with the salt of the protocol', () => {
    // Computed outside this package: HMAC-SHA-256 by hand, after RFC 5869.
    expect(deriveDekCommit(new Uint8Array(32).fill(0x11), PLACE)).toBe('z7H_8LqX9uZpLHEbc9JmH36WWx7e7Nkbk0cs-554JHc')
  })

  it('is refused for any other key, and for the same key in any other place', () => {
    const commit = deriveDekCommit(SECRET, PLACE)
    expect(codeOf(() => openDek(SECRET, PLACE, commit))).toBe('accepted')
    for (let bit = 0; bit < 256; bit++) {
      const other = SECRET.slice()
      other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(codeOf(() => openDek(other, PLACE, commit))).toBe('dek_commitment')
    }
    for (const place of [{ org: 'org_acmf' }, { vaultId: 'vlt_prof' }, { dekVersion: 2 }])
      expect(codeOf(() => openDek(SECRET, { ...PLACE, ...place }, commit))).toBe('dek_commitment')
    expect(codeOf(() => openDek(SECRET, PLACE, `${commit.slice(0, -1)}x`))).toBe('dek_commitment')
  })

  it('does not tell one place from another only by where a name ends', () => {
    const one = deriveDekCommit(SECRET, { org: 'org_a', vaultId: 'bcd', dekVersion: 1 })
    expect(deriveDekCommit(SECRET, { org: 'org_ab', vaultId: 'cd', dekVersion: 1 })).not.toBe(one)
  })
})

describe('item keys', () => {
  it('differ for every item, version, vault and organisation, and between their two halves', () => {
    const keys = [
      itemKey(open(), 'itm_1'),
      itemKey(open(), 'itm_2'),
      itemKey(open({ ...PLACE, dekVersion: 2 }), 'itm_1'),
      itemKey(open({ ...PLACE, vaultId: 'vlt_test' }), 'itm_1'),
      itemKey(open({ ...PLACE, org: 'org_other' }), 'itm_1'),
      itemKey(open(PLACE, new Uint8Array(32)), 'itm_1'),
    ]
    const halves = keys.flatMap(({ encryption, nonce }) => [toHex(encryption), toHex(nonce)])
    expect(new Set(halves).size).toBe(halves.length)
    for (const half of halves) expect(half).toMatch(/^[0-9a-f]{64}$/)
  })

  it('are derived once for each vault key, and never mixed up between two', () => {
    const [one, two] = [open(), open(PLACE, new Uint8Array(32))]
    expect(itemKey(one, 'itm_1')).toBe(itemKey(one, 'itm_1'))
    expect(itemKey(two, 'itm_1')).not.toEqual(itemKey(one, 'itm_1'))
    expect(itemKey(open(), 'itm_1')).toEqual(itemKey(one, 'itm_1'))
  })

  it('are refused for a name that no item can have, on every platform alike', () => {
    expect(codeOf(() => itemKey(open(), 'i'.repeat(64)))).toBe('accepted')
    expect(codeOf(() => itemKey(open(), 'i'.repeat(2000)))).toBe('limit_exceeded')
  })

  it('are those of the worked example', () => {
    // Computed outside this package, as above.
    const { encryption, nonce } = itemKey(open(PLACE, new Uint8Array(32).fill(0x11)), 'itm_db')
    expect(encryption).toEqual(fromHex('2079d9e01530350cd9320dd8563aca00eac986c710f3d553ff2400f63084261c'))
    expect(nonce).toEqual(fromHex('d06bfaec6c8a538f694d034e9425dc8ba899a2ecd10eb36c622c577599e7dff5'))
  })
})
