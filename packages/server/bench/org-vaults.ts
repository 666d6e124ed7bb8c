import {
  buildCommit,
  type Commit,
  createVault,
  type Dek,
  documentHash,
  type Envelope,
  type Identity,
  type ItemBase,
  type ItemEdit,
  peekDocument,
  planItem,
  signItem,
  termsOf,
  textValue,
  type VaultContent,
  type VaultHeadPayload,
  vaultHead,
} from '@strongroom/protocol'
import type pg from 'pg'
import { insertRows } from './bulk.ts'
import type { OrgLog } from './org-log.ts'

// Vaults as their writer sees them: what is in them, and what the next commit builds on. Beside the log they give the rows that
// lists and access checks are answered from.

interface Stored extends ItemBase {
  readonly envelope: Envelope
}

export interface WrittenVault {
  readonly vaultId: string
  readonly name: string
  readonly owner: Identity
  readonly readers: readonly Identity[]
  readonly dek: Dek
  readonly createHash: string
  content: VaultContent
  head: { payload: VaultHeadPayload; hash: string }
  headIndex: number
  readonly items: Map<string, Stored>
  readonly values: Map<string, string>
}

const AT = Date.now()

const headOf = (commit: Commit): WrittenVault['head'] => peekDocument(vaultHead, commit.head)
const isAct = ({ payloadType }: Envelope): boolean => !payloadType.includes('item-detail')
export const actsOf = ({ head, docs }: Commit): Envelope[] => [head, ...docs.filter(isAct)]

export async function makeVault(
  log: OrgLog,
  name: string,
  owner: Identity,
  readers: readonly Identity[] = [],
): Promise<WrittenVault> {
  const everybody = [owner, ...readers]
  const { commit, vaultId, dek, content } = await createVault(
    {
      org: log.orgId,
      meta: { name, classification: 'confidential', status: 'active' },
      acl: everybody.map(({ key }, i) => ({ p: key.principal, role: i === 0 ? 'admin' : 'read' })),
      recipients: everybody.map(({ key }) => key),
      at: AT,
    },
    owner,
  )
  const { index } = await log.append(actsOf(commit))
  const create = commit.docs[0] as Envelope
  return {
    vaultId,
    name,
    owner,
    readers,
    dek,
    createHash: documentHash(create),
    content,
    head: headOf(commit),
    headIndex: index,
    items: new Map(),
    values: new Map(),
  }
}

export const itemEdit = (itemId: string, name: string, fields: Readonly<Record<string, string>>): ItemEdit => ({
  itemId,
  name,
  website: 'https://example.test',
  status: 'active',
  assets: [],
  fields: Object.entries(fields).map(([label, value]) => ({
    fieldId: `fld_${itemId}_${label}`,
    label,
    env: label === label.toUpperCase(),
    value: textValue(value),
  })),
})

/** The next commit of a vault. The vault is then as if the server had taken it. */
export async function nextCommit(
  org: string,
  vault: WrittenVault,
  edits: readonly ItemEdit[],
  meta: Partial<VaultHeadPayload['meta']> = {},
): Promise<Commit> {
  const place = { org, vaultId: vault.vaultId, at: AT }
  const items = []
  for (const edit of edits)
    items.push(await signItem(await planItem(vault.dek, vault.items.get(edit.itemId), edit), place, vault.owner))
  const { content, head } = vault
  const terms = { ...termsOf(head.payload), meta: { ...head.payload.meta, ...meta } }
  const built = await buildCommit({ ...place, base: head, content, terms, items }, vault.owner)
  vault.content = built.content
  vault.head = headOf(built.commit)
  for (const { detail, hash, envelope, values } of items) {
    vault.items.set(detail.itemId, { detail, hash, envelope })
    for (const [fieldId, value] of values) vault.values.set(fieldId, value)
  }
  return built.commit
}

/** The same, and into the log. */
export async function write(
  log: OrgLog,
  vault: WrittenVault,
  edits: readonly ItemEdit[],
  meta: Partial<VaultHeadPayload['meta']> = {},
): Promise<void> {
  const commit = await nextCommit(log.orgId, vault, edits, meta)
  vault.headIndex = (await log.append(actsOf(commit))).index
}

