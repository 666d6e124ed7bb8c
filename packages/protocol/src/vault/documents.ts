import { salt } from '../directory/documents.ts'
import { bool, hash, hashOrNone, integer, line, literal, type Of, record, sortedList } from '../encoding/shape.ts'
import { defineKind, type PayloadOf } from '../identity/document.ts'
import { id, principalText, projectIdText, vaultIdText } from '../identity/identifiers.ts'

// Sections 3.6, 4.7, 6.1 and 6.2: the documents of a vault and of a project.

const dekVersion = integer(1, 0xffff_ffff)
const version = integer(1)
const MAX_PRINCIPALS = 2000
const admins = sortedList(principalText, 64, (principal) => principal)

/** Its hash is the vault id, so a vault cannot be replaced. */
export const vaultCreate = defineKind('vault.create', { admins, salt })

export const vaultAdmins = defineKind('vault.admins', {
  vaultId: vaultIdText,
  adminsVersion: integer(2),
  admins,
  prev: hash,
})

export const ROLES = ['read', 'write', 'admin'] as const
export type Role = (typeof ROLES)[number]
const aclEntry = record({ p: principalText, role: literal(...ROLES) })
export type AclEntry = Of<typeof aclEntry>

/** Full replacement. `admin` entries repeat the admin set for display; authority comes from the admin chain. */
export const aclSet = defineKind(
  'acl.set',
  {
    vaultId: vaultIdText,
    aclVersion: version,
    prev: hashOrNone,
    acl: sortedList(aclEntry, MAX_PRINCIPALS, (entry) => entry.p),
  },
  { deferRotation: bool },
)

export const epochNew = defineKind('epoch.new', {
  vaultId: vaultIdText,
  dekVersion,
  dekCommit: hash,
  prevDekVersion: integer(0, 0xffff_ffff),
  reason: literal('create', 'member-removed', 'key-compromised', 'scheduled', 'repair'),
  aclVersion: version,
  aclHash: hash,
})

export const CLASSIFICATIONS = ['public', 'internal', 'confidential', 'restricted'] as const
export const STATUSES = ['active', 'archived'] as const
const status = literal(...STATUSES)

export const MAX_NAME = 200
export const MAX_WEBSITE = 2048
export const MAX_CHANGES = 500
export const MAX_ITEM_FIELDS = 200
const MAX_ITEM_ASSETS = 200

const vaultMeta = record({ name: line(MAX_NAME), classification: literal(...CLASSIFICATIONS), status })
export type VaultMeta = Of<typeof vaultMeta>

/** The root and size of one of the three maps a head commits to. */
const tree = record({ root: hash, count: integer() })
export type Tree = Of<typeof tree>

const change = record({ op: literal('put', 'asset'), id, version })
export type HeadChange = Of<typeof change>

/** Section 6.1: the signed summary of a whole vault at one version. */
export const vaultHead = defineKind('vault-head', {
  vaultId: vaultIdText,
  headVersion: version,
  prev: hashOrNone,
  meta: vaultMeta,
  aclVersion: version,
  aclHash: hash,
  dekVersion,
  dekCommit: hash,
  oldestDek: dekVersion,
  items: tree,
  env: tree,
  assets: tree,
  changes: sortedList(change, MAX_CHANGES, (entry) => `${entry.op} ${entry.id}`),
  salt,
})
export type VaultHeadPayload = PayloadOf<typeof vaultHead>

const field = record({
  ct: hash,
  dekVersion,
  env: bool,
  fieldId: id,
  label: line(MAX_NAME),
  rev: version,
  type: literal(0, 1, 2),
})
export type DetailField = Of<typeof field>

/** Section 6.2: one item, signed by its last writer. */
export const itemDetail = defineKind('item-detail', {
  vaultId: vaultIdText,
  itemId: id,
  itemVersion: version,
  prev: hashOrNone,
  name: line(MAX_NAME),
  website: line(MAX_WEBSITE),
  status,
  fields: sortedList(field, MAX_ITEM_FIELDS, (entry) => entry.fieldId),
  assets: sortedList(id, MAX_ITEM_ASSETS, (assetId) => assetId),
  salt,
})
export type ItemDetailPayload = PayloadOf<typeof itemDetail>

/** What lists return for each item; its hash is the map value under `item/<itemId>`. */
export const itemRow = record({
  itemId: id,
  itemVersion: version,
  name: line(MAX_NAME),
  website: line(MAX_WEBSITE),
  status,
  fieldCount: integer(0, MAX_ITEM_FIELDS),
  detailHash: hash,
})
export type ItemRow = Of<typeof itemRow>

/** What an environment read returns for each field, beside its ciphertext; map name `env/<fieldId>`. */
export const envRow = record({ ct: hash, dekVersion, fieldId: id, itemId: id, label: line(MAX_NAME), rev: version })
export type EnvRow = Of<typeof envRow>

export const projectCreate = defineKind('project.create', { admins, salt })
export const projectAdmins = defineKind('project.admins', {
  projectId: projectIdText,
  adminsVersion: integer(2),
  admins,
  prev: hash,
})
export const projectSet = defineKind('project.set', {
  projectId: projectIdText,
  projectVersion: version,
  slug: line(64),
  name: line(MAX_NAME),
  status,
  vaults: sortedList(vaultIdText, 256, (vaultId) => vaultId),
  prev: hashOrNone,
})
export type ProjectSetPayload = PayloadOf<typeof projectSet>
