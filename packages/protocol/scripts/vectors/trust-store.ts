import { defaultPolicy } from '../../src/directory/documents.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import { formatTrustAnchor } from '../../src/trust/anchor.ts'
import type { TrustStore } from '../../src/trust/store.ts'
import { trustStoreOperations } from '../../test/everywhere/vectors-read.ts'
import { identityOf } from '../../test/world/actors.ts'
import { ORIGIN } from '../../test/world/log-host.ts'
import { MINUTE, ORG, type StoredVault, type World } from '../../test/world/world.ts'
import { sign } from './chronicle.ts'
import { addOf, named } from './directory.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { type Desk, entry, nextAdmins, nextHead, withAcl } from './vault-desk.ts'
import { deskOf, fixedWorld } from './world-desk.ts'

// Section 9.1: what a client remembers after each read, and when it refuses to.

interface Story {
  readonly world: World
  readonly desk: Desk
  readonly answers: Record<string, unknown>
  readonly cases: VectorCase[]
  /** What the client holds now. */
  store: TrustStore
}

const sizeOf = ({ store }: Story): number => Number(store.orgs[ORG]?.checkpoint?.split('\n')[1] ?? 0)

/** The answer to a client that knows the log up to what it remembers. */
async function answer(story: Story, name: string): Promise<object> {
  const { world, answers } = story
  const delivered = await world.vaultAnswer(world.prod, { have: sizeOf(story) })
  answers[name] = delivered
  return { before: story.store, answer: name, vaultId: world.prod, now: world.now, maxStaleMs: 60 * MINUTE }
}

interface Remembered {
  readonly after: TrustStore
  readonly notices: readonly object[]
}

/** Reads, states which notices must come, and goes on with what is remembered. */
async function reads(story: Story, name: string, notices: readonly object[], more: object = {}): Promise<void> {
  const input = { ...(await answer(story, name)), ...more }
  const given = { org: ORG, answers: story.answers }
  const operation = trustStoreOperations.remember as (input: unknown, given: unknown) => Promise<Remembered>
  const { after } = await operation(JSON.parse(JSON.stringify(input)), given)
  story.cases.push(accepts('remember', name, input, { after, notices }))
  story.store = after
}

async function cannot(story: Story, name: string, code: ProtocolErrorCode, more: object = {}): Promise<void> {
  story.cases.push(refuses('remember', name, code, { ...(await answer(story, name)), ...more }))
}

const append = ({ world }: Story, ...docs: readonly Envelope[]): Promise<unknown> => world.host.append(docs, world.now)

async function writes(story: Story, by: Identity): Promise<void> {
  await append(story, await nextHead(story.desk, by))
}

/** The writer's next key, with both vault keys. */
async function rotateWriter(story: Story, next: Identity): Promise<void> {
  const { world, desk } = story
  const held = [world.prod, world.staging].map((vaultId) => (world.vaults.get(vaultId) as StoredVault).dek)
  const { event, replacements } = await rotateKey({ org: ORG, at: world.now, held }, desk.bob, next)
  await append(story, event, ...replacements)
}

const aclOf = ({ alice, bob, carol, dave, deploy, worker, hybrid }: Desk) => [
  entry(alice, 'admin'),
  entry(bob, 'write'),
  ...[carol, deploy, worker, hybrid].map((who) => entry(who, 'read')),
  entry(dave, 'admin'),
]

async function changes(story: Story): Promise<void> {
  const { desk, world } = story
  const { alice, bob, dave } = desk
  await reads(story, 'the first read', [])
  await reads(story, 'the same log again', [])
  await writes(story, bob)
  await reads(story, 'a longer log', [])
  const next = await identityOf('malloryNext', 'user:ou_bob1')
  await rotateWriter(story, next)
  await writes(story, next)
  await reads(story, 'a new key of a writer, by rotation: silently', [])
  const policy = {
    policyVersion: 2,
    policy: { ...defaultPolicy(1), rotationGraceMs: MINUTE },
    prev: documentHash(world.genesis),
  }
  await append(story, await sign('policy.set', policy, alice))
  await reads(story, 'another policy', [{ code: 'policy_changed', subject: '2' }])
  const admins = await nextAdmins(desk, alice, ['user:ou_alice', 'user:ou_dave'])
  await append(story, ...(await withAcl(desk, alice, aclOf(desk))), admins)
  await reads(story, 'a new admin', [{ code: 'new_admin', subject: `${world.prod} user:ou_dave` }])
  await append(story, await sign('key.revoke', { kid: desk.carol.kid, reason: 'compromised' }, dave))
  await reads(story, 'a reader who was compromised', [{ code: 'rotation_due', subject: world.prod }])
}

async function breaks(story: Story): Promise<void> {
  const { desk, world } = story
  const { alice } = desk
  const due = { code: 'rotation_due', subject: world.prod }
  const second = await identityOf('mallory', 'user:ou_bob1')
  await append(story, await addOf(alice, second, ['member']))
  await writes(story, second)
  await cannot(story, 'a second key of a known writer that nothing links to the first', 'continuity_broken')
  const before = story.store
  await reads(story, 'the same, confirmed by a person', [due], { confirmed: [second.kid] })
  story.store = before
  const kids = [second.kid, (await identityOf('malloryNext', 'user:ou_bob1')).kid].sort()
  const third = await identityOf('big', 'user:ou_bob1')
  const members = { principal: 'user:ou_bob1', oldKids: kids, ...named(third), reason: 'lost' }
  await append(story, await sign('key.recover', members, alice, third))
  await writes(story, third)
  await reads(story, 'a writer who lost everything', [{ code: 'recovery_discontinuity', subject: third.kid }, due])
}

