import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/encoding/bytes.ts'
import { bytes, hasData, judge, makeTally, orThrown, PLATFORMS, report, wycheproof } from './data.ts'

// RSA-OAEP and RSA-PSS of both platforms against C2SP/wycheproof. The protocol has one set of parameters: SHA-256 throughout,
// no label, a salt of 32 bytes. What was made with others is valid to its authors and must be refused here.
// Seen red: any length of salt accepted (Node), SHA-1 in OAEP (WebCrypto).

interface OaepGroup {
  readonly sha: string
  readonly mgfSha: string
  readonly privateKeyPkcs8: string
}
interface OaepCase {
  readonly msg: string
  readonly ct: string
  readonly label: string
}
interface PssGroup {
  readonly sha: string
  readonly mgfSha: string
  readonly sLen: number
  readonly publicKeyDer: string
}
interface PssCase {
  readonly msg: string
  readonly sig: string
}

describe.skipIf(!hasData('wycheproof')).each(PLATFORMS)('Wycheproof on %s', (name, platform) => {
  it.each([
    ['rsa_oaep_2048_sha256_mgf1sha256', 37, 10],
    ['rsa_oaep_3072_sha256_mgf1sha256', 37, 10],
    ['rsa_oaep_4096_sha256_mgf1sha256', 37, 10],
    ['rsa_oaep_misc', 395, 18],
  ])(
    '%s: all %i cases, of which %i open and the others are refused',
    async (file, total, ofOurs) => {
      const cases = wycheproof<OaepGroup, OaepCase>(file)
      const tally = makeTally(`${file} (${name})`, cases.length)
      const keys = new Map<string, Awaited<ReturnType<typeof platform.importRsa>>>()
      let opened = 0
      for (const one of cases) {
        const pkcs8 = one.privateKeyPkcs8
        const known = keys.get(pkcs8) ?? (await platform.importRsa(bytes(pkcs8)))
        keys.set(pkcs8, known)
        const isOurs = one.sha === 'SHA-256' && one.mgfSha === 'SHA-256' && one.label === '' && one.result === 'valid'
        const plaintext = await platform.rsaOaepDecrypt(known.decryptKey, bytes(one.ct))
        judge(tally, one, plaintext && toHex(plaintext), isOurs ? one.msg : undefined)
        if (plaintext) opened++
      }
      report(tally)
      expect(tally.mismatches).toEqual([])
      expect([tally.run, opened]).toEqual([total, ofOurs])
    },
    60_000,
  )

  it.each([
    ['rsa_pss_2048_sha256_mgf1_32', 108, 63],
    ['rsa_pss_3072_sha256_mgf1_32', 108, 63],
    ['rsa_pss_4096_sha256_mgf1_32', 108, 63],
    ['rsa_pss_misc', 150, 1],
  ])(
    '%s: all %i cases, of which %i verify and the others are refused',
    async (file, total, ofOurs) => {
      const cases = wycheproof<PssGroup, PssCase>(file)
      const tally = makeTally(`${file} (${name})`, cases.length)
      let genuine = 0
      for (const one of cases) {
        const isOurs = one.sha === 'SHA-256' && one.mgfSha === 'SHA-256' && one.sLen === 32 && one.result === 'valid'
        const verified = await orThrown(() =>
          platform.rsaPssVerify(bytes(one.publicKeyDer), bytes(one.msg), bytes(one.sig)),
        )
        judge(tally, one, verified, isOurs)
        if (verified === true) genuine++
      }
      report(tally)
      expect(tally.mismatches).toEqual([])
      expect([tally.run, genuine]).toEqual([total, ofOurs])
    },
    60_000,
  )
})
