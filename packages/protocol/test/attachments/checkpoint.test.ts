import { beforeAll, describe, expect, it } from 'vitest'
import {
  ASSET_ENCRYPTION,
  type AssetContent,
  assetContent,
  assetRow,
  assetRowOf,
  MAX_CIPHERTEXT_BYTES,
  makeAssetCheckpoint,
  openAssetName,
  rewrapAsset,
  type VerifyAssetInput,
  verifyAsset,
} from '../../src/attachments/checkpoint.ts'
import { decryptAttachment } from '../../src/attachments/transfer.ts'
import { fromBase64, toBase64 } from '../../src/encoding/base64.ts'
import { decodeUtf8, utf8 } from '../../src/encoding/bytes.ts'
import { type Envelope, makeDocument } from '../../src/identity/document.ts'
import { type Identity, makeKeys, openKeys } from '../../src/identity/private-keys.ts'
import { makeDek } from '../../src/values/dek.ts'
import { chunked, collect, content, outcome, refusal } from './streams.ts'
import { attest, ITEM, NAME, ORG, OTHER_VAULT, PLACE, type Sealed, sealAttachment, VAULT } from './world.ts'

// Section 7: the signed checkpoint and the row that commits to it.
// Seen red: each of the checks of `verifyAsset` switched off in turn, and the key version of the content not compared.

const dek = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 2 })
const plaintext = content(5000)
const AT = 1_700_000_000_000

let alice: Identity
let mallory: Identity
let sealed: Sealed
let envelope: Envelope

beforeAll(async () => {
  alice = await openKeys('user:ou_alice', await makeKeys({ rsaBits: 2048 }))
  mallory = await openKeys('user:ou_mallory', await makeKeys({ rsaBits: 2048 }))
  sealed = await sealAttachment(dek, plaintext)
  envelope = await makeAssetCheckpoint({ place: PLACE, itemId: ITEM, content: sealed.content, at: AT }, alice)
})

const row = (of: Envelope = envelope) => assetRowOf(of, { place: PLACE, itemId: ITEM })
const keyOf: VerifyAssetInput['keyOf'] = (kid) => [alice, mallory].find((identity) => identity.kid === kid)?.key
const input = (changes: Partial<VerifyAssetInput> = {}): VerifyAssetInput => ({
  row: row(),
  envelope,
  keyOf,
  authorise: (kid) => kid === alice.kid,
  org: ORG,
  vaultId: VAULT,
  ...changes,
})
const verifyCode = (changes: Partial<VerifyAssetInput>): Promise<string> => refusal(() => verifyAsset(input(changes)))

/** A document as a dishonest writer would sign it: any member changed, and a row that commits to it. */
async function signed(changes: Record<string, unknown>, signer = alice): Promise<Partial<VerifyAssetInput>> {
  const members = {
    ...PLACE,
    ...sealed.content,
    itemId: ITEM,
    enc: ASSET_ENCRYPTION,
    salt: 'A'.repeat(22),
    at: AT,
    ...changes,
  }
  const made = await makeDocument(assetContent, members, [signer])
  return { envelope: made, row: row(made) }
}

