import {
  addSignatures,
  type Cap,
  capsSet,
  createVault,
  type Dek,
  defaultPolicy,
  documentHash,
  type Envelope,
  type Identity,
  type KidState,
  keyRecover,
  keyRevoke,
  kidName,
  makeDocument,
  POLICY_NAME,
  type PolicyState,
  policySet,
  recoveryEnrol,
  rotateKey,
} from '@strongroom/protocol'
import fc from 'fast-check'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identityOf } from '../../test/actors.ts'
import { type Harness, startHarness } from '../../test/harness.ts'
import { audit, logCounts } from '../../test/log-audit.ts'
import { type LogOrg, makeGenesis, makeLogOrg, T0 } from '../../test/log-org.ts'
import { inOrg } from '../context.ts'
import type { Tables } from '../db/schema.ts'
import { appendAct } from './append.ts'

// Catches: an act that is accepted without the rules, a leaf that an auditor cannot replay, anything left behind by a refusal, a
// map that drifts from its root, a time that runs backwards, a signature kept that nobody could verify, one log that reads
// another's states.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const agent = (key: Parameters<typeof identityOf>[0], id: string) => identityOf(key, `agent:ag_${id}`)
const place = (org: LogOrg) => ({ org: org.orgId, at: T0 })

async function vaultActs(org: LogOrg, readers: readonly Identity[]): Promise<{ docs: Envelope[]; dek: Dek }> {
  const acl = [
    { p: org.founder.key.principal, role: 'admin' as const },
    ...readers.map(({ key }) => ({ p: key.principal, role: 'read' as const })),
  ]
  const recipients = [org.founder, ...readers].map(({ key }) => key)
  const meta = { name: 'Payments', classification: 'confidential' as const, status: 'active' as const }
  const { commit, dek } = await createVault({ ...place(org), meta, acl, recipients }, org.founder)
  return { docs: [commit.head, ...commit.docs], dek }
}

const stateOf = <T>(org: LogOrg, name: string): Promise<T> =>
  inOrg(h.deps, org.orgId, async (db) => {
    const row = await db.selectFrom('map_state').select('state').where('name', '=', name).executeTakeFirstOrThrow()
    return row.state as T
  })

const revocation = (org: LogOrg, kid: string, reason: 'removed' | 'compromised' | 'superseded') =>
  makeDocument(keyRevoke, { ...place(org), kid, reason }, [org.founder])

async function capsFor(org: LogOrg, kid: string, caps: readonly Cap[]): Promise<Envelope> {
  const { capSets } = await stateOf<KidState>(org, kidName(kid))
  return makeDocument(capsSet, { ...place(org), kid, caps, prev: capSets.at(-1)?.docHash ?? '' }, [org.founder])
}

async function policyFor(org: LogOrg, rotationGraceMs: number): Promise<Envelope> {
  const { policyVersion, policyHash } = await stateOf<PolicyState>(org, POLICY_NAME)
  const members = {
    policyVersion: policyVersion + 1,
    policy: { ...defaultPolicy(1), rotationGraceMs },
    prev: policyHash,
  }
  return makeDocument(policySet, { ...place(org), ...members }, [org.founder])
}