export interface Place {
  readonly orgId: string
  readonly tenantId: string
}

export async function writeVaultRows(
  client: pg.Client,
  { orgId, tenantId }: Place,
  vaults: readonly WrittenVault[],
): Promise<void> {
  const at = new Date(AT)
  await insertRows(client, 'vault', {
    org_id: ['text', vaults.map(() => orgId)],
    vault_id: ['text', vaults.map(({ vaultId }) => vaultId)],
    tenant_id: ['text', vaults.map(() => tenantId)],
    name: ['text', vaults.map(({ head }) => head.payload.meta.name)],
    classification: ['text', vaults.map(({ head }) => head.payload.meta.classification)],
    status: ['text', vaults.map(({ head }) => head.payload.meta.status)],
    head_version: ['bigint', vaults.map(({ head }) => head.payload.headVersion)],
    head_hash: ['text', vaults.map(({ head }) => head.hash)],
    head_index: ['bigint', vaults.map(({ headIndex }) => headIndex)],
    item_count: ['integer', vaults.map(({ items }) => items.size)],
    created_by: ['text', vaults.map(({ owner }) => owner.key.principal)],
    created_at: ['timestamptz', vaults.map(() => at)],
    updated_at: ['timestamptz', vaults.map(() => at)],
    admins_chain: ['single', vaults.map(({ createHash }) => createHash)],
  })
  const access = vaults.flatMap(({ vaultId, owner, readers }) =>
    [owner, ...readers].map(({ key }, i) => ({ vaultId, principal: key.principal, role: i === 0 ? 'admin' : 'read' })),
  )
  await insertRows(client, 'vault_access', {
    org_id: ['text', access.map(() => orgId)],
    vault_id: ['text', access.map(({ vaultId }) => vaultId)],
    principal: ['text', access.map(({ principal }) => principal)],
    role: ['text', access.map(({ role }) => role)],
    since_index: ['bigint', access.map(() => 0)],
  })
  await writeItemRows(client, orgId, vaults)
}

async function writeItemRows(client: pg.Client, orgId: string, vaults: readonly WrittenVault[]): Promise<void> {
  const at = new Date(AT)
  const items = vaults.flatMap((vault) => [...vault.items.values()].map((item) => ({ vault, ...item })))
  await insertRows(client, 'vault_item', {
    org_id: ['text', items.map(() => orgId)],
    vault_id: ['text', items.map(({ vault }) => vault.vaultId)],
    item_id: ['text', items.map(({ detail }) => detail.itemId)],
    item_version: ['bigint', items.map(({ detail }) => detail.itemVersion)],
    name: ['text', items.map(({ detail }) => detail.name)],
    website: ['text', items.map(({ detail }) => detail.website)],
    status: ['text', items.map(({ detail }) => detail.status)],
    field_count: ['integer', items.map(({ detail }) => detail.fields.length)],
    detail_hash: ['text', items.map(({ hash }) => hash)],
    detail: ['jsonb', items.map(({ envelope }) => JSON.stringify(envelope))],
    head_version: ['bigint', items.map(({ vault }) => vault.head.payload.headVersion)],
    changed_index: ['bigint', items.map(({ vault }) => vault.headIndex)],
    created_at: ['timestamptz', items.map(() => at)],
    updated_at: ['timestamptz', items.map(() => at)],
  })
  const fields = items.flatMap(({ vault, detail }) =>
    detail.fields.map((field) => ({ ...field, itemId: detail.itemId, vault })),
  )
  await insertRows(client, 'vault_field', {
    org_id: ['text', fields.map(() => orgId)],
    vault_id: ['text', fields.map(({ vault }) => vault.vaultId)],
    item_id: ['text', fields.map(({ itemId }) => itemId)],
    field_id: ['text', fields.map(({ fieldId }) => fieldId)],
    label: ['text', fields.map(({ label }) => label)],
    env: ['boolean', fields.map(({ env }) => env)],
    ct: ['text', fields.map(({ ct }) => ct)],
    dek_version: ['bigint', fields.map(({ dekVersion }) => dekVersion)],
    rev: ['bigint', fields.map(({ rev }) => rev)],
    value: ['text', fields.map(({ vault, fieldId }) => vault.values.get(fieldId))],
  })
}
