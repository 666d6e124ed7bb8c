import { createHash } from 'node:crypto'
import { PART_BYTES } from '@strongroom/contract'
import {
  type AssetContent,
  assetRowOf,
  buildCommit,
  type Commit,
  decryptAttachment,
  documentHash,
  encryptAttachment,
  itemDetail,
  makeAssetCheckpoint,
  makeId,
  openAssetName,
  peekDocument,
  planItem,
  roleOf,
  signItem,
  termsOf,
  type VerifiedAsset,
  verifyAsset,
  verifyAssetRow,
  verifyVaultAnswer,
} from '@strongroom/protocol'
import { currentDek, openVault, trustOf, type Writer } from './vault-writer.ts'

// Somebody with keys who uploads and downloads attachments, step by step as the API has the steps.

export interface Encrypted {
  readonly assetId: string
  readonly assetVersion: number
  readonly ciphertext: Buffer
  readonly content: AssetContent
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export async function encrypt(
  writer: Writer,
  vaultId: string,
  plaintext: Uint8Array,
  asset: { assetId?: string; assetVersion?: number } = {},
): Promise<Encrypted> {
  const { assetId = makeId('ast'), assetVersion = 1 } = asset
  const encrypted = await encryptAttachment({
    dek: await currentDek(writer, vaultId),
    place: { org: writer.orgId, vaultId, assetId, assetVersion },
    source: chunksOf(plaintext),
    name: 'contract.pdf',
    mediaType: 'application/pdf',
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of encrypted.ciphertext) chunks.push(new Uint8Array(chunk))
  return { assetId, assetVersion, ciphertext: Buffer.concat(chunks), content: encrypted.content() }
}

export interface Sent {
  readonly partNumber: number
  readonly size: number
  readonly etag: string
  readonly sha256: string
}

const absolute = (base: string, url: string): string => new URL(url, base).href

export const put = (base: string, url: string, body: Uint8Array): Promise<Response> =>
  fetch(absolute(base, url), {
    method: 'PUT',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/octet-stream' },
  })

export const cut = (ciphertext: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(ciphertext.length / PART_BYTES) }, (_, index) =>
    ciphertext.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  )

export async function startUpload({ client }: Pick<Writer, 'client'>, vaultId: string): Promise<string> {
  return (await client.attachments.initialize({ params: { vaultId } })).uploadId
}

export async function urlFor(
  { client }: Pick<Writer, 'client'>,
  vaultId: string,
  uploadId: string,
  part: { partNumber: number; size: number },
): Promise<string> {
  const { data } = await client.attachments.presign({ params: { vaultId }, body: { uploadId, parts: [part] } })
  return data[0]?.url ?? ''
}

export async function sendPart(
  base: string,
  writer: Pick<Writer, 'client'>,
  vaultId: string,
  { uploadId, partNumber, body }: { uploadId: string; partNumber: number; body: Uint8Array },
): Promise<Sent> {
  const answer = await put(base, await urlFor(writer, vaultId, uploadId, { partNumber, size: body.length }), body)
  if (!answer.ok) throw new Error(`a part was refused: ${answer.status} ${await answer.text()}`)
  await answer.body?.cancel()
  const sha256 = createHash('sha256').update(body).digest('base64url')
  return { partNumber, size: body.length, etag: answer.headers.get('etag') ?? '', sha256 }
}

/** Everything up to the finalized upload. */
export async function uploadAll(
  base: string,
  writer: Pick<Writer, 'client'>,
  vaultId: string,
  ciphertext: Uint8Array,
): Promise<{ uploadId: string; parts: Sent[] }> {
  const uploadId = await startUpload(writer, vaultId)
  const parts: Sent[] = []
  for (const [index, body] of cut(ciphertext).entries())
    parts.push(await sendPart(base, writer, vaultId, { uploadId, partNumber: index + 1, body }))
  await writer.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts } })
  return { uploadId, parts }
}

