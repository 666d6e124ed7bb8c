import type { CommitReceipt } from '@strongroom/contract'
import {
  type AclEntry,
  type BuiltCommit,
  buildCommit,
  type Commit,
  createVault,
  type Dek,
  documentHash,
  EMPTY_TRUST_STORE,
  type Identity,
  type ItemEdit,
  itemDetail,
  logPinOf,
  openVaultKeys,
  orgTrustOf,
  parseTrustAnchor,
  peekDocument,
  pinAnchor,
  planItem,
  type ReaderTrust,
  registerKey,
  signItem,
  termsOf,
  textValue,
  type VaultContent,
  type VaultHeadPayload,
  type VaultKeys,
  type VerifiedHead,
  verifyContent,
  verifyItem,
  verifyItemRow,
  verifyVaultAnswer,
} from '@strongroom/protocol'
import type { Client } from '@strongroom/sdk'

// Somebody with keys who reads and writes vaults through the API, each answer verified as by a client without memory. The least
// that tests of the server need; the product's own client is the SDK.

export interface Writer {
  readonly orgId: string
  readonly identity: Identity
  readonly client: Client
  readonly trustAnchor: string
}

export function trustOf({ orgId, trustAnchor }: Writer): ReaderTrust {
  const org = orgTrustOf(pinAnchor(EMPTY_TRUST_STORE, parseTrustAnchor(trustAnchor), 'pinned'), orgId)
  const freshness = { now: Date.now(), maxStaleMs: Number.MAX_SAFE_INTEGER }
  return { log: logPinOf(orgId, org), genesis: org.genesis, freshness }
}

export interface OpenedVault {
  readonly head: VerifiedHead
  readonly content: VaultContent
}

export async function openVault(writer: Writer, vaultId: string): Promise<OpenedVault> {
  const { data, environment, assets, signed } = await writer.client.items.list({ params: { vaultId } })
  const head = await verifyVaultAnswer(signed, vaultId, trustOf(writer))
  return { head, content: verifyContent(head, { items: data, env: environment, assets }) }
}

export async function vaultKeys(writer: Writer, vaultId: string): Promise<VaultKeys> {
  const { wrappedKeys, signed } = await writer.client.vaults.wrappedKey({ params: { vaultId } })
  return openVaultKeys(await verifyVaultAnswer(signed, vaultId, trustOf(writer)), wrappedKeys, writer.identity)
}

export const currentDek = async (writer: Writer, vaultId: string): Promise<Dek> => {
  const keys = await vaultKeys(writer, vaultId)
  return keys.get(Math.max(...keys.keys())) as Dek
}

export interface NewVault {
  readonly name?: string
  readonly with?: readonly { readonly identity: Identity; readonly role: AclEntry['role'] }[]
}

export async function vaultCommit(writer: Writer, { name = 'payments', with: others = [] }: NewVault = {}) {
  const everybody = [{ identity: writer.identity, role: 'admin' as const }, ...others]
  return createVault(
    {
      org: writer.orgId,
      meta: { name, classification: 'confidential', status: 'active' },
      acl: everybody.map(({ identity, role }) => ({ p: identity.key.principal, role })),
      recipients: everybody.map(({ identity }) => identity.key),
      at: Date.now(),
    },
    writer.identity,
  )
}

export async function makeVault(writer: Writer, vault: NewVault = {}): Promise<string> {
  const { commit, vaultId } = await vaultCommit(writer, vault)
  await writer.client.vaults.create({ body: { commit } })
  return vaultId
}

export const edit = (itemId: string, fields: Record<string, string>, more: Partial<ItemEdit> = {}): ItemEdit => ({
  itemId,
  name: itemId,
  website: '',
  status: 'active',
  assets: [],
  ...more,
  fields: Object.entries(fields).map(([label, value]) => ({
    fieldId: `fld_${itemId}_${label}`,
    label,
    env: label === label.toUpperCase(),
    value: textValue(value),
  })),
})

