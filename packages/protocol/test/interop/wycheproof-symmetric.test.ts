import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/encoding/bytes.ts'
import { hkdfExpandSha384 as expandOnNode } from '../../src/platform/sha384-node.ts'
import { hkdfExpandSha384 as expandOnWeb } from '../../src/platform/sha384-web.ts'
import { bytes, hasData, judge, makeTally, orThrown, PLATFORMS, report, wycheproof } from './data.ts'

// AES-GCM and HKDF of both platforms against C2SP/wycheproof.
// Seen red: the counter of HKDF-Expand running over after 255 blocks (as first written), a tag that is not looked at.

interface AeadGroup {
  readonly keySize: number
  readonly ivSize: number
  readonly tagSize: number
}
interface AeadCase {
  readonly key: string
  readonly iv: string
  readonly aad: string
  readonly msg: string
  readonly ct: string
  readonly tag: string
}
interface HkdfCase {
  readonly ikm: string
  readonly salt: string
  readonly info: string
  readonly size: number
  readonly okm: string
}

describe.skipIf(!hasData('wycheproof')).each(PLATFORMS)('Wycheproof on %s', (name, platform) => {
  it('AES-256-GCM with 12-byte nonces: 66 cases are sealed, opened and refused as stated', async () => {
    const cases = wycheproof<AeadGroup, AeadCase>('aes_gcm')
    const ours = cases.filter((one) => one.keySize === 256 && one.ivSize === 96 && one.tagSize === 128)
    const tally = makeTally(`aes_gcm (${name})`, cases.length)
    for (const one of ours) {
      const [key, iv, aad, msg] = [one.key, one.iv, one.aad, one.msg].map(bytes) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ]
      const sealed = bytes(one.ct + one.tag)
      const opened = await platform.aesGcmOpen(key, iv, sealed, aad)
      judge(tally, one, opened && toHex(opened), one.result === 'valid' ? one.msg : undefined)
      const into = new Uint8Array(msg.length).fill(0xee)
      const genuine = await platform.aesGcmOpenInto(key, iv, sealed, aad, into)
      expect([genuine, toHex(into)]).toEqual([
        one.result === 'valid',
        one.result === 'valid' ? one.msg : '00'.repeat(msg.length),
      ])
      if (one.result !== 'valid') continue
      expect(toHex(await platform.aesGcmSeal(key, iv, msg, aad))).toBe(toHex(sealed))
      const target = new Uint8Array(sealed.length)
      await platform.aesGcmSealInto(key, iv, msg, aad, target)
      expect(toHex(target)).toBe(toHex(sealed))
    }
    report(tally)
    expect(tally.mismatches).toEqual([])
    expect(tally.run).toBe(66)
    expect(cases.length).toBe(316)
  })

  it('HKDF-SHA-256: all 86 cases give the stated key, and more than 255 blocks are refused', async () => {
    const cases = wycheproof<object, HkdfCase>('hkdf_sha256')
    const tally = makeTally(`hkdf_sha256 (${name})`, cases.length)
    for (const one of cases) {
      const okm = await orThrown(() =>
        toHex(platform.hkdfSha256(bytes(one.ikm), bytes(one.salt), bytes(one.info), one.size)),
      )
      judge(tally, one, okm, one.result === 'valid' ? one.okm : 'thrown')
    }
    report(tally)
    expect(tally.mismatches).toEqual([])
    expect(tally.run).toBe(86)
  })

  it('HKDF-Expand-SHA-384: all 83 cases give the stated key, and more than 255 blocks are refused', async () => {
    const cases = wycheproof<object, HkdfCase>('hkdf_sha384')
    const expand = name === 'node' ? expandOnNode : expandOnWeb
    const tally = makeTally(`hkdf_sha384 (${name})`, cases.length)
    for (const one of cases) {
      // The platform expands only, as FLOE does; the extraction before it is node's.
      const extracted = createHmac('sha384', bytes(one.salt)).update(bytes(one.ikm)).digest()
      const okm = await orThrown(() => toHex(expand(extracted, bytes(one.info), one.size)))
      judge(tally, one, okm, one.result === 'valid' ? one.okm : 'thrown')
    }
    report(tally)
    expect(tally.mismatches).toEqual([])
    expect(tally.run).toBe(83)
  })
})
