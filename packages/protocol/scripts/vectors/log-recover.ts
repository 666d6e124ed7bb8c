import { toBase64url } from '../../src/encoding/base64.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type Chronicle, openChronicle, SALT, sign } from './chronicle.ts'
import { addOf, genesisOf } from './directory.ts'
import type { VectorFile } from './file.ts'

// Sections 5.7 and 9.4: the statement that a log was restored from a backup.

const EMPTY_HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

async function statement({ host }: Chronicle, change: object, ...signers: readonly Identity[]) {
  const keptSize = host.leaves.length
  const keptRoot = toBase64url(await host.ledger.logRoot())
  const lost = { size: keptSize + 7, root: EMPTY_HASH }
  return sign('log.recover', { keptSize, keptRoot, lost, reason: 'disk failure', salt: SALT, ...change }, ...signers)
}

export async function makeLogRecover(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave, bob, mallory } = c
  const admins = [alice, dave] as const
  await c.act('the founding of this log', await genesisOf([alice, dave]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  const early = await statement(c, {}, ...admins)
  await c.ok('of a loss whose root nobody knows', [await statement(c, { lost: { size: 9, root: '' } }, ...admins)])
  await c.ok('of a log of which nothing was lost', [await statement(c, { lost: { size: 2, root: '' } }, ...admins)])
  c.no('by one admin of two', 'endorser_not_admin', [await statement(c, {}, alice)])
  c.no('by one admin who signed twice', 'endorser_not_admin', [await statement(c, {}, alice, alice)])
  c.no('by an admin and a member', 'endorser_not_admin', [await statement(c, {}, alice, bob)])
  c.no('by an admin and a stranger', 'endorser_not_admin', [await statement(c, {}, alice, mallory)])
  c.no('of another root', 'bad_transition', [await statement(c, { keptRoot: EMPTY_HASH }, ...admins)])
  c.no('of a longer log', 'bad_transition', [await statement(c, { keptSize: 3 }, ...admins)])
  c.no('of a shorter log', 'bad_transition', [await statement(c, { keptSize: 1 }, ...admins)])
  c.no('that keeps more than there was', 'bad_transition', [
    await statement(c, { lost: { size: 1, root: '' } }, ...admins),
  ])
  c.no('of nothing', 'malformed', [await statement(c, { keptSize: 0 }, ...admins)])
  c.no('without a salt', 'malformed', [await statement(c, { salt: '' }, ...admins)])
  c.no('of another organisation', 'genesis_mismatch', [await statement(c, { org: 'org_other' }, ...admins)])
  c.no('two at once', 'bad_transition', [early, await statement(c, { reason: 'fire' }, ...admins)])
  await c.act('by two admins', early)
  c.no('the same once more', 'bad_transition', [early])
  const policy = { dirQuorum: 1, kdf: 'argon2id', minRsaBits: 2048, provisioners: [], recoverQuorum: 1 }
  const { policyHash } = c.host.state('policy') as { policyHash: string }
  const next = { policyVersion: 2, policy: { ...policy, rotationGraceMs: 5 }, prev: policyHash }
  await c.act(
    'a policy that asks for one admin, and keeps the list of recoveries',
    await sign('policy.set', next, alice),
  )
  await c.act('a second restore, by one admin', await statement(c, {}, dave))
  return c.file({
    vectors: 'log-recover',
    section: '9.4',
    comment: 'A log that is restored from a backup twice, and statements about it that are refused.',
  })
}
