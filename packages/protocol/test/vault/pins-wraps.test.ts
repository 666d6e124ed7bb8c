// Catches: vaults that go back or are changed in the past, for a client that has seen them; wrapped keys that were not granted,
// not made by somebody entitled, or are of another vault key.
// Seen red: each comparison with the pin removed in turn; `checkSince` not called; each `ensure` of grants.ts removed in turn.
import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { grantName, type VaultState, vaultName } from '../../src/log/state.ts'
import { makeDek } from '../../src/values/dek.ts'
import { openVaultKeys, verifyWrappedKey } from '../../src/vault/grants.ts'
import { type VaultPin, type VaultResponse, verifyHead, verifyVault } from '../../src/vault/vault.ts'
import { wrapDek, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { openDirectory, vaultResponse } from '../directory/full.ts'
import { refusal } from '../log/refusal.ts'
import { aclWith, commit, dekOf, join, revoke, vaultStateOf } from '../transition/desk.ts'
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
describe('a client that has seen the vault', () => {
  let pin: VaultPin
  beforeEach(async () => {
    const { headVersion, headHash, dekVersion, dekCommit, aclVersion, adminsHash } = vaultStateOf(world)
    pin = { headVersion, headHash, dekVersion, dekCommit, aclVersion, adminsHash, size: now() }
  })

  it('refuses an older vault, another of the same version, and another chain of admins', async () => {
    const other = documentHash(world.genesis)
    expect(await vaultCode({}, pin)).toBe('accepted')
    expect(await vaultCode({}, { ...pin, headVersion: pin.headVersion + 1 })).toBe('vault_rollback')
    expect(await vaultCode({}, { ...pin, headHash: other })).toBe('vault_fork')
    expect(await vaultCode({}, { ...pin, aclVersion: pin.aclVersion + 1 })).toBe('vault_rollback')
    expect(await vaultCode({}, { ...pin, aclHash: other })).toBe('vault_fork')
    expect(await vaultCode({}, { ...pin, dekVersion: pin.dekVersion + 1 })).toBe('vault_rollback')
    expect(await vaultCode({}, { ...pin, dekCommit: other })).toBe('vault_fork')
    expect(await vaultCode({}, { ...pin, adminsHash: other })).toBe('vault_fork')
  })

  it('refuses a part of the vault it has seen at another leaf', async () => {
    const { createIndex, headIndex: head, epochIndex: epoch, aclIndex: acl, aclHash, adminsHash } = vaultStateOf(world)
    const at = { head, epoch, acl }
    const chain = [{ index: createIndex, hash: adminsHash }]
    expect(await vaultCode({}, { ...pin, aclHash, at, chain })).toBe('accepted')
    for (const part of ['head', 'epoch', 'acl'] as const)
      expect(await vaultCode({}, { ...pin, at: { ...at, [part]: at[part] + 1 } })).toBe('vault_fork')
    expect(await vaultCode({}, { ...pin, chain: [{ index: createIndex + 1, hash: adminsHash }] })).toBe('vault_fork')
  })

  it('refuses a change that claims to be older than the vault it has seen', async () => {
    await commit(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin' }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
      rotate: 'scheduled',
    })
    expect(await vaultCode({}, pin)).toBe('accepted')
    const index = pin.size - 1
    const { adminsIndexes } = vaultStateOf(world)
    for (const change of [
      { headIndex: index },
      { aclIndex: index },
      { epochIndex: index },
      { adminsIndexes: [adminsIndexes[0] as number, index] },
    ]) {
      const before = vaultStateOf(world)
      falsify(change)
      expect(['vault_fork', 'bad_transition']).toContain(await vaultCode({}, pin))
      falsify(before)
    }
  })
})

describe('a wrapped key', () => {
  const verify = (envelope: Envelope, recipient: Identity) =>
    refusal(async () => {
      const response = vaultResponse(world, world.prod)
      const vault = await verifyVault(await openDirectory(world), response)
      await verifyWrappedKey(vault, envelope, recipient)
    })
  const granted = async (envelope: Envelope, to: Identity, version = 1) => {
    const name = grantName(world.prod, to.kid, version)
    const state = { wrapHash: documentHash(envelope), index: now() }
    world.host.appendFalse({ t: 'grant.add', d: [], updates: [{ name, state }] }, [envelope], world.now)
    return verify(envelope, to)
  }
  const ownWrap = (to: Identity): Envelope => {
    const { wrapHash } = world.host.state(grantName(world.prod, to.kid, 1)) as { wrapHash: string }
    return world.host.ledger.document(wrapHash) as Envelope
  }

  it('is granted, for this recipient and vault', async () => {
    expect(await verify(ownWrap(carol), carol)).toBe('accepted')
    expect(await verify(ownWrap(carol), bob)).toBe('wrap_context')
    const staging = await wrapDek(dekOf(world, world.staging), carol.key, alice, world.now)
    expect(await verify(staging, carol)).toBe('wrap_context')
    const again = await wrapDek(dekOf(world), carol.key, alice, world.now + 1)
    expect(await verify(again, carol)).toBe('stale_wrapped_dek')
    const { dave } = world.actors
    expect(await verify(await wrapDek(dekOf(world), dave.key, alice, world.now), dave)).toBe('unwrapped_key_missing')
    await world.host.append([await revoke(world, carol.kid, 'superseded')], world.now)
    const old = await wrapDek(dekOf(world), carol.key, alice, world.now)
    expect(await verify(old, carol)).toBe('unwrapped_key_missing')
  })

  it('is made by an admin at that leaf, or by the key that rotated to the recipient in that very leaf', async () => {
    expect(await granted(await wrapDek(dekOf(world), carol.key, bob, world.now), carol)).toBe('not_authorised')
    const rsaOnly = await identityOf('worker', alice.key.principal)
    await join(world, rsaOnly, ['member'])
    expect(await granted(await wrapDek(dekOf(world), carol.key, rsaOnly, world.now), carol)).toBe('not_authorised')
    expect(await granted(await wrapDek(dekOf(world), carol.key, alice, world.now), carol)).toBe('accepted')
  })

  it('is of the key that the log commits to, in the algorithm of the recipient', async () => {
    const { hybrid } = world.actors
    const foreign = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
    expect(await granted(await wrapDek(foreign, carol.key, alice, world.now), carol)).toBe('dek_commitment')
    const classic = { ...hybrid.key, kem: null }
    expect(await granted(await wrapDek(dekOf(world), classic, alice, world.now), hybrid)).toBe('alg_downgrade')
  })

  it('comes once for each version, and the current version is among them', async () => {
    const open = async (...wraps: Envelope[]) =>
      refusal(async () => {
        const response = vaultResponse(world, world.prod)
        const vault = await verifyVault(await openDirectory(world), response)
        await openVaultKeys(await verifyHead(vault, response.head), wraps, carol)
      })
    const wrap = ownWrap(carol)
    expect(await open(wrap)).toBe('accepted')
    expect(await open()).toBe('unwrapped_key_missing')
    expect(await open(wrap, wrap)).toBe('malformed')
    await commit(world, { rotate: 'scheduled' })
    expect(await open(wrap)).toBe('unwrapped_key_missing')
    expect(peekDocument(wrappedDek, wrap).payload.dekVersion).toBe(1)
  })
})
