import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Nullable, SignedDocument } from './shapes.ts'

// The transparency log of the caller's organisation (docs/reference/protocol.md 5.9): enough to verify every answer, to replay every
// leaf, and to keep a copy. Hashes and leaves are base64, as in the transparency object.

const Hash = Type.String({ description: '32 bytes, base64' })
const Hashes = Type.Array(Hash)
const Bytes = Type.String({ description: 'base64' })
const Checkpoint = Type.String({ description: 'C2SP signed note: origin, size, root, signatures' })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Size = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const DocHash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256 of the payload, base64url' })
const StateName = Type.String({ maxLength: 200, pattern: '^[a-z]{1,16}(/[A-Za-z0-9:_-]{1,128}){0,3}$' })

/** The transparency object of docs/reference/protocol.md 5.4. */
export const TransparencyObject = closed({
  checkpoint: Checkpoint,
  consistency: Type.Optional(closed({ from: Size, hashes: Hashes })),
  tip: closed({ leaf: Bytes, hashes: Hashes }),
  map: Type.Array(
    closed({
      name: Type.String(),
      state: Type.Unknown({ description: 'The state under this name; null where absence is proven' }),
      siblings: Hashes,
      terminal: Nullable(Type.Array(Hash, { minItems: 2, maxItems: 2 })),
    }),
  ),
})

/** What a signed change of the directory is answered with. */
export const DirectoryReceipt = closed({ index: Count, transparency: TransparencyObject })

const Entry = closed({
  index: Count,
  leaf: Bytes,
  documents: Type.Optional(
    Type.String({ description: 'base64 of the canonical list of documents, where the leaf names it by its hash' }),
  ),
  updates: Type.Optional(
    Type.String({ description: 'base64 of the canonical list of updates, where the leaf names it by its hash' }),
  ),
})

const Width = {
  width: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 255, description: 'Of a partial tile; a full one has 256 and no width' }),
  ),
}
const Vkey = Type.String({
  maxLength: 512,
  description: 'Verifier key of a witness or an auditor, C2SP type 0x04: name+hash+base64',
})
/** Lines and not a text, so that nothing in them can be taken for the end of the checkpoint. */
const SignatureLine = Type.String({
  maxLength: 1024,
  pattern: '^\u2014 [^\\s+]{1,256} [A-Za-z0-9+/=]{8,512}$',
  description: 'One signature line of a signed note, without its newline',
})
const MAX_WITNESSES = 16
const Witnesses = closed({ witnesses: Type.Array(closed({ vkey: Vkey }), { maxItems: MAX_WITNESSES }) })
const RUNS_ORG = { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN'] } as const
const access = { kind: 'permission', permission: 'machine.transparency.read' } as const

/** A log.recover that is in the log. */
const Recovery = closed({ index: Count, docHash: DocHash })

export const transparency = {
  recovery: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/recovery',
    summary:
      'Every recovery of the log of your organisation; and while it is restored and nobody has stated so, the log that is kept',
    access,
    response: closed({
      restored: Nullable(
        closed({
          at: Type.String({ format: 'date-time' }),
          keptSize: Size,
          keptRoot: DocHash,
          recoverQuorum: Type.Integer({ minimum: 1, description: 'So many directory administrators have to sign' }),
        }),
      ),
      recoveries: Type.Array(Recovery),
    }),
    errors: ['leaf_not_found'],
  },
  recoveryStatement: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/recovery/:index',
    summary:
      'The statement at a leaf, proven: that it is there, who signed it, and that the log goes on from what it keeps',
    access,
    params: closed({ index: Count }),
    response: closed({
      statement: SignedDocument,
      inclusion: closed({ leaf: Bytes, hashes: Hashes }),
      genesis: SignedDocument,
      policies: Type.Array(SignedDocument),
      records: Type.Array(SignedDocument),
      capSets: Type.Array(SignedDocument),
      transparency: TransparencyObject,
    }),
    errors: ['leaf_not_found', 'recovery_not_found'],
  },
  checkpoint: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/checkpoint',
    summary: 'The newest signed checkpoint of the log of your organisation',
    access,
    response: closed({ checkpoint: Checkpoint, size: Size }),
    errors: ['leaf_not_found'],
  },
  entriesTile: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/tile/entries/:index',
    summary: 'The leaves of one tile: 256 from index·256 on, or the first `width` of them',
    access,
    params: closed({ index: Count }),
    query: closed(Width),
    response: closed({ entries: Type.Array(Bytes) }),
    errors: ['leaf_not_found'],
  },
  tile: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/tile/:level/:index',
    summary: 'The hashes of one tile (C2SP tlog-tiles): the roots over 256^level leaves each, from index·256 on',
    access,
    params: closed({ level: Type.Integer({ minimum: 0, maximum: 6 }), index: Count }),
    query: closed(Width),
    response: closed({ hashes: Hashes }),
    errors: ['leaf_not_found'],
  },
  entries: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/entries',
    summary: 'Leaves from `start` up to, not including, `end`, with the lists that large leaves name by hash',
    access,
    query: closed({ start: Count, end: Size }),
    response: closed({
      entries: Type.Array(Entry),
      size: Size,
      next: Nullable(
        Type.Integer({
          description: 'Where to go on; null if `end` or the end of the log is reached. An answer is cut at 4 MiB',
        }),
      ),
    }),
    errors: ['leaf_not_found'],
  },
  document: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/doc/:hash',
    summary:
      'A signed document that a leaf names. One about a vault or a project is for those on its access list, for owners and admins of the organisation, and for keys of the operator; a wrapped key also needs machine.vault.secret.read',
    access,
    params: closed({ hash: DocHash }),
    response: closed({ document: SignedDocument }),
    errors: ['document_not_found'],
  },
  proof: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/proof/:index',
    summary: 'Proof that a leaf is in the log of a size, with the checkpoint of that size',
    access,
    params: closed({ index: Count }),
    query: closed({ size: Type.Optional(Size) }),
    response: closed({ index: Count, size: Size, leafHash: Hash, hashes: Hashes, checkpoint: Checkpoint }),
    errors: ['leaf_not_found'],
  },
  addCosignatures: {
    api: 'machine',
    method: 'POST',
    path: '/transparency/cosignatures',
    summary:
      'Add cosignatures of registered witnesses to the checkpoint of a size; answers that carry this checkpoint carry them from then on',
    access,
    body: closed({ size: Size, signatures: Type.Array(SignatureLine, { minItems: 1, maxItems: MAX_WITNESSES }) }),
    response: closed({ checkpoint: Checkpoint, size: Size }),
    errors: ['leaf_not_found', 'witness_not_registered', 'invalid_document', 'invalid_signature'],
  },
  witnesses: {
    api: 'platform',
    method: 'GET',
    path: '/directory/witnesses',
    summary: 'The witnesses and auditors whose cosignatures the log of your organisation carries',
    access: RUNS_ORG,
    response: Witnesses,
  },
  setWitnesses: {
    api: 'platform',
    method: 'PUT',
    path: '/directory/witnesses',
    summary: 'Replace the list of witnesses and auditors. Whom clients believe is in their trust anchor, not here',
    access: RUNS_ORG,
    body: Witnesses,
    response: Witnesses,
    errors: ['invalid_document'],
  },
  state: {
    api: 'machine',
    method: 'GET',
    path: '/transparency/state',
    summary: 'What is current under a name, or that there is nothing, proven; from `have` also that the log only grew',
    access,
    query: closed({ name: StateName, have: Type.Optional(Size) }),
    response: TransparencyObject,
    errors: ['leaf_not_found'],
  },
} as const satisfies Routes
