import { keyRevoke } from '../../src/directory/documents.ts'
import { fromBase64url } from '../../src/encoding/base64.ts'
import { toHex } from '../../src/encoding/bytes.ts'
import { ensure } from '../../src/errors.ts'
import { type KeyOf, pae, verifyDocument } from '../../src/identity/document.ts'
import { checkKey, deriveKeyId, type KeyBundle, verifyWithKey } from '../../src/identity/key-bundle.ts'
import { dekBytes } from '../../src/values/dek.ts'
import { checkWrapAlgorithm, unwrapDek, type VerifiedWrappedKey, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { type BytesNotation, bytesOf, identityFor, type KeyReference, type Operations } from './vectors-notation.ts'

// Sections 2.1, 2.3 and 3.

interface NamedKey {
  readonly kid: string
  readonly key: KeyBundle
}

const keyTable = (keys: readonly NamedKey[]): KeyOf => {
  const table = new Map(keys.map(({ kid, key }) => [kid, checkKey(kid, key)]))
  return (kid) => table.get(kid)
}

export const dsseOperations: Operations = {
  pae: ({ payloadType, body }: { payloadType: string; body: BytesNotation }) => ({
    hex: toHex(pae(payloadType, bytesOf(body))),
  }),
  verify: async (input: { kind: string; org: string; envelope: unknown }, given: { keys: readonly NamedKey[] }) => {
    if (input.kind !== keyRevoke.name) throw new Error(`no vector uses ${input.kind}`)
    const { hash, payload, signers } = await verifyDocument(keyRevoke, input.envelope, input.org, keyTable(given.keys))
    return { hash, by: payload.by, signers: [...signers].sort() }
  },
}

export const keyIdOperations: Operations = {
  check: ({ kid, key, minRsaBits }: { kid: string; key: unknown; minRsaBits?: number }) => {
    const { principal, bundle } = checkKey(kid, key, minRsaBits)
    return { principal, keyId: deriveKeyId(bundle) }
  },
}

export const ed25519Operations: Operations = {
  verify: async ({ key, message, signature }: { key: KeyBundle; message: string; signature: string }) => {
    const checked = checkKey(`agent:ag_deploy:${deriveKeyId(key)}`, key)
    const genuine = await verifyWithKey(checked, bytesOf(message), bytesOf(signature))
    ensure(genuine, 'bad_signature', 'a signature does not verify')
    return {}
  },
}

interface WrapInput {
  readonly recipient: KeyReference
  readonly payload: unknown
}

/** The form is checked where a document is parsed; grant and signature are the affair of read-bundle.json. */
const verifiedWrap = (payload: unknown): VerifiedWrappedKey =>
  ({ payload: wrappedDek.shape(payload, 'payload'), hash: '' }) as unknown as VerifiedWrappedKey

export const wrapOperations: Operations = {
  decrypt: async ({ recipient, ct }: { recipient: KeyReference; ct: string }) => {
    const plaintext = await (await identityFor(recipient)).rsaDecrypt(fromBase64url(ct))
    return { plaintext: plaintext && toHex(plaintext) }
  },
  unwrap: async ({ recipient, payload }: WrapInput) => {
    const wrapped = verifiedWrap(payload)
    return { dek: toHex(dekBytes(await unwrapDek(wrapped, await identityFor(recipient)))) }
  },
  algorithm: async ({ recipient, payload }: WrapInput) => {
    checkWrapAlgorithm(verifiedWrap(payload).payload, (await identityFor(recipient)).key)
    return {}
  },
}