/** Every kind of directory act once, and vaults whose grants the keys carry. */
async function fullHistory(org: LogOrg): Promise<void> {
  const bob = await identityOf('bob', 'user:ou_bob1')
  const carol = await identityOf('carol', 'user:ou_carol')
  const deploy = await agent('deploy', 'deploy')
  const next = await agent('deployNext', 'deploy')
  const worker = await agent('worker', 'worker')
  for (const who of [bob, carol, deploy, worker]) await org.append([await org.keyAdd(who)])
  const one = await vaultActs(org, [bob, deploy, worker])
  const two = await vaultActs(org, [deploy])
  await org.append(one.docs)
  await org.append(two.docs)
  const { event, replacements } = await rotateKey({ ...place(org), held: [one.dek, two.dek] }, deploy, next)
  await org.append([event, ...replacements])
  // The old key has ended, and its grants with it; what it once knew is still a duty.
  await org.append([await revocation(org, deploy.kid, 'compromised')])
  await org.append([await capsFor(org, bob.kid, ['member', 'recovery'])])
  await org.append([
    await makeDocument(recoveryEnrol, { ...place(org), recoveryKid: bob.kid, sealHash: documentHash(org.genesis) }, [
      carol,
    ]),
  ])
  await org.append([await policyFor(org, 3_600_000)])
  await org.append([await revocation(org, worker.kid, 'compromised')])
  const bobNext = await identityOf('malloryNext', 'user:ou_bob1')
  const members = { principal: bob.key.principal, oldKids: [bob.kid], kid: bobNext.kid, key: bobNext.key.bundle }
  await org.append([
    await makeDocument(keyRecover, { ...place(org), ...members, reason: 'lost' as const }, [org.founder, bobNext]),
  ])
}

it('logs every kind of directory act so that an auditor who replays all leaves reaches the same root', async () => {
  const org = await makeLogOrg(h, 'all acts')
  await fullHistory(org)
  const { ledger, leaves } = await audit(h.deps, org)
  expect(leaves).toHaveLength(14)
  const { map_root, size } = await inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('log_state').select(['map_root', 'size']).executeTakeFirstOrThrow(),
  )
  expect(size).toBe(14)
  expect(map_root).toBe(Buffer.from(ledger.map.root()).toString('base64url'))
})

it('keeps the root of the protocol’s map through random acts of random people', async () => {
  const org = await makeLogOrg(h, 'random acts')
  const people = await Promise.all(
    Array.from({ length: 12 }, (_, i) => agent(i % 2 === 0 ? 'deploy' : 'worker', `r${i}xx`)),
  )
  const acts = fc.array(fc.tuple(fc.constantFrom('add', 'revoke', 'policy', 'vault', 'caps'), fc.nat(11)), {
    minLength: 25,
    maxLength: 25,
  })
  const attempt = async (kind: string, who: Identity): Promise<Envelope[]> => {
    if (kind === 'add') return [await org.keyAdd(who)]
    if (kind === 'revoke') return [await revocation(org, who.kid, 'removed')]
    if (kind === 'policy') return [await policyFor(org, who.kid.length)]
    if (kind === 'caps') return [await capsFor(org, org.founder.kid, ['dir-admin', 'member'])]
    return (await vaultActs(org, [who])).docs
  }
  await fc.assert(
    fc.asyncProperty(acts, async (chosen) => {
      for (const [kind, i] of chosen)
        await org.append(await attempt(kind, people[i] as Identity)).catch((error: { status?: number }) => {
          // A key added twice, revoked before it was added: refused, and nothing of it remains.
          if (error.status === undefined || error.status >= 500) throw error
        })
      const { ledger } = await audit(h.deps, org)
      const { map_root } = await inOrg(h.deps, org.orgId, (db) =>
        db.selectFrom('log_state').select('map_root').executeTakeFirstOrThrow(),
      )
      expect(map_root).toBe(Buffer.from(ledger.map.root()).toString('base64url'))
    }),
    { numRuns: 3 },
  )
})

it('serves the lists of a leaf that changes more than it can name', async () => {
  const org = await makeLogOrg(h, 'large leaf')
  const readers = await Promise.all(Array.from({ length: 140 }, (_, i) => agent('deploy', `many${i}`)))
  for (const who of readers) await org.append([await org.keyAdd(who)])
  const { docs } = await vaultActs(org, readers)
  const { index } = await org.append(docs)
  const row = await inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('log_leaf').selectAll().where('leaf_index', '=', index).executeTakeFirstOrThrow(),
  )
  expect([row.updates !== null, row.documents !== null]).toEqual([true, true])
  expect((await audit(h.deps, org)).leaves).toHaveLength(142)
})