async function refusals(story: Story, pinned: TrustStore): Promise<void> {
  const { cases, store, world } = story
  const org = store.orgs[ORG] as TrustStore['orgs'][string]
  const input = { vaultId: world.prod, now: world.now, maxStaleMs: 60 * MINUTE }
  const withOrg = (change: object) => ({ ...store, orgs: { [ORG]: { ...org, ...change } } })
  const vault = org.vaults[world.prod] as TrustStore['orgs'][string]['vaults'][string]
  const no = (name: string, code: ProtocolErrorCode, before: unknown, answerName: string) =>
    cases.push(refuses('remember', name, code, { before, answer: answerName, ...input }))
  no('an answer from before the last read', 'log_rollback', store, 'the first read')
  no(
    'an older vault on a log that is not known',
    'vault_rollback',
    withOrg({ checkpoint: null, vaults: { [world.prod]: { ...vault, headVersion: 99 } } }),
    'the first read',
  )
  no(
    'another organisation',
    'genesis_mismatch',
    withOrg({ genesis: 'A'.repeat(43), checkpoint: null }),
    'the first read',
  )
  no(
    'an older policy',
    'log_rollback',
    { ...pinned, orgs: { [ORG]: { ...(pinned.orgs[ORG] as object), policyVersion: 2 } } },
    'the first read',
  )
  no('an organisation that is not pinned', 'genesis_mismatch', { version: 1, orgs: {} }, 'the first read')
  no(
    'a longer log without proof',
    'missing_consistency',
    (cases[0] as { result: Remembered }).result.after,
    'a second time, from nothing',
  )
}

function forms(pinned: TrustStore): VectorCase[] {
  const text = (value: unknown) => ({ text: `${JSON.stringify(value, null, 2)}\n` })
  const org = pinned.orgs[ORG] as object
  const no = (name: string, value: unknown) => refuses('parse', name, 'malformed', text(value))
  return [
    accepts('parse', 'a store with one organisation', text(pinned), text(pinned)),
    accepts('parse', 'an empty store', text({ version: 1, orgs: {} }), text({ version: 1, orgs: {} })),
    refuses('parse', 'text that is no JSON', 'malformed', { text: '{' }),
    no('another version', { ...pinned, version: 2 }),
    no('no version', { orgs: {} }),
    no('a member too many', { ...pinned, note: '' }),
    no('an organisation without its log', { version: 1, orgs: { [ORG]: { ...org, origin: undefined } } }),
    no('an unknown mode', { version: 1, orgs: { [ORG]: { ...org, mode: 'trusting' } } }),
    no('a pin under something that is no key id', { version: 1, orgs: { [ORG]: { ...org, signers: { bob: {} } } } }),
  ]
}

function pins(story: Story, pinned: TrustStore): VectorCase[] {
  const { world } = story
  const anchor = {
    org: ORG,
    genesis: documentHash(world.genesis),
    origin: ORIGIN,
    logVkeys: [world.host.logVkey],
    tlogPolicy: world.host.tlogPolicy,
  }
  const least = { ...anchor, minimum: { size: 7, root: 'A'.repeat(43) } }
  const { [ORG]: fresh } = pinned.orgs
  const empty = { version: 1, orgs: {} }
  const pin = (before: unknown, of: typeof anchor, mode = 'pinned') => ({ before, anchor: formatTrustAnchor(of), mode })
  return [
    accepts('pin', 'an organisation', pin(empty, anchor), { after: pinned }),
    accepts('pin', 'an organisation on first use', pin(empty, anchor, 'tofu'), {
      after: { version: 1, orgs: { [ORG]: { ...fresh, mode: 'tofu' } } },
    }),
    accepts('pin', 'an organisation with a minimum', pin(empty, least), {
      after: { version: 1, orgs: { [ORG]: { ...fresh, minimum: least.minimum } } },
    }),
    accepts('pin', 'the same organisation again', pin(story.store, anchor), { after: story.store }),
    refuses('pin', 'another fingerprint', 'genesis_mismatch', pin(pinned, { ...anchor, genesis: 'A'.repeat(43) })),
    refuses('pin', 'another log', 'genesis_mismatch', pin(pinned, { ...anchor, origin: 'log.evil.test/1' })),
  ]
}

export async function makeTrustStore(): Promise<VectorFile> {
  const world = await fixedWorld()
  const pinned = world.fresh()
  const story: Story = { world, desk: await deskOf(world), answers: {}, cases: [], store: pinned }
  await changes(story)
  await breaks(story)
  const last = story.store
  const org = pinned.orgs[ORG] as TrustStore['orgs'][string]
  story.store = { ...pinned, orgs: { [ORG]: { ...org, tlogPolicy: 'quorum none\n' } } }
  await reads(story, 'a second time, from nothing', [
    { code: 'recovery_discontinuity', subject: (await identityOf('big', 'user:ou_bob1')).kid },
    { code: 'rotation_due', subject: world.prod },
    { code: 'no_witness', subject: ORG },
  ])
  story.store = last
  await refusals(story, pinned)
  return {
    vectors: 'trust-store',
    section: '9.1',
    comment:
      'The store before, a read, and the store after with its notices. The answers of one story: each is to a client that knows the log up to `before`.',
    given: { org: ORG, answers: story.answers },
    cases: [...story.cases, ...forms(pinned), ...pins(story, pinned)],
  }
}
