import { toBase64url } from '../../src/encoding/base64.ts'
import { decodeUtf8, utf8 } from '../../src/encoding/bytes.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { type LeafUpdate, makeLeaf } from '../../src/log/leaf.ts'
import { mapValue } from '../../src/log/map.ts'
import { openPartialMap } from '../../src/log/map-tree.ts'
import { kidName, vaultName } from '../../src/log/state.ts'
import type { StateUpdate } from '../../src/transition/draft.ts'
import { transition } from '../../src/transition/transition.ts'
import type { World } from '../../test/world/world.ts'
import { sign } from './chronicle.ts'
import { addOf } from './directory.ts'
import { accepts, type VectorFile } from './file.ts'
import { base64url, utf8 as bytes, sha256 } from './reference.ts'
import { type Desk, headNow, nextHead, stateOf } from './vault-desk.ts'
import { deskOf, fixedWorld } from './world-desk.ts'

// Section 5.5: a log that an auditor replays, and leaves it must refuse.

const OTHER = base64url(sha256(bytes('other')))

interface Draft {
  readonly t: string
  readonly d: readonly string[]
  readonly updates: readonly StateUpdate[]
}

/** The leaf that these updates would make on the current state, whether or not they follow from anything. */
function leafOn({ host }: World, { t, d, updates }: Draft, at: number, change: object = {}): Uint8Array {
  const { map } = host.ledger
  const claims = updates.map(({ name }) => ({ name, valueHash: map.get(name), proof: map.prove(name) }))
  const after = openPartialMap(map.root(), claims)
  const u = updates.map(({ name, state }): LeafUpdate => {
    const old = map.get(name)
    after.set(name, mapValue(state))
    return [name, old ? toBase64url(old) : '', toBase64url(mapValue(state))]
  })
  return makeLeaf({ t, d, u, r: toBase64url(after.root()), at, ...change }).bytes
}

const changed = (leaf: Uint8Array, from: string | RegExp, to: string): Uint8Array =>
  utf8(decodeUtf8(leaf).replace(from, to))

/** Leaves that differ from the honest one in what they say of it. */
function falseWords(world: World, desk: Desk, honest: Draft, docs: readonly Envelope[]): void {
  const at = world.now
  const leaf = leafOn(world, honest, at)
  const [only] = honest.updates as [StateUpdate]
  const other = { name: vaultName(world.staging), state: { ...only.state, vaultId: world.staging } }
  const due = { ...only.state, rotationDue: { index: 1, at: 1 } }
  const no = (name: string, lie: Uint8Array, delivered = docs) => desk.lie(name, 'bad_transition', lie, delivered)
  no('another state root', leafOn(world, honest, at, { r: OTHER }))
  no('another new value', changed(leaf, toBase64url(mapValue(only.state)), OTHER))
  no('another old value', changed(leaf, toBase64url(world.host.ledger.map.get(only.name) as Uint8Array), OTHER))
  no('another state with its own root', leafOn(world, { ...honest, updates: [{ ...only, state: due }] }, at))
  no('a state of another vault besides', leafOn(world, { ...honest, updates: [only, other] }, at))
  no('no change', leafOn(world, { ...honest, updates: [] }, at))
  no('another type', leafOn(world, { ...honest, t: 'vault.move' }, at))
  no('other documents than delivered', leafOn(world, { ...honest, d: [OTHER] }, at))
  no('a document that is not delivered', leafOn(world, { ...honest, d: [...honest.d, OTHER] }, at))
  no('no documents', leafOn(world, { ...honest, d: [] }, at), [])
  desk.lie('a member too many', 'malformed', changed(leaf, '"v":3', '"v":3,"w":1'), docs)
  desk.lie('a leaf that is not canonical', 'malformed', changed(leaf, '"v":3', '"v": 3'), docs)
}

/** The hashes of the documents as a leaf names them. */
const namesOf = (docs: readonly Envelope[]): string[] =>
  docs.map((envelope) => base64url(sha256(Buffer.from(envelope.payload, 'base64')))).sort()

/** Leaves over documents that nobody was entitled to sign, or that say something else. */
async function falseActs(world: World, desk: Desk, honest: Draft, head: Envelope): Promise<void> {
  const { bob, carol, mallory, host } = desk
  const lie = (name: string, code: ProtocolErrorCode, envelope: Envelope, draft: Omit<Draft, 'd'>): void =>
    desk.lie(name, code, leafOn(world, { ...draft, d: namesOf([envelope]) }, world.now), [envelope])
  const { prev } = headNow(desk)
  const stated = stateOf(desk)
  const back = { ...stated, headVersion: 1, headHash: prev, headIndex: stated.createIndex }
  const old = host.ledger.document(prev) as Envelope
  lie('a vault set back to an older head', 'head_conflict', old, {
    t: 'vault.commit',
    updates: [{ name: vaultName(world.prod), state: back }],
  })
  lie('a head by a reader', 'not_authorised', await nextHead(desk, carol), honest)
  const foreign = (await nextHead(desk, mallory)).signatures[0] as { sig: string }
  lie(
    'a head with a bad signature',
    'bad_signature',
    { ...head, signatures: [{ keyid: bob.kid, sig: foreign.sig }] },
    honest,
  )
  const state = { kid: mallory.kid, status: 'active', added: host.leaves.length, end: null, rec: OTHER, capSets: [] }
  lie('a key endorsed by a member', 'endorser_not_admin', await addOf(bob, mallory, ['member']), {
    t: 'key.add',
    updates: [{ name: kidName(mallory.kid), state }],
  })
}

export async function makeAudit(): Promise<VectorFile> {
  const world = await fixedWorld()
  const desk = await deskOf(world)
  const { alice, bob, host } = desk
  const at = world.now
  const after = host.leaves.length
  const head = await nextHead(desk, bob)
  const honest = await transition(host.ledger, after, { docs: [head], at })
  falseWords(world, desk, honest, [head])
  await falseActs(world, desk, honest, head)
  const revoke = await sign('key.revoke', { kid: bob.kid, reason: 'compromised' }, alice)
  const ended = await transition(host.ledger, after, { docs: [revoke], at })
  const quiet = { ...ended, updates: ended.updates.filter(({ name }) => !name.startsWith('vault/')) }
  desk.lie('a duty to rotate that is kept quiet', 'bad_transition', leafOn(world, quiet, at), [revoke])
  const audited = (name: string, draft: Draft, docs: readonly Envelope[]) =>
    accepts('audit', name, { after, leaf: decodeUtf8(leafOn(world, draft, at)), docs }, { t: draft.t })
  const file = desk.file({
    vectors: 'audit',
    section: '5.5',
    comment:
      'The log of a small organisation with two vaults, and leaves that a lying server might append to it: each is refused, whatever its documents say.',
  })
  const next = [audited('the honest next leaf', honest, [head]), audited('the honest end of a key', ended, [revoke])]
  return { ...file, cases: [...file.cases, ...next] }
}
