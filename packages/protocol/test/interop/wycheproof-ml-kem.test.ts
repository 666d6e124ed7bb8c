import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/encoding/bytes.ts'
import { softMlKem } from '../../src/platform/ml-kem.ts'
import { platform as nodePlatform } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { bytes, hasData, judge, makeTally, orThrown, report, wycheproof } from './data.ts'

// ML-KEM-768 in script and as Node has it, against C2SP/wycheproof: valid ciphertexts, implicit rejection, wrong lengths.
// Seen red: another shared secret from the script.

interface KemCase {
  readonly seed: string
  readonly ek?: string
  readonly c: string
  readonly K: string
}

const KEMS: readonly (readonly [string, Pick<Platform, 'importMlKem' | 'mlKemDecapsulate'>])[] = [
  ['in script', { importMlKem: softMlKem.import, mlKemDecapsulate: softMlKem.decapsulate }],
  ['of Node', nodePlatform],
]

describe.skipIf(!hasData('wycheproof')).each(KEMS)('ML-KEM-768 %s', (name, kem) => {
  it('opens or refuses all 193 cases of Wycheproof as stated', async () => {
    const cases = wycheproof<object, KemCase>('mlkem_768')
    const tally = makeTally(`mlkem_768 (${name})`, cases.length)
    for (const one of cases) {
      const shared = await orThrown(async () => {
        const { key, publicKey } = await kem.importMlKem(bytes(one.seed))
        if (one.ek !== undefined) expect(toHex(publicKey)).toBe(one.ek)
        return toHex(await kem.mlKemDecapsulate(key, bytes(one.c)))
      })
      judge(tally, one, shared, one.result === 'valid' ? one.K : 'thrown')
    }
    report(tally)
    expect(tally.mismatches).toEqual([])
    expect([tally.run, cases.filter(({ result }) => result === 'valid').length]).toEqual([193, 153])
  })
})

describe.runIf('encapsulate' in (await import('node:crypto')))('ML-KEM-768', () => {
  it('of Node opens what the script wraps, and the other way round', async () => {
    const seed = new Uint8Array(64).map((_, i) => i)
    const soft = softMlKem.import(seed)
    const native = await nodePlatform.importMlKem(seed)
    const wrapped = softMlKem.encapsulate(soft.publicKey)
    expect(toHex(await nodePlatform.mlKemDecapsulate(native.key, wrapped.ciphertext))).toBe(toHex(wrapped.sharedSecret))
    const other = await nodePlatform.mlKemEncapsulate(native.publicKey)
    expect(toHex(softMlKem.decapsulate(soft.key, other.ciphertext))).toBe(toHex(other.sharedSecret))
  })
})
