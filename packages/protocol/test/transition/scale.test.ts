// Catches: leaves with long lists that cannot be audited, and acts whose cost grows with what they do not touch.
// Seen red: the lists of a large leaf not served or exchanged; `grantsOfVault` asked in every commit; the directory not
// remembered within an act, so that each wrap looks its author up again.
import { beforeAll, describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { parseLeaf } from '../../src/log/leaf.ts'
import type { LogState } from '../../src/transition/draft.ts'
import { auditLeaf, type LeafMaterial, type Ledger, makeLedger } from '../../src/transition/ledger.ts'
import { transition } from '../../src/transition/transition.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import { refusal } from '../log/refusal.ts'
import type { LoggedLeaf } from '../world/log-host.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { commitDocs, join, newIdentity, nextHead } from './desk.ts'
import { materialOf } from './lies.ts'

const READERS = 140
let world: World
let readers: Identity[]
let vaultId: string
beforeAll(async () => {
  world = await openWorld()
  readers = []
  for (let i = 0; i < READERS; i++) {
    const agent = await newIdentity(`agent:ag_${String(i).padStart(4, '0')}`)
    await join(world, agent, ['agent'])
    readers.push(agent)
  }
  const { alice } = world.actors
  const made = await createVault(
    {
      org: ORG,
      meta: { name: 'Large', classification: 'internal', status: 'active' },
      acl: [
        { p: alice.key.principal, role: 'admin' },
        ...readers.map(({ key }) => ({ p: key.principal, role: 'read' as const })),
      ],
      recipients: [alice, ...readers].map(({ key }) => key),
      at: world.now,
    },
    alice,
  )
  vaultId = made.vaultId
  await world.host.append([made.commit.head, ...made.commit.docs], world.now)
}, 30_000)

describe('a leaf that changes more than 128 states', () => {
  /** An auditor who stands before the large leaf, which is the last. */
  async function auditorBefore(): Promise<{ auditor: Ledger; large: LeafMaterial }> {
    const auditor = makeLedger(ORG)
    for (const logged of world.host.leaves.slice(0, -1)) await auditLeaf(auditor, materialOf(logged))
    return { auditor, large: materialOf(world.host.leaves.at(-1) as LoggedLeaf) }
  }

  it('names both lists by their hash, and is audited with the lists beside it', async () => {
    const { auditor, large } = await auditorBefore()
    const leaf = parseLeaf(large.leaf)
    expect(leaf.updates).toHaveProperty('hash')
    expect(leaf.documents).toHaveProperty('hash')
    const applied = await auditLeaf(auditor, large)
    expect(applied.updates).toHaveLength(READERS + 2)
    expect(applied.d).toHaveLength(READERS + 5)
    expect(toBase64url(auditor.map.root())).toBe(toBase64url(world.host.ledger.map.root()))
  })

  it('is refused without its lists, with other lists, and with lists of another leaf', async () => {
    const { auditor, large } = await auditorBefore()
    const { updates: _u, ...withoutUpdates } = large
    const { documents: _d, ...withoutDocuments } = large
    const altered = (bytes: Uint8Array | undefined): Uint8Array => {
      const list = JSON.parse(new TextDecoder().decode(bytes)) as unknown[]
      return canonical(list.slice(1))
    }
    const codes = {
      malformed: [withoutUpdates, withoutDocuments],
      bad_inclusion: [
        { ...large, updates: altered(large.updates) },
        { ...large, documents: altered(large.documents) },
        { ...large, documents: large.updates as Uint8Array },
      ],
      bad_transition: [{ ...large, docs: large.docs.slice(1) }],
    }
    for (const [code, lies] of Object.entries(codes))
      for (const told of lies) expect(await refusal(() => auditLeaf(auditor, told))).toBe(code)
    expect(auditor.size()).toBe(world.host.leaves.length - 1)
    await auditLeaf(auditor, large)
  })
})

describe('an act', () => {
  /** The ledger, with every question to it counted: a server answers each with a query. */
  function counted(): { before: LogState; asked: Record<string, number> } {
    const asked: Record<string, number> = {}
    const { ledger } = world.host
    const count =
      <A extends unknown[], R>(name: string, answer: (...args: A) => R) =>
      (...args: A): R => {
        asked[name] = (asked[name] ?? 0) + 1
        return answer(...args)
      }
    const before: LogState = {
      org: ledger.org,
      lastAt: count('lastAt', ledger.lastAt),
      logRoot: count('logRoot', ledger.logRoot),
      get: count('get', ledger.get),
      document: count('document', ledger.document),
      kidsOf: count('kidsOf', ledger.kidsOf),
      grantsOfVault: count('grantsOfVault', ledger.grantsOfVault),
      grantsOfKid: count('grantsOfKid', ledger.grantsOfKid),
      endedGrantsOfKid: count('endedGrantsOfKid', ledger.endedGrantsOfKid),
    }
    return { before, asked }
  }

  it('that writes to a vault of many readers asks for none of their grants', async () => {
    const { before, asked } = counted()
    const docs = [await nextHead(world, {}, world.actors.alice, vaultId)]
    await transition(before, world.host.leaves.length, { docs, at: world.now })
    expect(asked.grantsOfVault).toBeUndefined()
    expect((asked.get ?? 0) + (asked.document ?? 0)).toBeLessThan(10)
  })

  it('that rotates a vault of many readers asks for each reader a fixed number of times', async () => {
    const recipients = [world.actors.alice, ...readers].map(({ key }) => key)
    const { all: docs } = await commitDocs(world, { vaultId, rotate: 'scheduled', recipients })
    const { before, asked } = counted()
    await transition(before, world.host.leaves.length, { docs, at: world.now })
    // Each reader: state and record of the key once, the grant once, the state once more to see that it is active.
    expect(asked.kidsOf).toBe(READERS + 1)
    expect(asked.document).toBeLessThan(1.1 * READERS + 20)
    expect(asked.get).toBeLessThan(3.1 * READERS + 20)
  })
})
