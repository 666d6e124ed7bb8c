import { beforeAll, describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import { leafHash, verifyInclusion } from '../../src/log/merkle.ts'
import { proveInclusion, rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import { vaultName } from '../../src/log/state.ts'
import { auditLeaf, type Ledger, makeLedger } from '../../src/transition/ledger.ts'
import { refusal } from '../log/refusal.ts'
import type { LoggedLeaf } from '../world/log-host.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { commit, nextHead, revoke } from './desk.ts'
import { expectAllRefused, LIES, lie, materialOf } from './lies.ts'

const rootOf = (ledger: Ledger): string => toBase64url(ledger.map.root())

describe('an auditor', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    await commit(world, { rotate: 'scheduled' })
    await world.host.append([await revoke(world, world.actors.carol.kid, 'compromised')], world.now)
    await world.host.append([await nextHead(world, { oldestDek: 2 }, world.actors.bob)], world.now)
  })

  it('replays the whole log and comes to the state of the server', async () => {
    const auditor = makeLedger(ORG)
    for (const logged of world.host.leaves) await auditLeaf(auditor, materialOf(logged))
    expect(rootOf(auditor)).toBe(rootOf(world.host.ledger))
    expect(new Set(auditor.names())).toEqual(new Set(world.host.ledger.names()))
    for (const name of auditor.names()) expect(auditor.get(name)).toEqual(world.host.state(name))
  })

  it('does not care in which order documents are delivered', async () => {
    const auditor = makeLedger(ORG)
    for (const logged of world.host.leaves)
      await auditLeaf(auditor, { ...materialOf(logged), docs: logged.docs.toReversed() })
    expect(rootOf(auditor)).toBe(rootOf(world.host.ledger))
  })

  it('refuses every lie about every leaf, and goes on with the true one', { timeout: 30_000 }, async () => {
    const auditor = makeLedger(ORG)
    for (const [index, logged] of world.host.leaves.entries()) {
      if (index > 0) await expectAllRefused(auditor, logged)
      await auditLeaf(auditor, materialOf(logged))
    }
    expect(rootOf(auditor)).toBe(rootOf(world.host.ledger))
  })

  it('names the broken rule', async () => {
    const auditor = makeLedger(ORG)
    const [genesis, add] = world.host.leaves as [LoggedLeaf, LoggedLeaf]
    await auditLeaf(auditor, materialOf(genesis))
    const code = (name: string) => refusal(() => auditLeaf(auditor, lie(add, LIES[name] as never)))
    for (const name of Object.keys(LIES))
      expect([name, await code(name)]).toEqual([
        name,
        name === 'without the signatures of a document' ? 'missing_signature' : 'bad_transition',
      ])
  })

  it('refuses a leaf that sets a vault back to an older, authentic state', async () => {
    const auditor = makeLedger(ORG)
    for (const logged of world.host.leaves) await auditLeaf(auditor, materialOf(logged))
    const lying = await openWorld()
    const before = lying.host.state(vaultName(lying.prod)) as never
    const old = [await nextHead(lying, {}, lying.actors.bob)]
    await lying.host.append(old, lying.now)
    lying.host.appendFalse(
      { t: 'vault.commit', d: [], updates: [{ name: vaultName(lying.prod), state: before }] },
      old,
      lying.now,
    )
    const second = makeLedger(ORG)
    for (const logged of lying.host.leaves.slice(0, -1)) await auditLeaf(second, materialOf(logged))
    const false_ = lying.host.leaves.at(-1) as LoggedLeaf
    expect(await refusal(() => auditLeaf(second, materialOf(false_)))).toBe('bad_transition')
  })

  it('refuses leaves in another order, leaves again and leaves of another organisation', async () => {
    const auditor = makeLedger(ORG)
    const [genesis, second, third] = world.host.leaves as unknown as [LoggedLeaf, LoggedLeaf, LoggedLeaf]
    expect(await refusal(() => auditLeaf(auditor, materialOf(second)))).toBe('bad_transition')
    await auditLeaf(auditor, materialOf(genesis))
    expect(await refusal(() => auditLeaf(auditor, materialOf(genesis)))).toBe('bad_transition')
    expect(await refusal(() => auditLeaf(auditor, materialOf(third)))).toBe('bad_transition')
    expect(await refusal(() => auditLeaf(makeLedger('org_other'), materialOf(genesis)))).toBe('genesis_mismatch')
  })

  it('refuses bytes that are no leaf', async () => {
    const [genesis] = world.host.leaves as [LoggedLeaf]
    for (const bytes of [utf8(''), utf8('{}'), utf8(` ${new TextDecoder().decode(genesis.made.bytes)}`)])
      expect(await refusal(() => auditLeaf(makeLedger(ORG), { leaf: bytes, docs: genesis.docs }))).toBe('malformed')
  })

  it('holds every leaf against the checkpoint as well, where a change of time alone is seen', () => {
    const hashes = world.host.leaves.map(({ made }) => leafHash(made.bytes))
    const size = hashes.length
    const index = 3
    const proof = proveInclusion(hashes, index, size)
    const root = rootOfLeaves(hashes)
    const later = lie(world.host.leaves[index] as LoggedLeaf, (leaf) => {
      leaf.at += 1
    })
    const included = (hash: Uint8Array) => () => verifyInclusion({ leafHash: hash, index, size, proof, root })
    expect(included(hashes[index] as Uint8Array)).not.toThrow()
    expect(included(leafHash(later.leaf))).toThrow(expect.objectContaining({ code: 'bad_inclusion' }))
  })
})
