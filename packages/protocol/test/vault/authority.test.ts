// Catches: vaults whose creation, admins, access list or head were not made by those who had the right, told by a server that
// logs whatever it likes.
// Seen red: each `ensure` of authority.ts and vault.ts removed in turn.
import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { deriveVaultId } from '../../src/vault/authority.ts'
import { aclSet, vaultAdmins, vaultCreate, vaultHead } from '../../src/vault/documents.ts'
import { type VaultPin, type VaultResponse, verifyHead, verifyVault } from '../../src/vault/vault.ts'
import { openDirectory, vaultResponse } from '../directory/full.ts'
import { refusal } from '../log/refusal.ts'
import { aclWith, commit, join, newIdentity, nextHead, revoke, salt, vaultStateOf } from '../transition/desk.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, type World } from '../world/world.ts'

let world: World
let alice: Identity
let bob: Identity
let carol: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob, carol } = world.actors)
})
const now = () => world.host.leaves.length

/** A lying server changes the state of a vault. */
function falsify(change: Partial<VaultState>, docs: readonly Envelope[] = [], vaultId = world.prod): void {
  const state = { ...vaultStateOf(world, vaultId), ...change } as never
  const d = docs.map(documentHash).sort()
  world.host.appendFalse({ t: 'vault.commit', d, updates: [{ name: vaultName(vaultId), state }] }, docs, world.now)
}
/** What a client makes of the vault: up to its access list, and up to its head. */
const vaultCode = (change: Partial<VaultResponse> = {}, pin?: VaultPin) =>
  refusal(async () => verifyVault(await openDirectory(world), { ...vaultResponse(world, world.prod), ...change }, pin))
const headCode = (head?: Envelope) =>
  refusal(async () => {
    const response = vaultResponse(world, world.prod)
    await verifyHead(await verifyVault(await openDirectory(world), response), head ?? response.head)
  })
const resign = async <K>(kind: K, envelope: Envelope, change: object, by: Identity): Promise<Envelope> => {
  const { v: _v, t: _t, by: _by, ...members } = peekDocument(kind as never, envelope).payload as Record<string, unknown>
  return makeDocument(kind as never, { ...members, ...change } as never, [by])
}
const headState = (head: Envelope) => ({
  headVersion: vaultStateOf(world).headVersion + 1,
  headHash: documentHash(head),
  headIndex: now(),
})

describe('a vault', () => {
  it('is verified as the log has it', async () => {
    expect(await vaultCode()).toBe('accepted')
    expect(await headCode()).toBe('accepted')
  })

  it('is proven, and is the one that was asked for', async () => {
    expect(await vaultCode({ vaultId: `v${'a'.repeat(32)}` })).toBe('bad_map_proof')
    expect(await vaultCode({ create: vaultResponse(world, world.staging).create })).toBe('vault_swap')
    falsify({ vaultId: world.staging })
    expect(await vaultCode()).toBe('vault_swap')
  })

  it('has a history that the rules could have made', async () => {
    const { aclIndex, headIndex } = vaultStateOf(world)
    for (const change of [
      { headIndex: aclIndex - 1 },
      { epochIndex: headIndex + 1 },
      { aclIndex: headIndex + 1 },
      { createIndex: headIndex + 1, adminsIndexes: [headIndex + 1] },
      { headIndex: 1000 },
    ]) {
      const before = vaultStateOf(world)
      falsify(change)
      expect(await vaultCode()).toBe('bad_transition')
      falsify(before)
    }
    expect(await vaultCode()).toBe('accepted')
  })

  it('is created by one of its first admins, with a key that may act as one', async () => {
    const founded = async (by: Identity, admins: readonly string[]) => {
      const create = await makeDocument(vaultCreate, { org: ORG, at: world.now, admins, salt: salt() }, [by])
      const vaultId = deriveVaultId(documentHash(create))
      const state = { ...vaultStateOf(world), vaultId, adminsHash: documentHash(create) } as never
      world.host.appendFalse(
        { t: 'vault.commit', d: [], updates: [{ name: vaultName(vaultId), state }] },
        [create],
        world.now,
      )
      return vaultCode({ vaultId, create })
    }
    expect(await founded(alice, [bob.key.principal])).toBe('admin_chain')
    const rsaOnly = await identityOf('worker', 'agent:ag_worker')
    expect(await founded(rsaOnly, [rsaOnly.key.principal])).toBe('not_authorised')
    expect(await founded(world.actors.mallory, ['user:ou_mallory'])).toBe('unknown_signer')
  })
})