describe('the checkpoint of an attachment', () => {
  it('is accepted where the row, the signature, the place and the signer agree', async () => {
    const asset = await verifyAsset(input())
    expect(asset).toMatchObject({ place: PLACE, itemId: ITEM, by: alice.kid, content: sealed.content, row: row() })
    assetRow(asset.row, 'row')
  })

  it('keeps the name from the server', () => {
    const payload = decodeUtf8(fromBase64(envelope.payload))
    expect(payload).not.toMatch(/Schl|\.pem|x-pem/)
    expect(Object.keys(JSON.parse(payload)).sort()).toEqual(
      'assetId assetVersion at by cek ciphertextHash ciphertextSize dekVersion enc itemId meta org plaintextHash plaintextSize salt t v vaultId'.split(
        ' ',
      ),
    )
  })

  it('is salted, so that two equal ones cannot be told by their hash', async () => {
    const again = await makeAssetCheckpoint({ place: PLACE, itemId: ITEM, content: sealed.content, at: AT }, alice)
    expect(row(again).docHash).not.toBe(row().docHash)
  })

  it('is refused if it is not the one the row commits to', async () => {
    const other = await signed({})
    expect(await verifyCode({ envelope: other.envelope })).toBe('assets_mismatch')
  })

  it('is refused with a signature that does not verify, by nobody known, or by nobody', async () => {
    const body = utf8(decodeUtf8(fromBase64(envelope.payload)).replace('"at":17', '"at":18'))
    const forged: Envelope = { ...envelope, payload: toBase64(body) }
    expect(await verifyCode({ envelope: forged, row: row(forged) })).toBe('bad_signature')
    expect(await verifyCode({ keyOf: () => undefined })).toBe('unknown_signer')
    expect(await verifyCode({ envelope: { ...envelope, signatures: [] } })).toBe('missing_signature')
  })

  it('is refused for another organisation, vault, item, attachment or version', async () => {
    expect(await verifyCode({ org: 'org_other' })).toBe('genesis_mismatch')
    expect(await verifyCode({ vaultId: OTHER_VAULT })).toBe('vault_swap')
    expect(await verifyCode(await signed({ itemId: 'itm_other' }))).toBe('item_swap')
    expect(await verifyCode(await signed({ assetId: 'ast_other' }))).toBe('item_swap')
    expect(await verifyCode(await signed({ assetVersion: 4 }))).toBe('item_swap')
  })

  it('is refused if its signer may not write, or for the reason the directory gives', async () => {
    expect(await verifyCode(await signed({}, mallory))).toBe('not_authorised')
    expect(await verifyCode({ authorise: async () => false })).toBe('not_authorised')
  })

  it('is refused with an unknown encryption as a downgrade', async () => {
    expect(await verifyCode(await signed({ enc: 'FLOE-GCM256-IV256-4K' }))).toBe('alg_downgrade')
    expect(await verifyCode(await signed({ enc: 'none' }))).toBe('alg_downgrade')
  })

  it('cannot state sizes that no attachment has', async () => {
    const sizes: Partial<AssetContent>[] = [
      { ciphertextSize: 105 },
      { ciphertextSize: MAX_CIPHERTEXT_BYTES + 1 },
      { plaintextSize: -1 },
    ]
    for (const size of sizes) expect(await refusal(() => signed(size))).toBe('malformed')
  })
})

describe('a verified attachment', () => {
  it('tells its name to those who hold the vault key', async () => {
    expect(await openAssetName(dek, await verifyAsset(input()))).toEqual(NAME)
  })

  it('does not open with another version of the vault key, even if the wrap claims that version', async () => {
    const newer = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 3 })
    const asset = await verifyAsset(input())
    expect(await refusal(() => openAssetName(newer, asset))).toBe('wrap_context')
    const { cek } = await rewrapAsset(asset, dek, newer)
    const mixed = await attest(alice, { ...sealed.content, cek })
    expect(await refusal(() => openAssetName(newer, mixed))).toBe('wrap_context')
    expect(await refusal(() => openAssetName(dek, mixed))).toBe('wrap_context')
  })

  it('survives a key rotation and a move with its ciphertext untouched', async () => {
    const newer = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 3 })
    const elsewhere = makeDek({ org: ORG, vaultId: OTHER_VAULT, dekVersion: 1 })
    const rotated = await attest(alice, await rewrapAsset(await verifyAsset(input()), dek, newer))
    const moved = await attest(alice, await rewrapAsset(rotated, newer, elsewhere), { ...PLACE, vaultId: OTHER_VAULT })
    for (const [key, asset] of [
      [newer, rotated],
      [elsewhere, moved],
    ] as const) {
      expect(await collect(decryptAttachment({ dek: key, asset, source: chunked(sealed.ciphertext) }))).toEqual(
        plaintext,
      )
      expect(await openAssetName(key, asset)).toEqual(NAME)
    }
    const old = await outcome(decryptAttachment({ dek, asset: rotated, source: chunked(sealed.ciphertext) }))
    expect(old).toEqual({ code: 'wrap_context', released: new Uint8Array(0) })
  })
})
