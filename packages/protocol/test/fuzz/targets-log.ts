import { equalBytes } from '../../src/encoding/bytes.ts'
import { canonicalText } from '../../src/encoding/canonical.ts'
import { peekCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { documentsOf, parseLeaf, updatesOf } from '../../src/log/leaf.ts'
import {
  decodeMapProof,
  encodeMapProof,
  type MapProof,
  mapRoot,
  mapValue,
  proveMap,
  verifyMapProof,
} from '../../src/log/map.ts'
import { parseNote, parseVkey, serialiseNote } from '../../src/log/note.ts'
import { transparencyShape, verifyTransparency } from '../../src/log/transparency.ts'
import { NO_WITNESSES, parseWitnessPolicy } from '../../src/log/witness-policy.ts'
import type { Fixtures } from './fixtures.ts'
import { changeInside, insidesOf, jsonBytes, jsonSample } from './inputs.ts'
import { mutateJson, treeOf } from './mutate-json.ts'
import { mutateBytes, mutateText } from './mutate-text.ts'
import type { Random } from './random.ts'
import { agree, same, type Target, target } from './target.ts'

// Section 5: notes, checkpoints, leaves, proofs, and the transparency object as a whole.

interface Noted {
  readonly transparency: { readonly checkpoint: string }
}
const checkpointsOf = ({ answer, others }: Fixtures): readonly string[] =>
  [answer, ...others].map((one) => (one as unknown as Noted).transparency.checkpoint)

function notes(fixtures: Fixtures): Target[] {
  const samples = [...new Set(checkpointsOf(fixtures))]
  const { log } = fixtures.trust
  const policy = parseWitnessPolicy(log.witnessPolicy)
  const claims = samples.map(peekCheckpoint)
  const parse = target(
    'parseNote',
    1,
    (random) => mutateText(random, random.pick(samples), samples),
    (note) => agree(serialiseNote(parseNote(note)) === note, 'a note was accepted in another than its one form'),
  )
  const verify = target(
    'verifyCheckpoint',
    1,
    (random) => mutateText(random, random.pick(samples), samples),
    async (note) => {
      const { origin, size, root } = await verifyCheckpoint(note, { ...log, cosigners: policy })
      const genuine = claims.some((one) => one.origin === origin && one.size === size && equalBytes(one.root, root))
      agree(genuine, 'a checkpoint was accepted that the log never signed')
    },
  )
  return [parse, verify]
}

function vkeys({ trust, world }: Fixtures): Target[] {
  const samples = [...trust.log.logKeys, ...world.host.witnesses.map(({ vkey }) => vkey)]
  const policies = [trust.log.witnessPolicy, NO_WITNESSES, `# comment\nlog ${samples[0]}\n${trust.log.witnessPolicy}`]
  return [
    target(
      'parseVkey',
      1,
      (random) => mutateText(random, random.pick(samples), samples),
      (vkey) => agree(parseVkey(vkey).vkey === vkey, 'a verifier key was accepted in another than its one form'),
    ),
    target(
      'parseWitnessPolicy',
      1,
      (random) => mutateText(random, random.pick(policies), policies),
      (text) => {
        const { quorum, witnesses } = parseWitnessPolicy(text)
        const keys = new Set(witnesses.map(({ key }) => String(key.publicKey)))
        agree(keys.size === witnesses.length, 'one witness counts twice')
        agree(quorum === null || quorum.kind === 'witness' || quorum.threshold >= 1, 'a quorum of nobody was accepted')
      },
    ),
  ]
}

function leaves({ world }: Fixtures): Target {
  const samples = world.host.leaves.map(({ made }) => jsonSample(new TextDecoder().decode(made.bytes)))
  return target(
    'parseLeaf',
    1,
    (random) => jsonBytes(random, samples),
    (bytes) => {
      const leaf = parseLeaf(bytes)
      const { v, t, r, at } = leaf
      const d = 'hash' in leaf.documents ? { dh: leaf.documents.hash } : { d: documentsOf(leaf) }
      const u = 'hash' in leaf.updates ? { uh: leaf.updates.hash } : { u: updatesOf(leaf) }
      const again = canonicalText({ v, t, r, at, ...d, ...u })
      agree(again === new TextDecoder().decode(bytes), 'a leaf was accepted in another than its one form')
    },
  )
}

const NAMES = Array.from({ length: 200 }, (_, i) => `item/itm_${i}`)

interface MapInput {
  readonly name: string
  readonly value: Uint8Array | null
  readonly proof: MapProof
}

function mapInput(
  random: Random,
  proofs: ReadonlyMap<string, MapProof>,
  values: ReadonlyMap<string, Uint8Array>,
): MapInput {
  const names = [...proofs.keys()]
  const [name, other] = [random.pick(names), random.pick(names)]
  const honest = proofs.get(name) as MapProof
  const foreign = proofs.get(other) as MapProof
  const siblings = [...honest.siblings]
  const at = random.int(siblings.length)
  const proof: MapProof = random.pick([
    honest,
    foreign,
    { ...honest, siblings: siblings.slice(0, at) },
    { ...honest, siblings: [...siblings, ...siblings.slice(at)] },
    { ...honest, siblings: siblings.with(at, foreign.siblings[0] as Uint8Array) },
    { ...honest, siblings: siblings.with(at, mutateBytes(random, siblings[at] as Uint8Array)) },
    { ...honest, siblings: siblings.toReversed() },
    { ...honest, terminal: foreign.terminal },
    { ...honest, terminal: null },
    { siblings: new Array<Uint8Array>(random.int(300)).fill(siblings[0] as Uint8Array), terminal: honest.terminal },
  ])
  const value = random.pick([values.get(name) ?? null, values.get(other) ?? null, null, random.bytes(random.int(40))])
  return { name, value, proof }
}

function proofs(): Target[] {
  const values = new Map(NAMES.filter((_, i) => i % 2 === 0).map((name) => [name, mapValue({ name })] as const))
  const root = mapRoot(values)
  const made = new Map(NAMES.map((name) => [name, proveMap(values, name)] as const))
  const trees = [...made.values()].map((proof) => treeOf(encodeMapProof(proof)))
  return [
    target(
      'decodeMapProof',
      1,
      (random) => mutateJson(random, random.pick(trees), [random.pick(trees)]),
      (text) => agree(same(encodeMapProof(decodeMapProof(text)), text), 'a map proof was read otherwise than written'),
    ),
    target(
      'verifyMapProof',
      1,
      (random) => mapInput(random, made, values),
      ({ name, value, proof }) => {
        verifyMapProof(root, name, value, proof)
        const truth = values.get(name) ?? null
        agree(truth === null || value === null ? truth === value : equalBytes(truth, value), 'a false state was proven')
      },
    ),
  ]
}

function transparency({ answer, others, trust, opened, world }: Fixtures): Target[] {
  const tree = treeOf(answer.transparency)
  const pool = [answer, ...others].map((one) => treeOf(one.transparency))
  const insides = insidesOf(tree)
  const { view } = opened.head.vault.directory
  return [
    target(
      'transparencyShape',
      1,
      (random) => mutateJson(random, tree, pool),
      (candidate) => transparencyShape(candidate, 'transparency'),
    ),
    target(
      'verifyTransparency',
      0.05,
      (random) => (random.once(3) ? changeInside(random, tree, insides) : mutateJson(random, tree, pool)),
      async (candidate) => {
        const found = await verifyTransparency(candidate, trust.log, trust.freshness)
        agree(found.checkpoint.size === view.checkpoint.size, 'another size of the log was accepted')
        agree(equalBytes(found.checkpoint.root, view.checkpoint.root), 'another log was accepted')
        for (const [name, state] of found.states)
          agree(same(state, world.host.state(name) ?? null), 'a false state was proven')
      },
    ),
  ]
}

export const logTargets = (fixtures: Fixtures): readonly Target[] => [
  ...notes(fixtures),
  ...vkeys(fixtures),
  leaves(fixtures),
  ...proofs(),
  ...transparency(fixtures),
]