/** The item as it is now, verified by its path. */
export async function readItem(writer: Writer, vaultId: string, itemId: string) {
  const { row, proof, detail, signed, values } = await writer.client.items.get({ params: { vaultId, itemId } })
  const head = await verifyVaultAnswer(signed, vaultId, trustOf(writer))
  const item = await verifyItem(head, verifyItemRow(head, row, proof), detail)
  return { item, values, head }
}

/** The item as it is now, put away. */
export async function archiving(writer: Writer, vaultId: string, itemId: string): Promise<ItemEdit> {
  const { item } = await readItem(writer, vaultId, itemId)
  const { name, website, fields, assets } = item.document.payload
  const kept = fields.map(({ fieldId, label, env }) => ({ fieldId, label, env }))
  return { itemId, name, website, status: 'archived', fields: kept, assets }
}

interface Built extends BuiltCommit {
  readonly opened: OpenedVault
}

/** A commit of these items on top of the vault as it is now. */
export async function itemsCommit(
  writer: Writer,
  vaultId: string,
  edits: readonly ItemEdit[],
  /** As if there were none of these ids. */
  areNew = false,
): Promise<Built> {
  const opened = await openVault(writer, vaultId)
  const dek = await currentDek(writer, vaultId)
  const place = { org: writer.orgId, vaultId, at: Date.now() }
  const items = []
  for (const one of edits) {
    const known = !areNew && opened.content.items.has(one.itemId)
    const { detail } = known ? await writer.client.items.get({ params: { vaultId, itemId: one.itemId } }) : {}
    const base = detail && { detail: peekDocument(itemDetail, detail).payload, hash: documentHash(detail) }
    items.push(await signItem(await planItem(dek, base, one), place, writer.identity))
  }
  const { head, content } = opened
  const built = await buildCommit(
    { ...place, base: head, content, terms: termsOf(head.payload), items },
    writer.identity,
  )
  return { ...built, opened }
}

/** A head with other meta over the same content. */
export async function metaCommit(
  writer: Writer,
  vaultId: string,
  meta: Partial<VaultHeadPayload['meta']>,
): Promise<Commit> {
  const { head, content } = await openVault(writer, vaultId)
  const terms = { ...termsOf(head.payload), meta: { ...head.payload.meta, ...meta } }
  const input = { org: writer.orgId, vaultId, base: head, content, terms, at: Date.now() }
  return (await buildCommit(input, writer.identity)).commit
}

export async function writeItems(writer: Writer, vaultId: string, edits: readonly ItemEdit[]): Promise<CommitReceipt> {
  const { commit } = await itemsCommit(writer, vaultId, edits)
  return writer.client.vaults.commit({ params: { vaultId }, body: { commit } })
}

/** The registration of an agent's key, endorsed by a member who may. */
export const endorse = ({ orgId, identity }: Writer, agent: Identity) =>
  registerKey({ org: orgId, caps: ['agent'], at: Date.now() }, identity, agent)

/** Both halves of a move: the item leaves one vault and arrives in the other, encrypted anew. */
export async function moveCommits(
  writer: Writer,
  item: ItemEdit,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly from: Commit; readonly to: Commit }> {
  const common = { org: writer.orgId, at: Date.now() }
  const [source, target] = [await openVault(writer, from), await openVault(writer, to)]
  const planned = await planItem(await currentDek(writer, to), undefined, item)
  const arriving = await signItem(planned, { ...common, vaultId: to }, writer.identity)
  const leaves = { vaultId: from, base: source.head, content: source.content, terms: termsOf(source.head.payload) }
  const arrives = { vaultId: to, base: target.head, content: target.content, terms: termsOf(target.head.payload) }
  return {
    from: (await buildCommit({ ...common, ...leaves, moved: [item.itemId] }, writer.identity)).commit,
    to: (await buildCommit({ ...common, ...arrives, items: [arriving] }, writer.identity)).commit,
  }
}