describe('the admins of a vault', () => {
  const hand = async (by: Identity, change: object = {}): Promise<Envelope> => {
    const { adminsHash, adminsIndexes } = vaultStateOf(world)
    const members = {
      org: ORG,
      at: world.now,
      vaultId: world.prod,
      adminsVersion: adminsIndexes.length + 1,
      prev: adminsHash,
    }
    return makeDocument(vaultAdmins, { ...members, admins: ['user:ou_alice'], ...change } as never, [by])
  }
  const lie = async (admins: Envelope, adminsHash = documentHash(admins)) => {
    const { adminsIndexes } = vaultStateOf(world)
    const list = vaultResponse(world, world.prod)
    const step = { aclVersion: vaultStateOf(world).aclVersion + 1, prev: vaultStateOf(world).aclHash }
    const acl = await resign(aclSet, list.acl, step, alice)
    const index = now()
    falsify(
      {
        adminsHash,
        adminsIndexes: [...adminsIndexes, index],
        aclVersion: step.aclVersion,
        aclHash: documentHash(acl),
        aclIndex: index,
        headIndex: index,
      },
      [admins, acl],
    )
    return refusal(async () =>
      verifyVault(await openDirectory(world), { ...list, acl, adminsChain: [...list.adminsChain, admins] }),
    )
  }

  it('change by an admin before, in order, for this vault', { timeout: 30_000 }, async () => {
    const other = documentHash(world.genesis)
    for (const [by, change, code] of [
      ['bob', {}, 'admin_chain'],
      ['alice', { adminsVersion: 3 }, 'admin_chain'],
      ['alice', { prev: other }, 'admin_chain'],
      ['alice', { vaultId: `v${'a'.repeat(32)}` }, 'vault_swap'],
    ] as const) {
      world = await openWorld()
      expect(await lie(await hand(world.actors[by], change))).toBe(code)
    }
    world = await openWorld()
    expect(await lie(await hand(alice), other)).toBe('admin_chain')
  })

  it('are accepted as the rules make them, and shown by the access list', async () => {
    expect(await lie(await hand(alice))).toBe('accepted')
    world = await openWorld()
    expect(await lie(await hand(alice, { admins: ['user:ou_alice', 'user:ou_bob1'] }))).toBe('acl_mismatch')
  })

  it('come as a whole chain', async () => {
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] })
    expect(await vaultCode()).toBe('accepted')
    expect(await vaultCode({ adminsChain: [] })).toBe('admin_chain')
    const [one] = vaultResponse(world, world.prod).adminsChain as [Envelope]
    expect(await vaultCode({ adminsChain: [one, one] })).toBe('admin_chain')
  })

  it('who was the last to sign and is compromised now holds the vault up until another admin signs', async () => {
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] })
    await commit(world, { acl: aclWith(world, {}), admins: ['user:ou_alice', 'user:ou_bob1'], by: bob })
    await world.host.append([await revoke(world, bob.kid, 'compromised')], world.now)
    expect(await vaultCode()).toBe('signer_compromised')
    // Bob’s step stays in the chain, and is history once Alice has signed after it.
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'read' }), admins: ['user:ou_alice'] })
    expect(await vaultCode()).toBe('accepted')
  })
})

