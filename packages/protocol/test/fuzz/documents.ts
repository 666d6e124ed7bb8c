import { assetContent } from '../../src/attachments/checkpoint.ts'
import {
  capsSet,
  defaultPolicy,
  invite,
  keyAdd,
  keyRecover,
  keyRevoke,
  keyRotate,
  logRecover,
  orgGenesis,
  policySet,
  recoveryEnrol,
} from '../../src/directory/documents.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import { type Envelope, type Kind, makeDocument } from '../../src/identity/document.ts'
import { recoverySeal } from '../../src/user/recovery.ts'
import {
  aclSet,
  epochNew,
  itemDetail,
  projectAdmins,
  projectCreate,
  projectSet,
  vaultAdmins,
  vaultCreate,
  vaultHead,
} from '../../src/vault/documents.ts'
import { wrappedDek } from '../../src/wraps/wrapped-key.ts'
import type { Actors } from '../world/actors.ts'

// One document of every kind, each with all its members filled: what the parsers of documents start from.

export interface Sample {
  readonly kind: Kind<string, unknown>
  readonly envelope: Envelope
}

const text = (length: number): string => toBase64url(new Uint8Array(length).fill(0xa5))
const hash = text(32)
const salt = text(16)
const vaultId = `v${'a'.repeat(32)}`
const projectId = `p${'b'.repeat(32)}`
const tree = { root: hash, count: 1 }

const wrap = { ct: text(256), ct2: text(1088), box: text(81), alg: 'RSA-OAEP-256+ML-KEM-768' }

/** The members of each kind besides the common ones. */
const membersOf = ({ alice, bob, deploy, deployNext, hybrid }: Actors): readonly (readonly [unknown, object])[] => [
  [orgGenesis, { admins: [{ kid: alice.kid, key: alice.key.bundle }], policy: defaultPolicy(1), salt }],
  [keyAdd, { kid: hybrid.kid, key: hybrid.key.bundle, caps: ['agent'], invite: hash }],
  [
    keyRotate,
    {
      oldKid: deploy.kid,
      kid: deployNext.kid,
      key: deployNext.key.bundle,
      batch: [
        { vaultId, dekVersion: 1, wrapHash: hash },
        { vaultId, dekVersion: 2, wrapHash: hash },
      ],
    },
  ],
  [
    keyRecover,
    { principal: bob.key.principal, oldKids: [bob.kid], kid: bob.kid, key: bob.key.bundle, reason: 'compromised' },
  ],
  [keyRevoke, { kid: bob.kid, reason: 'removed', since: 7 }],
  [capsSet, { kid: bob.kid, caps: ['dir-admin', 'member'], prev: hash }],
  [
    policySet,
    {
      policyVersion: 2,
      policy: { ...defaultPolicy(2), provisioners: ['agent:ag_1'], console: 'a5'.repeat(32) },
      prev: hash,
    },
  ],
  [logRecover, { keptSize: 12, keptRoot: hash, lost: { size: 40, root: hash }, reason: 'disk failure', salt }],
  [recoveryEnrol, { recoveryKid: alice.kid, sealHash: hash }],
  [invite, { inviteId: 'inv_1234', inviteKey: text(44), caps: ['member'], expires: 99, note: 'Grüße' }],
  [vaultCreate, { admins: ['user:ou_alice', 'user:ou_bob1'], salt }],
  [vaultAdmins, { vaultId, adminsVersion: 2, admins: ['user:ou_alice'], prev: hash }],
  [
    aclSet,
    {
      vaultId,
      aclVersion: 1,
      prev: '',
      acl: [
        { p: 'agent:ag_1', role: 'read' },
        { p: 'user:ou_alice', role: 'admin' },
      ],
      deferRotation: true,
    },
  ],
  [
    epochNew,
    {
      vaultId,
      dekVersion: 2,
      dekCommit: hash,
      prevDekVersion: 1,
      reason: 'scheduled',
      aclVersion: 1,
      aclHash: hash,
    },
  ],
  [
    vaultHead,
    {
      vaultId,
      headVersion: 2,
      prev: hash,
      meta: { name: 'Payments', classification: 'restricted', status: 'active' },
      aclVersion: 1,
      aclHash: hash,
      dekVersion: 1,
      dekCommit: hash,
      oldestDek: 1,
      items: tree,
      env: tree,
      assets: tree,
      changes: [
        { op: 'asset', id: 'ast_1', version: 1 },
        { op: 'put', id: 'itm_1', version: 1 },
      ],
      salt,
    },
  ],
  [
    itemDetail,
    {
      vaultId,
      itemId: 'itm_1',
      itemVersion: 1,
      prev: '',
      name: 'Database',
      website: 'https://example.test',
      status: 'active',
      fields: [
        { ct: hash, dekVersion: 1, env: true, fieldId: 'fld_1', label: 'A', rev: 1, type: 1 },
        { ct: hash, dekVersion: 1, env: false, fieldId: 'fld_2', label: 'B', rev: 2, type: 0 },
      ],
      assets: ['ast_1'],
      salt,
    },
  ],
  [projectCreate, { admins: ['user:ou_alice'], salt }],
  [projectAdmins, { projectId, adminsVersion: 2, admins: ['user:ou_alice'], prev: hash }],
  [
    projectSet,
    { projectId, projectVersion: 1, slug: 'shop', name: 'Shop', status: 'active', vaults: [vaultId], prev: '' },
  ],
  [wrappedDek, { vaultId, dekVersion: 1, dekCommit: hash, to: hybrid.kid, ...wrap }],
  [
    assetContent,
    {
      vaultId,
      itemId: 'itm_1',
      assetId: 'ast_1',
      assetVersion: 1,
      enc: 'FLOE-GCM256-IV256-1M',
      dekVersion: 1,
      cek: text(66),
      ciphertextSize: 106,
      ciphertextHash: hash,
      plaintextSize: 0,
      plaintextHash: hash,
      meta: text(92),
      salt,
    },
  ],
  [recoverySeal, { bundleVersion: 1, to: hybrid.kid, ...wrap }],
]

export async function sampleDocuments(actors: Actors): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  for (const [untyped, members] of membersOf(actors)) {
    const kind = untyped as Kind<string, object>
    const envelope = await makeDocument(kind, { org: 'org_acme', at: 5, ...members }, [actors.alice, actors.worker])
    samples.push({ kind, envelope })
  }
  return samples
}
