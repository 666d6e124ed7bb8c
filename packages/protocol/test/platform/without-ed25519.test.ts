import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { concat, fromHex, utf8 } from '../../src/encoding/bytes.ts'
import { platform as node } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'

// A browser whose WebCrypto has no Ed25519: the script that is loaded then signs, verifies and names keys as the others do.
// Catches a fallback that is not loaded, or that gives another public key. Its rules about keys and R are tested with the vectors.
// Seen red: the seed given out as the public key.

const PKCS8 = concat(fromHex('302e020100300506032b657004220420'), new Uint8Array(32).fill(7))
const MESSAGE = utf8('a document')

let web: Platform
beforeAll(async () => {
  const refused = vi.spyOn(crypto.subtle, 'generateKey').mockRejectedValue(new DOMException('no', 'NotSupportedError'))
  const natively = vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('no', 'NotSupportedError'))
  // A copy of the module: whether there is an Ed25519 is asked once.
  const copy = '../../src/platform/web.ts?without-ed25519'
  web = ((await import(copy)) as { platform: Platform }).platform
  await web.importEd25519(PKCS8)
  refused.mockRestore()
  natively.mockRestore()
})
afterAll(() => vi.restoreAllMocks())

it('names a key, signs and verifies as a platform that has it', async () => {
  const [soft, native] = [await web.importEd25519(PKCS8), await node.importEd25519(PKCS8)]
  expect(soft.spki).toEqual(native.spki)
  const signature = await web.ed25519Sign(soft.key, MESSAGE)
  expect(signature).toEqual(await node.ed25519Sign(native.key, MESSAGE))
  expect(await web.ed25519Verify(native.spki, MESSAGE, signature)).toBe(true)
})

it('refuses another message and another key', async () => {
  const { key, spki } = await web.importEd25519(PKCS8)
  const signature = await web.ed25519Sign(key, MESSAGE)
  const other = await web.importEd25519(await web.makeEd25519())
  expect(await web.ed25519Verify(spki, utf8('another'), signature)).toBe(false)
  expect(await web.ed25519Verify(other.spki, MESSAGE, signature)).toBe(false)
})
