import { platform } from '#platform'
import { toBase64 } from '../../src/encoding/base64.ts'
import { concat, fromHex } from '../../src/encoding/bytes.ts'
import type { Json, JsonObject } from '../../src/encoding/canonical.ts'
import { parseEd25519Spki } from '../../src/identity/der.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { cosign, makeCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import type { MadeLeaf } from '../../src/log/leaf.ts'
import { encodeMapProof } from '../../src/log/map.ts'
import { encodeProof, leafHash } from '../../src/log/merkle.ts'
import { proveConsistency, proveInclusion, rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import {
  addNoteSignatures,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSigner,
} from '../../src/log/note.ts'
import type { Transparency } from '../../src/log/transparency.ts'
import { type Ledger, leafOf, makeLedger } from '../../src/transition/ledger.ts'
import { type Transition, transition } from '../../src/transition/transition.ts'

// An honest log of one organisation in memory: what a server does with acts, and what it proves of them.

export const ORIGIN = 'log.strongroom.test/5f1c0a9be3d7426881b0c9d2f4a6e817'

const PKCS8 = fromHex('302e020100300506032b657004220420')

export async function noteSigner(seedByte: number): Promise<NoteSigner> {
  const { key, spki } = await platform.importEd25519(concat(PKCS8, new Uint8Array(32).fill(seedByte)))
  return { publicKey: parseEd25519Spki(spki), sign: (message) => platform.ed25519Sign(key, message) }
}

export interface Witness {
  readonly name: string
  readonly signer: NoteSigner
  readonly vkey: string
}

export async function makeWitness(name: string, seedByte: number): Promise<Witness> {
  const signer = await noteSigner(seedByte)
  return { name, signer, vkey: makeVerifierKey(name, NOTE_COSIGNATURE, signer.publicKey).vkey }
}

export interface LoggedLeaf {
  readonly made: MadeLeaf
  readonly docs: readonly Envelope[]
}

export interface LogHost {
  readonly ledger: Ledger
  readonly leaves: readonly LoggedLeaf[]
  readonly logVkey: string
  readonly witnesses: readonly Witness[]
  readonly tlogPolicy: string
  /** Runs the transition function and appends a leaf. */
  append(docs: readonly Envelope[], at: number): Promise<Transition>
  /** Appends whatever it is told, as a lying server would. */
  appendFalse(applied: Transition, docs: readonly Envelope[], at: number): void
  checkpoint(options?: { size?: number; at?: number; witnesses?: readonly Witness[] }): Promise<string>
  transparency(
    names: readonly string[],
    options?: { have?: number; at?: number; witnesses?: readonly Witness[] },
  ): Promise<Transparency>
  state(name: string): JsonObject | undefined
}

export async function openLogHost(org: string): Promise<LogHost> {
  const ledger = makeLedger(org)
  const leaves: LoggedLeaf[] = []
  const signer = await noteSigner(0x77)
  const witnesses = [await makeWitness('witness.one.test', 0x61), await makeWitness('witness.two.test', 0x62)]
  const hashes = (size = leaves.length) => leaves.slice(0, size).map(({ made }) => leafHash(made.bytes))
  const states = new Map<string, JsonObject>()

  function appendFalse(applied: Transition, docs: readonly Envelope[], at: number): void {
    const made = leafOf(ledger.map, applied, at)
    ledger.accept(applied, docs, at, made.bytes)
    for (const { name, state } of applied.updates) states.set(name, state)
    leaves.push({ made, docs })
  }
  async function append(docs: readonly Envelope[], at: number): Promise<Transition> {
    const applied = await transition(ledger, leaves.length, { docs, at })
    appendFalse(applied, docs, at)
    return applied
  }
  async function checkpoint(
    options: { size?: number; at?: number; witnesses?: readonly Witness[] } = {},
  ): Promise<string> {
    const { size = leaves.length, at = 0, witnesses: cosigners = witnesses } = options
    const note = await makeCheckpoint({ origin: ORIGIN, size, root: rootOfLeaves(hashes(size)) }, signer)
    const checked = await verifyCheckpoint(note, { origin: ORIGIN, logKeys: [logVkey] })
    const seconds = Math.floor(at / 1000)
    const cosignatures = await Promise.all(
      cosigners.map((witness) => cosign(checked, witness.name, witness.signer, seconds)),
    )
    return cosignatures.length > 0 ? addNoteSignatures(note, cosignatures) : note
  }
  const logVkey = makeVerifierKey(ORIGIN, NOTE_SIGNATURE, signer.publicKey).vkey
  const tlogPolicy = `${witnesses.map((one) => `witness ${one.name} ${one.vkey}\n`).join('')}group both all ${witnesses.map((one) => one.name).join(' ')}\nquorum both\n`

  async function transparency(
    names: readonly string[],
    options: { have?: number; at?: number; witnesses?: readonly Witness[] } = {},
  ): Promise<Transparency> {
    const size = leaves.length
    const { have } = options
    const tip = leaves[size - 1] as LoggedLeaf
    return {
      checkpoint: await checkpoint(options),
      ...(have !== undefined &&
        have > 0 &&
        have < size && { consistency: { from: have, hashes: encodeProof(proveConsistency(hashes(), have, size)) } }),
      tip: { leaf: toBase64(tip.made.bytes), hashes: encodeProof(proveInclusion(hashes(), size - 1, size)) },
      map: names.map((name) => ({
        name,
        state: (states.get(name) ?? null) as Json,
        ...encodeMapProof(ledger.map.prove(name)),
      })),
    }
  }
  return {
    ledger,
    leaves,
    logVkey,
    witnesses,
    tlogPolicy,
    append,
    appendFalse,
    checkpoint,
    transparency,
    state: (name) => states.get(name),
  }
}

export const hashesOf = (docs: readonly Envelope[]): string[] => docs.map(documentHash).sort()
