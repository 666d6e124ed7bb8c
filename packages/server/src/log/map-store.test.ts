import { makeMap, mapValue, openPartialMap, verifyMapProof } from '@strongroom/protocol'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { inOrg } from '../context.ts'
import type { Db } from '../db/database.ts'
import { changeNodes } from './map-nodes.ts'
import { readPaths, upsertNodes, upsertStates } from './map-store.ts'

// Catches: a fork that forgets the older leaf, a node that is not rehashed, a leaf row that stays a leaf when it becomes inner.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const name = fc.integer({ min: 0, max: 80 }).map((i) => `policy/${i}`)
const batch = fc.uniqueArray(fc.tuple(name, fc.nat(1000)), { minLength: 1, maxLength: 20, selector: ([one]) => one })

async function change(db: Db, orgId: string, changes: readonly (readonly [string, number])[]): Promise<Buffer> {
  const states = changes.map(([one, n]) => ({ name: one, state: { n } }))
  const paths = await readPaths(
    db,
    orgId,
    states.map((state) => state.name),
  )
  const { nodes, root } = changeNodes(
    paths.flatMap((path) => path.nodes),
    states.map((one) => ({ name: one.name, value: mapValue(one.state) })),
  )
  await sql`with s as (${upsertStates(orgId, states)}), n as (${upsertNodes(orgId, nodes)}) select 1`.execute(db)
  return root
}

it('keeps, change by change, the root and every proof of the protocol’s own map', async () => {
  const { orgId } = await h.org('maps')
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 6 }), async (batches) => {
      await inOrg(h.deps, orgId, async (db) => {
        const map = makeMap()
        for (const changes of batches) {
          for (const [one, n] of changes) map.set(one, mapValue({ n }))
          expect(await change(db, orgId, changes)).toEqual(Buffer.from(map.root()))
        }
        const names = Array.from({ length: 81 }, (_, i) => `policy/${i}`)
        for (const { name: one, state, siblings, terminal } of await readPaths(db, orgId, names)) {
          const value = state === null ? null : mapValue(state)
          verifyMapProof(map.root(), one, value, { siblings, terminal })
          expect(value).toEqual(map.get(one))
        }
        // The next run starts from an empty map again.
        throw new Rollback()
      }).catch((error: unknown) => {
        if (!(error instanceof Rollback)) throw error
      })
    }),
    { numRuns: 40 },
  )
})

class Rollback extends Error {}

it('starts from the empty root, with one leaf as the root, and proves absence beside it', async () => {
  const { orgId } = await h.org('one leaf')
  await inOrg(h.deps, orgId, async (db) => {
    const [nothing] = await readPaths(db, orgId, ['policy'])
    expect(nothing).toEqual({ name: 'policy', state: null, siblings: [], terminal: null, nodes: [] })
    const root = await change(db, orgId, [['policy', 1]])
    expect(root).toEqual(Buffer.from(makeMap([['policy', mapValue({ n: 1 })]]).root()))
    const [absent] = await readPaths(db, orgId, ['policy/2'])
    expect(absent?.terminal?.[1]).toEqual(Buffer.from(mapValue({ n: 1 })))
    openPartialMap(root, [
      {
        name: 'policy/2',
        valueHash: null,
        proof: { siblings: absent?.siblings ?? [], terminal: absent?.terminal ?? null },
      },
    ])
  })
})
