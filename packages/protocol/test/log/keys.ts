import { platform } from '#platform'
import { concat, fromHex } from '../../src/encoding/bytes.ts'
import { parseEd25519Spki } from '../../src/identity/der.ts'
import type { NoteSigner } from '../../src/log/note.ts'

/** A note signer whose Ed25519 seed is one byte 32 times: the same key in every run and on every platform. */
export async function signerOf(seedByte: number): Promise<NoteSigner> {
  const pkcs8 = concat(fromHex('302e020100300506032b657004220420'), new Uint8Array(32).fill(seedByte))
  const { key, spki } = await platform.importEd25519(pkcs8)
  return { publicKey: parseEd25519Spki(spki), sign: (message) => platform.ed25519Sign(key, message) }
}
