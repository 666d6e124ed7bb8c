import { toBase64url } from '../../src/encoding/base64.ts'
import { documentHash, type Envelope, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type GrantState, grantName } from '../../src/log/state.ts'
import { type Dek, makeDek } from '../../src/values/dek.ts'
import { wrapDek, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { changeVault, revokeKey, rotateAgent } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { aclWith, alterState, forge, logged, tamper, vaultStateOf, withoutSignature } from './powers.ts'

// Rows 10 to 13, 18, 21 and 28: vault keys that the server chose, replayed, forwarded or split.

const dekOf = (world: World, vaultId = world.prod): Dek => (world.vaults.get(vaultId) as StoredVault).dek

const grantOf = (world: World, reader: Identity, version = 1): string => grantName(world.prod, reader.kid, version)

const wrapOf = (world: World, reader: Identity, vaultId = world.prod): Envelope =>
  logged(world, (world.host.state(grantName(vaultId, reader.kid, 1)) as GrantState).wrapHash)

/** Grants a wrap by a false leaf: the log says that this is the one. */
function logGrant(world: World, reader: Identity, wrap: Envelope): void {
  const change = { wrapHash: documentHash(wrap), index: world.host.leaves.length }
  alterState<GrantState>(world, grantOf(world, reader), change, [wrap])
}

async function readGranted(world: World, { clientOf }: Bench, wrap: Envelope, reader = world.actors.deploy) {
  logGrant(world, reader, wrap)
  const client = clientOf(reader)
  return client.read(await client.ask())
}

export const WRAPS_HONEST: readonly Honest[] = [
  {
    id: 'wraps-honest-after-rotation',
    theme: 'wraps',
    title: 'after a rotation of vault key and agent key, old and new values open',
    run: async (world, bench) => {
      const { alice, deployNext } = world.actors
      await rotateAgent(world)
      await changeVault(world, { rotate: 'scheduled' }, alice)
      const client = bench.clientOf(deployNext)
      const { fields, keys } = await client.read(await client.ask())
      if (fields.length !== 3 || keys.size !== 2) throw new Error('not everything opened')
    },
  },
]

const serve = async ({ client }: Bench, ...wraps: readonly Envelope[]) =>
  client.read(
    tamper(await client.ask(), (copy) => {
      copy.wrappedKeys = structuredClone(wraps) as never
    }),
  )

export const WRAPS: readonly Attack[] = [
  {
    id: 'wrap-unsigned',
    row: 10,
    title: 'a wrapped key without its signature',
    code: 'missing_signature',
    run: async (world, bench) => {
      const { deploy, alice } = world.actors
      return serve(bench, withoutSignature(wrapOf(world, deploy), alice.kid))
    },
  },
  {
    id: 'wrap-chosen-by-server',
    row: 10,
    title: 'a vault key that the server chose, wrapped correctly and granted by nobody',
    code: 'stale_wrapped_dek',
    run: async (world, bench) => {
      const { deploy, mallory } = world.actors
      const chosen = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
      return serve(bench, await wrapDek(chosen, deploy.key, mallory, world.now))
    },
  },
  {
    id: 'wrap-granted-by-false-leaf',
    row: 10,
    title: 'the same, granted by a false leaf and signed by a key outside of the directory',
    code: 'unknown_signer',
    run: async (world, bench) => {
      const { deploy, mallory } = world.actors
      const chosen = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
      return readGranted(world, bench, await wrapDek(chosen, deploy.key, mallory, world.now))
    },
  },
  {
    id: 'wrap-by-writer',
    row: 10,
    title: 'a wrapped key by a writer who is no admin',
    code: 'not_authorised',
    run: async (world, bench) =>
      readGranted(world, bench, await wrapDek(dekOf(world), world.actors.deploy.key, world.actors.bob, world.now)),
  },
  {
    id: 'wrap-by-compromised-admin',
    row: 16,
    title: 'a wrapped key by an admin key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, bench) => {
      const { alice, dave, deploy } = world.actors
      await changeVault(
        world,
        { acl: aclWith(world, { [dave.key.principal]: 'admin' }), grants: [{ dek: dekOf(world), to: dave.key }] },
        alice,
      )
      logGrant(world, deploy, await wrapDek(dekOf(world), deploy.key, dave, world.now))
      await revokeKey(world, dave.kid, 'compromised', alice)
      return bench.client.read(await bench.client.ask())
    },
  },
  {
    id: 'wrap-of-other-vault',
    row: 13,
    title: 'the wrapped key of another vault',
    code: 'wrap_context',
    run: async (world, bench) => serve(bench, wrapOf(world, world.actors.deploy, world.staging)),
  },
  {
    id: 'wrap-for-other-reader',
    row: 13,
    title: 'the wrapped key of another reader',
    code: 'wrap_context',
    run: async (world, bench) => serve(bench, wrapOf(world, world.actors.carol)),
  },
  {
    id: 'wrap-absent',
    row: 11,
    title: 'no wrapped key at all',
    code: 'unwrapped_key_missing',
    run: async (_world, bench) => serve(bench),
  },
  {
    id: 'wrap-of-older-version-only',
    row: 11,
    title: 'after a rotation, only the wrapped key of the version before',
    code: 'unwrapped_key_missing',
    run: async (world, bench) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      return serve(bench, wrapOf(world, world.actors.deploy))
    },
  },
  {
    id: 'wrap-replayed',
    row: 11,
    title: 'a wrapped key that a newer grant has replaced',
    code: 'stale_wrapped_dek',
    run: async (world, bench) => {
      const { alice, deploy } = world.actors
      const older = wrapOf(world, deploy)
      await world.host.append([await wrapDek(dekOf(world), deploy.key, alice, world.now + 1)], world.now)
      return serve(bench, older)
    },
  },
  {
    id: 'wrap-of-ended-grant',
    row: 11,
    title: 'a wrapped key whose grant has ended',
    code: 'unwrapped_key_missing',
    run: async (world, bench) => {
      const { deploy } = world.actors
      const wrap = wrapOf(world, deploy)
      alterState<GrantState>(world, grantOf(world, deploy), { wrapHash: '' })
      return serve(bench, wrap)
    },
  },
  {
    id: 'wrap-twice',
    row: 12,
    title: 'two wrapped keys of one version',
    code: 'malformed',
    run: async (world, bench) => {
      const wrap = wrapOf(world, world.actors.deploy)
      return serve(bench, wrap, wrap)
    },
  },
  {
    id: 'wrap-split-dek',
    row: 12,
    title: 'an admin who gives one reader another vault key, and says so',
    code: 'dek_commitment',
    run: async (world, bench) => {
      const { alice, deploy } = world.actors
      const other = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
      return readGranted(world, bench, await wrapDek(other, deploy.key, alice, world.now))
    },
  },
  {
    id: 'wrap-split-dek-hidden',
    row: 12,
    title: 'an admin who gives one reader another vault key under the commitment of the common one',
    code: 'dek_commitment',
    behindKeys: true,
    run: async (world, bench) => {
      const { alice, deploy } = world.actors
      const { dekCommit } = vaultStateOf(world)
      const other = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
      const wrap = await wrapDek(other, deploy.key, alice, world.now)
      return readGranted(world, bench, await forge(wrappedDek, wrap, { dekCommit }, alice))
    },
  },
  {
    id: 'wrap-signed-anew',
    row: 13,
    title: 'the wrap of one admin, signed anew by another who has not seen what is in it',
    code: 'wrap_context',
    behindKeys: true,
    run: async (world, bench) => {
      const { alice, dave, deploy } = world.actors
      await changeVault(
        world,
        { acl: aclWith(world, { [dave.key.principal]: 'admin' }), grants: [{ dek: dekOf(world), to: dave.key }] },
        alice,
      )
      return readGranted(world, bench, await forge(wrappedDek, wrapOf(world, deploy), {}, dave))
    },
  },
  {
    id: 'wrap-moved-to-other-vault',
    row: 13,
    title: 'an admin who passes off the wrapped key of one vault as that of another',
    code: 'wrap_context',
    behindKeys: true,
    run: async (world, bench) => {
      const { alice, deploy } = world.actors
      const { dekCommit } = vaultStateOf(world)
      const staging = wrapOf(world, deploy, world.staging)
      return readGranted(world, bench, await forge(wrappedDek, staging, { vaultId: world.prod, dekCommit }, alice))
    },
  },
  {
    id: 'wrap-of-nothing',
    row: 21,
    title: 'a ciphertext that does not open, signed by an admin',
    code: 'wrap_context',
    behindKeys: true,
    run: async (world, bench) => {
      const { alice, deploy } = world.actors
      const ct = toBase64url(new Uint8Array(256).fill(7))
      return readGranted(world, bench, await forge(wrappedDek, wrapOf(world, deploy), { ct }, alice))
    },
  },
  {
    id: 'wrap-downgraded',
    row: 18,
    title: 'an RSA-only wrap for a key that also has ML-KEM',
    code: 'alg_downgrade',
    run: async (world, bench) => {
      const { alice, hybrid } = world.actors
      const wrap = await wrapDek(dekOf(world), { ...hybrid.key, kem: null }, alice, world.now)
      return readGranted(world, bench, wrap, hybrid)
    },
  },
  {
    id: 'wrap-hybrid-halved',
    row: 18,
    title: 'a hybrid wrap that lacks its second half',
    code: 'malformed',
    run: async (world, bench) => {
      const { alice, hybrid } = world.actors
      const wrap = await wrapDek(dekOf(world), { ...hybrid.key, kem: null }, alice, world.now)
      const half = await forge(wrappedDek, wrap, { alg: 'RSA-OAEP-256+ML-KEM-768' }, alice)
      return readGranted(world, bench, half, hybrid)
    },
  },
  {
    id: 'wrap-hybrid-to-plain-key',
    row: 18,
    title: 'members of a hybrid wrap on one for an RSA key',
    code: 'malformed',
    run: async (world, bench) => {
      const { alice, hybrid, deploy } = world.actors
      const { ct2, box } = peekDocument(wrappedDek, wrapOf(world, hybrid)).payload
      return readGranted(world, bench, await forge(wrappedDek, wrapOf(world, deploy), { ct2, box } as never, alice))
    },
  },
  {
    id: 'wrap-rotated-by-stranger',
    row: 16,
    title: 'a wrap by the former key of a reader, made after that key was replaced',
    code: 'signer_not_active',
    run: async (world, bench) => {
      const { deploy, deployNext } = world.actors
      await rotateAgent(world)
      const wrap = await wrapDek(dekOf(world), deployNext.key, deploy, world.now)
      return readGranted(world, bench, wrap, deployNext)
    },
  },
]