it('costs at most five statements for a key that is endorsed, however long the log is', async () => {
  const org = await makeLogOrg(h, 'statements')
  await fullHistory(org)
  const statements: string[] = []
  const kysely = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: h.deps.database.pool }),
    log: ({ query }) => {
      statements.push(query.sql)
    },
  })
  const docs = [await org.keyAdd(await agent('hybrid', 'counted'))]
  await inOrg({ database: { ...h.deps.database, kysely } }, org.orgId, async (db) => {
    statements.length = 0
    await appendAct(h.deps, db, org.orgId, { docs })
    expect(statements).toHaveLength(5)
  })
})

describe('a refused act', () => {
  const refusals: readonly [string, string, string, (org: LogOrg) => Promise<Envelope[]>][] = [
    ['a key that is there already', 'log_conflict', 'bad_transition', async (org) => [await org.keyAdd(org.founder)]],
    [
      'an endorsement by somebody without the right',
      'signer_not_authorised',
      'endorser_not_admin',
      async (org) => {
        const bob = await identityOf('bob', 'user:ou_bob1')
        await org.append([await org.keyAdd(bob)])
        return [await revoked(org, bob)]
      },
    ],
    [
      'a document somebody altered after it was signed',
      'invalid_signature',
      'bad_signature',
      async (org) => {
        const signed = await org.keyAdd(await agent('deploy', 'altered'))
        const other = await org.keyAdd(await agent('worker', 'altered'))
        const [endorser] = other.signatures
        return [{ ...signed, signatures: [endorser as never, ...signed.signatures.slice(1)] }]
      },
    ],
    [
      'a document of another organisation',
      'invalid_document',
      'genesis_mismatch',
      async (org) => {
        const other = await makeLogOrg(h, 'elsewhere')
        const mine = await agent('deploy', 'foreign')
        expect(other.orgId).not.toBe(org.orgId)
        return [await other.keyAdd(mine)]
      },
    ],
    [
      'a second genesis',
      'log_conflict',
      'bad_transition',
      async (org) => [await makeGenesis(org.orgId, [org.founder])],
    ],
    [
      'documents that make no act',
      'invalid_document',
      'bad_transition',
      async (org) => [org.genesis, await org.keyAdd(await agent('deploy', 'formless'))],
    ],
    [
      'a rotation that leaves a grant out',
      'incomplete_replacement_batch',
      'incomplete_batch',
      async (org) => {
        const deploy = await agent('deploy', 'partial')
        await org.append([await org.keyAdd(deploy)])
        const one = await vaultActs(org, [deploy])
        const two = await vaultActs(org, [deploy])
        await org.append(one.docs)
        await org.append(two.docs)
        const { event, replacements } = await rotateKey(
          { ...place(org), held: [one.dek] },
          deploy,
          await agent('deployNext', 'partial'),
        )
        return [event, ...replacements]
      },
    ],
    [
      'a head that does not follow the current one',
      'vault_head_conflict',
      'head_conflict',
      async (org) => {
        const { docs } = await vaultActs(org, [])
        await org.append(docs)
        return docs.filter(({ payloadType }) => payloadType.includes('vault-head'))
      },
    ],
    [
      'bytes that are no document',
      'invalid_document',
      'malformed',
      async (org) => [{ ...org.genesis, payload: 'e30' }],
    ],
    [
      'a signature by a key that is not in the directory',
      'invalid_signature',
      'unknown_signer',
      async (org) => {
        const stranger = await identityOf('mallory', 'user:ou_mallory')
        return [await addSignatures(await org.keyAdd(await agent('deploy', 'crowded')), [stranger])]
      },
    ],
    [
      'a signature under a name no database can hold',
      'invalid_document',
      'malformed',
      async (org) => {
        const signed = await org.keyAdd(await agent('deploy', 'nul'))
        return [{ ...signed, signatures: [...signed.signatures, { keyid: '\u0000', sig: 'AA==' }] }]
      },
    ],
  ]
  const revoked = (org: LogOrg, by: Identity): Promise<Envelope> =>
    makeDocument(capsSet, { ...place(org), kid: by.kid, caps: ['dir-admin', 'member'], prev: '' }, [by])

  it.each(refusals)('%s: %s', async (title, code, rule, make) => {
    const org = await makeLogOrg(h, `refused ${title}`.slice(0, 60))
    const docs = await make(org)
    const before = await logCounts(h.deps, org.orgId)
    await expect(org.append(docs)).rejects.toMatchObject({ code, details: { rule } })
    expect(await logCounts(h.deps, org.orgId)).toEqual(before)
    await audit(h.deps, org)
  })

  it('of a kind the caller may not bring is refused after all rules held', async () => {
    const org = await makeLogOrg(h, 'not allowed')
    const { docs } = await vaultActs(org, [])
    const before = await logCounts(h.deps, org.orgId)
    const attempt = inOrg(h.deps, org.orgId, (db) => appendAct(h.deps, db, org.orgId, { docs, allowed: ['key.add'] }))
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_document', details: { t: 'vault.commit' } })
    expect(await logCounts(h.deps, org.orgId)).toEqual(before)
  })
})

