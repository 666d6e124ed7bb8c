import {
  appendLeaf,
  decodeProof,
  documentHash,
  type Envelope,
  encodeMapProof,
  encodeProof,
  type Frontier,
  type Identity,
  type JsonObject,
  type LeafType,
  leafHash,
  leafOf,
  makeCheckpoint,
  makeDocument,
  makeMap,
  mapValue,
  peekDocument,
  proveConsistencyFrom,
  vaultHead,
  vaultName,
} from '@strongroom/protocol'
import { asDocument, asEnvelope, originOf, type Signed, sizeOf, stateIn, type Transparency } from './answers.ts'
import { need, type Power } from './attack.ts'

// A log in the hands of the attacker. All it takes is one honest answer and the log's key: the proof of the newest leaf holds
// everything that appending needs, and a leaf may name the root of any map at all. Only an auditor sees that it does not follow.

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** The log without its newest leaf, which the proof of that leaf shows. */
export const frontierBefore = ({ checkpoint, tip }: Transparency): Frontier => ({
  size: sizeOf(checkpoint) - 1,
  hashes: [...decodeProof(tip.hashes)].reverse(),
})

interface Grown {
  frontier: Frontier
  readonly nodes: Map<string, Uint8Array>
}

const placeOf = (level: number, index: number): string => `${level}/${index}`

/** The complete subtrees of a frontier by their place. */
function nodesOf({ size, hashes }: Frontier): Map<string, Uint8Array> {
  const nodes = new Map<string, Uint8Array>()
  let at = 0
  for (const hash of hashes) {
    const level = Math.floor(Math.log2(size - at))
    nodes.set(placeOf(level, at / 2 ** level), hash)
    at += 2 ** level
  }
  return nodes
}

function append(grown: Grown, leaf: Uint8Array): void {
  const { frontier, nodes } = appendLeaf(grown.frontier, leafHash(leaf))
  grown.frontier = frontier
  for (const { level, index, hash } of nodes) grown.nodes.set(placeOf(level, index), hash)
}

function openGrown(transparency: Transparency): Grown {
  const frontier = frontierBefore(transparency)
  const grown = { frontier, nodes: nodesOf(frontier) }
  append(grown, bytesOf(transparency.tip.leaf))
  return grown
}

function consistency(grown: Grown, have: number): string[] {
  const read = (level: number, index: number): Uint8Array =>
    need(grown.nodes.get(placeOf(level, index)), 'a client whose newest checkpoint is that of the server')
  return [...encodeProof(proveConsistencyFrom(read, have, grown.frontier.size))]
}

/** Signs a claim about the log with the log's own key. */
export const signLog = (power: Power, note: string, claim: { size: number; root: Uint8Array }): Promise<string> =>
  makeCheckpoint({ origin: originOf(note), ...claim }, need(power.logKey, 'the key of the log (--log-key)'))

/** Appends a leaf of any content and proves it, and that the log only grew. */
export async function growLog(power: Power, transparency: Transparency, leaf: Uint8Array): Promise<void> {
  const grown = openGrown(transparency)
  const before = grown.frontier
  const { root } = appendLeaf(before, leafHash(leaf))
  append(grown, leaf)
  transparency.checkpoint = await signLog(power, transparency.checkpoint, { size: grown.frontier.size, root })
  transparency.tip = { leaf: base64(leaf), hashes: [...encodeProof([...before.hashes].reverse())] }
  const { have } = power.asked
  if (have !== undefined) transparency.consistency = { from: have, hashes: consistency(grown, have) }
}

export interface Lie {
  readonly t?: LeafType
  readonly docs?: readonly Envelope[]
  readonly states: Readonly<Record<string, JsonObject>>
}

/** A false leaf: states that no rule allows, in an append-only log under the log's own signature. */
export async function logFalsely(power: Power, transparency: Transparency, lie: Lie): Promise<void> {
  const { t = 'vault.commit', docs = [], states } = lie
  const shown = transparency.map.filter(({ state }) => state !== null)
  const map = makeMap(shown.map(({ name, state }) => [name, mapValue(state)]))
  const updates = Object.entries(states)
    .map(([name, state]) => ({ name, state }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const leaf = leafOf(map, { t, d: docs.map(documentHash).sort(), updates }, Date.now())
  const all = new Map([...transparency.map.map(({ name, state }) => [name, state] as const), ...Object.entries(states)])
  await growLog(power, transparency, leaf.bytes)
  transparency.map = [...all].map(([name, state]) => {
    const { siblings, terminal } = encodeMapProof(map.prove(name))
    return { name, state, siblings: [...siblings], terminal: terminal && [terminal[0], terminal[1]] }
  })
}

/** The same content again under a head by somebody else, which the log takes. */
export async function logHead(
  power: Power,
  signed: Signed,
  signer: Identity,
  states: Readonly<Record<string, JsonObject>> = {},
  docs: readonly Envelope[] = [],
): Promise<void> {
  const { payload, hash } = peekDocument(vaultHead, asEnvelope(signed.head))
  const { v: _v, t: _t, by: _by, ...members } = payload
  const next = { ...members, headVersion: payload.headVersion + 1, prev: hash, changes: [], at: Date.now() }
  const head = await makeDocument(vaultHead, next, [signer])
  await logThisHead(power, signed, head, states, docs)
}

/** Any document as the current head of the vault. */
export async function logThisHead(
  power: Power,
  signed: Signed,
  head: Envelope,
  states: Readonly<Record<string, JsonObject>> = {},
  docs: readonly Envelope[] = [],
): Promise<void> {
  const name = vaultName(signed.vaultId)
  const state = need(stateIn(signed.transparency, name), 'an answer that proves the vault')
  const headVersion = Number(state.headVersion) + 1
  const headIndex = sizeOf(signed.transparency.checkpoint)
  const current = { ...state, headVersion, headHash: documentHash(head), headIndex }
  await logFalsely(power, signed.transparency, { docs: [head, ...docs], states: { ...states, [name]: current } })
  signed.head = asDocument(head)
}

/** An active key as the directory would hold it. */
export const kidEntry = (kid: string, record: Envelope, added: number): JsonObject => ({
  kid,
  status: 'active',
  added,
  end: null,
  rec: documentHash(record),
  capSets: [],
})