describe('the access list of a vault', () => {
  const lie = async (change: object, by: Identity = alice, state: Partial<VaultState> = {}) => {
    const { aclVersion, aclHash } = vaultStateOf(world)
    const before = vaultResponse(world, world.prod)
    const acl = await resign(aclSet, before.acl, { aclVersion: aclVersion + 1, prev: aclHash, ...change }, by)
    const index = now()
    falsify({ aclVersion: aclVersion + 1, aclHash: documentHash(acl), aclIndex: index, headIndex: index, ...state }, [
      acl,
    ])
    return refusal(async () => verifyVault(await openDirectory(world), { ...before, acl }))
  }

  it('is the logged one, of this vault and version, by an admin, and shows the admins', {
    timeout: 30_000,
  }, async () => {
    const shown = aclWith(world, { 'user:ou_bob1': 'admin' })
    for (const [change, by, state, code] of [
      [{}, 'alice', {}, 'accepted'],
      [{}, 'bob', {}, 'not_authorised'],
      [{}, 'alice', { aclHash: documentHash(world.genesis) }, 'acl_mismatch'],
      [{ vaultId: `v${'a'.repeat(32)}` }, 'alice', {}, 'vault_swap'],
      [{}, 'alice', { aclVersion: 9 }, 'acl_mismatch'],
      [{ acl: shown }, 'alice', {}, 'acl_mismatch'],
    ] as const) {
      world = await openWorld()
      expect(await lie(change, world.actors[by], state)).toBe(code)
    }
  })

  it('is not by an RSA-only key of an admin, nor by one that has ended', async () => {
    const rsaOnly = await identityOf('worker', alice.key.principal)
    await join(world, rsaOnly, ['member'])
    expect(await lie({}, rsaOnly)).toBe('not_authorised')
    const second = await newIdentity(alice.key.principal)
    await join(world, second, ['member'])
    await world.host.append([await revoke(world, second.kid, 'removed')], world.now)
    expect(await lie({}, second)).toBe('signer_not_active')
  })
})

describe('the head of a vault', () => {
  const lie = async (change: object, by: Identity = bob, state: Partial<VaultState> = {}) => {
    const head = await nextHead(world, change as never, by)
    falsify({ ...headState(head), ...state }, [head])
    return headCode(head)
  }

  it('is the logged one, agrees with the state, and is signed by a writer', { timeout: 30_000 }, async () => {
    expect(await lie({})).toBe('accepted')
    const other = documentHash(world.genesis)
    expect(await lie({}, bob, { headHash: other })).toBe('head_mismatch')
    for (const [change, code] of [
      [{ vaultId: world.staging }, 'vault_swap'],
      [{ headVersion: 77 }, 'head_mismatch'],
      [{ aclHash: other }, 'head_mismatch'],
      [{ aclVersion: 9 }, 'head_mismatch'],
      [{ dekCommit: other }, 'head_mismatch'],
      [{ dekVersion: 9 }, 'head_mismatch'],
      [{ oldestDek: 9 }, 'head_mismatch'],
    ] as const) {
      world = await openWorld()
      expect(await lie(change)).toBe(code)
    }
  })

  it('is not signed by a reader, and not by a writer who has ended or is compromised', async () => {
    expect(await lie({}, carol)).toBe('not_authorised')
    await world.host.append([await revoke(world, bob.kid, 'removed')], world.now)
    expect(await lie({})).toBe('signer_not_active')
    world = await openWorld()
    await world.host.append([await nextHead(world, {}, bob)], world.now)
    await world.host.append([await revoke(world, bob.kid, 'compromised')], world.now)
    expect(await headCode()).toBe('signer_compromised')
  })

  it('may be signed by the admin whom its own leaf removes, and by nobody else who is not on the list', async () => {
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] })
    const acl = aclWith(world, { 'user:ou_alice': null })
    await commit(world, { acl, admins: ['user:ou_bob1'], rotate: 'member-removed', by: alice })
    expect(await headCode()).toBe('accepted')
    expect(await lie({}, alice)).toBe('not_authorised')
  })

  it('is a head, and not another document', async () => {
    expect(await headCode(vaultResponse(world, world.prod).acl)).toBe('wrong_type')
    const { head } = vaultResponse(world, world.staging)
    expect(peekDocument(vaultHead, head).payload.vaultId).toBe(world.staging)
    expect(await headCode(head)).toBe('head_mismatch')
  })
})
