import {
  type CheckedKey,
  checkKey,
  claimedKind,
  type Envelope,
  keyAdd,
  keyRecover,
  keyRotate,
  orgGenesis,
  peekDocument,
  principalOf,
} from '@strongroom/protocol'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'

// Section 4.5 of docs/reference/protocol.md: who signed what an answer brings, who vouched for them, up to the genesis.

export interface SignedDocuments {
  /** The documents that were asked for, by hash. */
  readonly documents: ReadonlyMap<string, Envelope>
  /** Names of the keys' states, all of which an answer must prove. */
  readonly names: readonly string[]
  readonly genesis: Envelope
  readonly policies: readonly Envelope[]
  readonly records: readonly Envelope[]
  readonly capSets: readonly Envelope[]
}

/** A document of an answer; `name` is that of the key it vouches for. */
export interface SignedRow {
  readonly name: string | null
  readonly hash: string
  readonly kind: string
  readonly envelope: Envelope
}

/**
 * Documents by their hash, and the directory documents that a reader needs to judge their signatures and those of `kids`. The
 * look-ups stand apart (`offset 0`) so that each uses its index under row-level security.
 */
export async function readSigned(
  db: Db,
  orgId: string,
  hashes: readonly string[],
  kids: readonly string[] = [],
): Promise<SignedDocuments> {
  const { rows } = await sql<SignedRow>`
    with recursive asked as materialized (
      select doc_hash as hash, kind, envelope from log_document
      where org_id = ${orgId} and doc_hash = any(${[...new Set(hashes)]}::text[])
      union all
      select doc_hash, kind, envelope from log_document
      where org_id = ${orgId} and kind in ('org.genesis', 'policy.set')
    ), reached (name) as (
      (
        select 'kid/' || (s ->> 'keyid') from asked, jsonb_array_elements(envelope -> 'signatures') as s
        union select 'kid/' || unnest(${[...kids]}::text[])
      )
      union
      select 'kid/' || (signature ->> 'keyid')
      from reached r
      cross join lateral (
        select state from map_state where org_id = ${orgId} and name = r.name and principal is not null offset 0
      ) as entry
      cross join lateral (
        select entry.state ->> 'rec' as hash
        union all select c ->> 'docHash' from jsonb_array_elements(entry.state -> 'capSets') as c
      ) as named
      cross join lateral (
        select envelope from log_document where org_id = ${orgId} and doc_hash = named.hash offset 0
      ) as document
      cross join lateral (select * from jsonb_array_elements(document.envelope -> 'signatures') limit 8) as s (signature)
    ), vouching as (
      select r.name, d.doc_hash as hash, d.kind, d.envelope from reached r
      cross join lateral (
        select state from map_state where org_id = ${orgId} and name = r.name offset 0
      ) as entry
      cross join lateral (
        select entry.state ->> 'rec' as hash
        union all select c ->> 'docHash' from jsonb_array_elements(entry.state -> 'capSets') as c
      ) as named
      cross join lateral (
        select * from log_document where org_id = ${orgId} and doc_hash = named.hash offset 0
      ) as d
    )
    select null as name, hash, kind, envelope from asked
    union all select name, hash, kind, envelope from vouching`.execute(db)
  return sortDocuments(rows)
}

export function sortDocuments(rows: readonly SignedRow[]): SignedDocuments {
  const documents = new Map(rows.map(({ hash, envelope }) => [hash, envelope]))
  const ofKind = (...kinds: string[]): Envelope[] => [
    ...new Map(rows.filter(({ kind }) => kinds.includes(kind)).map(({ hash, envelope }) => [hash, envelope])).values(),
  ]
  const [genesis] = ofKind('org.genesis')
  if (!genesis) throw new ApiError('leaf_not_found')
  return {
    documents,
    names: [...new Set(rows.flatMap(({ name }) => name ?? []))],
    genesis,
    policies: ofKind('policy.set').sort((a, b) => versionOf(a) - versionOf(b)),
    records: ofKind('key.add', 'key.rotate', 'key.recover'),
    capSets: ofKind('caps.set'),
  }
}

const versionOf = ({ payload }: Envelope): number =>
  (JSON.parse(Buffer.from(payload, 'base64').toString()) as { policyVersion: number }).policyVersion

/** A key id is the hash of its key: what was checked once stays right for as long as the process lives. */
const checked = new Map<string, CheckedKey>()
const MAX_CHECKED = 10_000

/** The public key under a key id, whatever its status; undefined if the directory never had it. */
export async function publicKeyOf(db: Db, orgId: string, kid: string): Promise<CheckedKey | undefined> {
  const { rows } = await sql<{ envelope: Envelope }>`
    select d.envelope from (
      select state ->> 'rec' as hash from map_state where org_id = ${orgId} and name = ${`kid/${kid}`} offset 0
    ) as m
    cross join lateral (select envelope from log_document where org_id = ${orgId} and doc_hash = m.hash offset 0) as d`.execute(
    db,
  )
  return rows[0] && keyIn(rows[0].envelope, kid)
}

/** The key that a record brings in under this key id. */
export function keyIn(record: Envelope, kid: string): CheckedKey {
  const known = checked.get(kid)
  if (known) return known
  const key = checkKey(kid, bundleIn(record, kid))
  if (checked.size >= MAX_CHECKED) checked.clear()
  checked.set(kid, key)
  return key
}

function bundleIn(envelope: Envelope, kid: string): unknown {
  switch (claimedKind(envelope)) {
    case 'org.genesis':
      return peekDocument(orgGenesis, envelope).payload.admins.find((admin) => admin.kid === kid)?.key
    case 'key.add':
      return peekDocument(keyAdd, envelope).payload.key
    case 'key.rotate':
      return peekDocument(keyRotate, envelope).payload.key
    case 'key.recover':
      return peekDocument(keyRecover, envelope).payload.key
    default:
      throw new Error(`no key is brought by a ${claimedKind(envelope)} document of ${principalOf(kid)}`)
  }
}
