import { type AssetContent, type AssetRow, assetContent } from '../../src/attachments/checkpoint.ts'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import { documentHash, type Envelope, type PayloadOf } from '../../src/identity/document.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import { type Attached, sealAsset } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import { download, offer, otherAsset } from './attachments.ts'
import type { Attack, Bench } from './attack.ts'
import { forge, takeUnchecked } from './powers.ts'

// Rows 2, 4, 11, 13, 18, 22 and 23: what a dishonest writer can sign about a file.

type Payload = PayloadOf<typeof assetContent>

/** A dishonest writer: signs any checkpoint and any row, and the server takes the head. */
const signed =
  (
    change: (made: Attached, world: World) => Promise<Partial<Payload>> | Partial<Payload>,
    row: Partial<AssetRow> = {},
    by: (world: World) => World['actors']['bob'] = (world) => world.actors.bob,
  ) =>
  async (world: World, bench: Bench): Promise<unknown> => {
    const made = await sealAsset(world, utf8('certificate'), by(world))
    const envelope = await forge(assetContent, made.envelope, await change(made, world), by(world))
    const falseRow = { ...offer(made).row, docHash: documentHash(envelope), ...row }
    const head = await world.head(world.prod)
    const { content } = world.vaults.get(world.prod) as StoredVault
    const place = { org: ORG, vaultId: world.prod, at: world.now }
    const assets = new Map(content.assets).set(falseRow.assetId, falseRow)
    const next = { ...place, base: head, content: { ...content, assets }, terms: termsOf(head.payload) }
    await takeUnchecked(world, await buildCommit(next, world.actors.bob))
    return download(world, bench, { row: falseRow, envelope, ciphertext: made.ciphertext })
  }

const contentOf = (envelope: Envelope): AssetContent => JSON.parse(atob(envelope.payload)) as AssetContent

const flipIn = (text: string, at: number): string => {
  const bytes = fromBase64url(text)
  bytes[at] = (bytes[at] as number) ^ 1
  return toBase64url(bytes)
}

export const SIGNED_ATTACHMENTS: readonly Attack[] = [
  {
    id: 'attachment-writer-of-other-vault',
    row: 2,
    title: 'a writer whose row commits to an attachment of another vault',
    code: 'vault_swap',
    run: signed((_made, world) => ({ vaultId: world.staging })),
  },
  {
    id: 'attachment-writer-of-other-item',
    row: 2,
    title: 'a writer whose row shows an attachment under another item',
    code: 'item_swap',
    run: signed(() => ({}), { itemId: 'itm_stripe' }),
  },
  {
    id: 'attachment-writer-of-other-asset',
    row: 2,
    title: 'a writer whose row shows one attachment as another',
    code: 'item_swap',
    run: signed(() => ({}), { assetId: 'ast_other' }),
  },
  {
    id: 'attachment-writer-of-other-version',
    row: 6,
    title: 'a writer whose row shows an attachment as another version',
    code: 'item_swap',
    run: signed(() => ({}), { assetVersion: 2 }),
  },
  {
    id: 'attachment-by-reader',
    row: 4,
    title: 'an attachment that a reader signed',
    code: 'not_authorised',
    run: signed(
      () => ({}),
      {},
      (world) => world.actors.carol,
    ),
  },
  {
    id: 'attachment-writer-downgrades',
    row: 18,
    title: 'a writer who names an encryption this protocol does not know',
    code: 'alg_downgrade',
    run: signed(() => ({ enc: 'AES-CBC' })),
  },
  {
    id: 'attachment-writer-pastes-key',
    row: 13,
    title: 'a writer who passes off the content key of another attachment',
    code: 'aead',
    behindKeys: true,
    run: signed(async (_made, world) => ({ cek: contentOf((await otherAsset(world)).envelope).cek })),
  },
  {
    id: 'attachment-writer-older-key-format',
    row: 18,
    title: 'a wrapped content key of an unknown format',
    code: 'alg_downgrade',
    behindKeys: true,
    run: signed((made) => ({ cek: flipIn(contentOf(made.envelope).cek, 1) })),
  },
  {
    id: 'attachment-writer-key-of-other-version',
    row: 11,
    title: 'a content key that says it is under another version of the vault key',
    code: 'wrap_context',
    behindKeys: true,
    run: signed((made) => ({ cek: flipIn(contentOf(made.envelope).cek, 5) })),
  },
  {
    id: 'attachment-writer-names-other-version',
    row: 11,
    title: 'a checkpoint that names another version of the vault key than its content key',
    code: 'wrap_context',
    behindKeys: true,
    run: signed(() => ({ dekVersion: 2 })),
  },
  {
    id: 'attachment-writer-renames',
    row: 5,
    title: 'a writer who passes off the sealed name of another attachment',
    code: 'aead',
    behindKeys: true,
    run: signed(async (_made, world) => ({ meta: contentOf((await otherAsset(world)).envelope).meta })),
  },
  {
    id: 'attachment-writer-hash-of-ciphertext',
    row: 22,
    title: 'a writer who signs another hash of the ciphertext',
    code: 'asset_mismatch',
    behindKeys: true,
    run: signed((made) => ({ ciphertextHash: flipIn(contentOf(made.envelope).ciphertextHash, 0) })),
  },
  {
    id: 'attachment-writer-size-of-ciphertext',
    row: 22,
    title: 'a writer who signs a larger size of the ciphertext than it has',
    code: 'asset_mismatch',
    behindKeys: true,
    run: signed((made) => ({ ciphertextSize: contentOf(made.envelope).ciphertextSize + 1 })),
  },
  {
    id: 'attachment-writer-size-too-small',
    row: 22,
    title: 'a writer who signs a smaller size than the file has',
    code: 'asset_mismatch',
    behindKeys: true,
    run: signed(() => ({ plaintextSize: 3 })),
  },
  {
    id: 'attachment-writer-size-too-large',
    row: 22,
    title: 'a writer who signs a larger size than the file has',
    code: 'asset_mismatch',
    behindKeys: true,
    run: signed(() => ({ plaintextSize: 3000 })),
  },
  {
    id: 'attachment-writer-hash-of-plaintext',
    row: 23,
    title: 'a writer who signs the keyed hash of another file',
    code: 'asset_mismatch',
    behindKeys: true,
    run: signed((made) => ({ plaintextHash: flipIn(contentOf(made.envelope).plaintextHash, 0) })),
  },
]