export interface Attaching {
  readonly itemId: string
  readonly asset: Pick<Encrypted, 'assetId' | 'assetVersion' | 'content'>
}

/** The commit that attaches: checkpoint, the detail of the item that lists it, head. */
export async function attachCommit(
  writer: Writer,
  vaultId: string,
  { itemId, asset: { assetId, assetVersion, content } }: Attaching,
  { rename }: { rename?: string } = {},
): Promise<Commit> {
  const at = Date.now()
  const place = { org: writer.orgId, vaultId, assetId, assetVersion }
  const { head, content: rows } = await openVault(writer, vaultId)
  const envelope = await makeAssetCheckpoint({ place, itemId, content, at }, writer.identity)
  const { detail } = await writer.client.items.get({ params: { vaultId, itemId } })
  const base = { detail: peekDocument(itemDetail, detail).payload, hash: documentHash(detail) }
  const assets = [...new Set([...base.detail.assets, assetId])]
  const next = { ...base.detail, assets, ...(rename !== undefined && { name: rename }) }
  const plan = await planItem(await currentDek(writer, vaultId), base, next)
  const signed = await signItem(plan, { org: writer.orgId, vaultId, at }, writer.identity)
  const items = assets.length > base.detail.assets.length || rename !== undefined ? [signed] : []
  const terms = termsOf(head.payload)
  const row = assetRowOf(envelope, { place, itemId })
  const input = { org: writer.orgId, vaultId, base: head, content: rows, terms, at, items, assets: [{ row, envelope }] }
  return (await buildCommit(input, writer.identity)).commit
}

/** The whole way up. */
export async function attach(
  base: string,
  writer: Writer,
  vaultId: string,
  { itemId, plaintext, ...which }: { itemId: string; plaintext: Uint8Array; assetId?: string; assetVersion?: number },
): Promise<Encrypted & { uploadId: string }> {
  const asset = await encrypt(writer, vaultId, plaintext, which)
  const { uploadId } = await uploadAll(base, writer, vaultId, asset.ciphertext)
  const { assetId, assetVersion } = asset
  await writer.client.attachments.create({ params: { vaultId }, body: { uploadId, assetId, assetVersion, itemId } })
  const commit = await attachCommit(writer, vaultId, { itemId, asset })
  await writer.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })
  return { ...asset, uploadId }
}

/** The ticket, verified as a client without memory does. */
export async function openTicket(
  writer: Writer,
  vaultId: string,
  assetId: string,
): Promise<{ url: string; asset: VerifiedAsset }> {
  const { url, row, proof, checkpoint, signed } = await writer.client.attachments.ticket({
    params: { vaultId, assetId },
  })
  const head = await verifyVaultAnswer(signed, vaultId, trustOf(writer))
  const { directory, state } = head.vault
  const asset = await verifyAsset({
    row: verifyAssetRow(head, row, proof),
    envelope: checkpoint,
    keyOf: directory.keyOf,
    authorise: async (kid) => roleOf(head.vault, (await directory.signerAt(kid, state.headIndex)).principal) !== 'read',
    org: writer.orgId,
    vaultId,
  })
  return { url, asset }
}

export const fetchObject = (base: string, url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(absolute(base, url), { headers })

/** The whole way down: verified, fetched, decrypted. */
export async function download(
  base: string,
  writer: Writer,
  vaultId: string,
  assetId: string,
): Promise<{ name: string; plaintext: Buffer }> {
  const { url, asset } = await openTicket(writer, vaultId, assetId)
  const answer = await fetchObject(base, url)
  if (!answer.ok || !answer.body) throw new Error(`no object: ${answer.status}`)
  const dek = await currentDek(writer, vaultId)
  const { name } = await openAssetName(dek, asset)
  const chunks: Uint8Array[] = []
  for await (const chunk of decryptAttachment({ dek, asset, source: answer.body })) chunks.push(new Uint8Array(chunk))
  return { name, plaintext: Buffer.concat(chunks) }
}