it('gives a leaf no earlier time than the one before it, also when the clock of the server goes back', async () => {
  const org = await makeLogOrg(h, 'clocks')
  const at = async (now: number, id: string): Promise<number> => {
    const docs = [await org.keyAdd(await agent('worker', id))]
    const deps = { ...h.deps, now: () => new Date(now) }
    await inOrg(deps, org.orgId, (db) => appendAct(deps, db, org.orgId, { docs }))
    return inOrg(
      deps,
      org.orgId,
      async (db) => (await db.selectFrom('log_state').select('last_at').executeTakeFirstOrThrow()).last_at,
    )
  }
  const future = Date.now() + 60_000
  expect([await at(future, 'later'), await at(future - 30_000, 'earlier')]).toEqual([future, future])
  await audit(h.deps, org)
})

it('lets no organisation see a leaf, a document, a state or a checkpoint of another', async () => {
  const acme = await makeLogOrg(h, 'acme')
  const globex = await makeLogOrg(h, 'globex')
  await acme.append([await acme.keyAdd(await agent('deploy', 'mine'))])
  const seen = await inOrg(h.deps, globex.orgId, async (db) => {
    const tables = [
      'log_leaf',
      'log_node',
      'log_document',
      'log_checkpoint',
      'log_state',
      'map_state',
      'map_node',
    ] as const
    const orgs = new Set<string>()
    for (const table of tables)
      for (const { org_id } of await db.selectFrom(table).select('org_id').execute()) orgs.add(org_id)
    return [...orgs]
  })
  expect(seen).toEqual([globex.orgId])
})

it('does not let the server change or remove what was logged', async () => {
  const org = await makeLogOrg(h, 'append only')
  const frozen = ['log_leaf', 'log_node', 'log_document', 'log_checkpoint']
  const statements = [
    ...frozen.flatMap((table) => [`update ${table} set org_id = org_id`, `delete from ${table}`]),
    ...['log_state', 'map_state', 'map_node'].map((table) => `delete from ${table}`),
    ...frozen.map((table) => `truncate ${table}`),
  ]
  for (const statement of statements)
    await expect(
      inOrg(h.deps, org.orgId, (db) => sql.raw(statement).execute(db)),
      statement,
    ).rejects.toThrow(/permission denied/)
})

it('stores no leaf without its checkpoint and no checkpoint without its leaf', async () => {
  const org = await makeLogOrg(h, 'pairs')
  const { orgId } = org
  const leaf = inOrg(h.deps, orgId, (db) =>
    db
      .insertInto('log_leaf')
      .values({ org_id: orgId, leaf_index: 1, size: 2, leaf: Buffer.from('{}'), updates: null, documents: null })
      .execute(),
  )
  await expect(leaf).rejects.toThrow(/foreign key/)
  const checkpoint = inOrg(h.deps, orgId, (db) =>
    db
      .insertInto('log_checkpoint')
      .values({ org_id: orgId, size: 2, leaf_index: 1, note: '', created_at: new Date() })
      .execute(),
  )
  await expect(checkpoint).rejects.toThrow(/foreign key/)
})
