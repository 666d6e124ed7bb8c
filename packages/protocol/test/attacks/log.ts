import { fromBase64, toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { concat, utf8 } from '../../src/encoding/bytes.ts'
import { canonicalText, type JsonObject, parseStrict } from '../../src/encoding/canonical.ts'
import { documentHash } from '../../src/identity/document.ts'
import { cosign, makeCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { encodeProof, leafHash, nodeHash } from '../../src/log/merkle.ts'
import { proveInclusion, rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import { addNoteSignatures, type NoteSigner } from '../../src/log/note.ts'
import { formatTrustAnchor, parseTrustAnchor } from '../../src/trust/anchor.ts'
import { EMPTY_TRUST_STORE, pinAnchor, type TrustStore } from '../../src/trust/store.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import { noteSigner, ORIGIN, type Witness } from '../world/log-host.ts'
import { MINUTE, ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { tamper, type WritableAnswer } from './powers.ts'

// Rows 7 and 8, and the log itself: what is current, and that there is one history of it. The server holds the log key;
// witnesses cosign only what they saw.

export type LogAnswer = WritableAnswer['transparency']

export const serve = async ({ client }: Bench, change: (transparency: LogAnswer, copy: WritableAnswer) => void) =>
  client.read(tamper(await client.ask(), (copy) => change(copy.transparency, copy)))

export const hashesOf = (world: World): Uint8Array[] => world.host.leaves.map(({ made }) => leafHash(made.bytes))

/** A checkpoint over any leaves, signed with the real log key and by those witnesses that play along. */
export async function checkpointOver(
  world: World,
  hashes: readonly Uint8Array[],
  options: { readonly witnesses?: readonly Witness[]; readonly signer?: NoteSigner; readonly origin?: string } = {},
): Promise<string> {
  const { witnesses = world.host.witnesses, signer = await noteSigner(0x77), origin = ORIGIN } = options
  const note = await makeCheckpoint({ origin, size: hashes.length, root: rootOfLeaves(hashes) }, signer)
  if (witnesses.length === 0) return note
  const checked = await verifyCheckpoint(note, { origin: ORIGIN, logKeys: [world.host.logVkey] })
  const seconds = Math.floor(world.now / 1000)
  return addNoteSignatures(
    note,
    await Promise.all(witnesses.map((one) => cosign(checked, one.name, one.signer, seconds))),
  )
}

/** A leaf that claims another state root than the log has. */
const leafWithRoot = (leaf: string, root: string): Uint8Array => {
  const content = parseStrict(fromBase64(leaf)) as JsonObject
  return utf8(canonicalText({ ...content, r: root }))
}

const readWith = (world: World, store: TrustStore, answer: unknown) =>
  openEnvironment(answer, world.prod, world.trust(store, world.prod), world.actors.deploy)

export const LOG_HONEST: readonly Honest[] = [
  {
    id: 'log-honest-anchor',
    theme: 'log',
    title: 'a stateless client with a minimum in its anchor reads a longer log',
    run: async (world) => {
      const size = world.host.leaves.length
      const store = anchored(world, size, toBase64url(rootOfLeaves(hashesOf(world))))
      await world.write(world.prod, [], world.actors.bob)
      await readWith(world, store, await world.answer(world.prod, world.actors.deploy, { have: size }))
    },
  },
  {
    id: 'log-honest-idle',
    theme: 'freshness',
    title: 'an idle log that witnesses have cosigned again stays readable',
    run: async (world, { client }) => {
      await client.learn()
      world.now += 600 * MINUTE
      await client.read(await client.ask())
    },
  },
]

/** A trust store made from an anchor that names the log as it was at some size. */
function anchored(world: World, size: number, root: string): TrustStore {
  const anchor = formatTrustAnchor({
    org: ORG,
    genesis: documentHash(world.genesis),
    origin: ORIGIN,
    logVkeys: [world.host.logVkey],
    tlogPolicy: world.host.tlogPolicy,
    minimum: { size, root },
  })
  return pinAnchor(EMPTY_TRUST_STORE, parseTrustAnchor(anchor), 'pinned')
}

export const LOG: readonly Attack[] = [
  {
    id: 'log-other-leaf-as-tip',
    row: 6,
    title: 'an older leaf with its own, genuine proof as the newest one',
    code: 'bad_inclusion',
    run: (world, bench) =>
      serve(bench, (transparency) => {
        const hashes = hashesOf(world)
        const index = hashes.length - 2
        const leaf = world.host.leaves[index]?.made.bytes as Uint8Array
        transparency.tip = { leaf: toBase64(leaf), hashes: [...encodeProof(proveInclusion(hashes, index))] }
      }),
  },
  {
    id: 'log-tip-altered',
    row: 5,
    title: 'the newest leaf with another state root',
    code: 'bad_inclusion',
    run: (_world, bench) =>
      serve(bench, (transparency) => {
        const { tip } = transparency
        tip.leaf = toBase64(leafWithRoot(tip.leaf, toBase64url(new Uint8Array(32))))
      }),
  },
  {
    id: 'log-proof-hash-missing',
    row: 5,
    title: 'an inclusion proof that is too short',
    code: 'bad_inclusion',
    run: (_world, bench) => serve(bench, ({ tip }) => tip.hashes.pop()),
  },
  {
    id: 'log-proof-hash-added',
    row: 5,
    title: 'an inclusion proof that is too long',
    code: 'bad_inclusion',
    run: (_world, bench) => serve(bench, ({ tip }) => tip.hashes.push(toBase64(new Uint8Array(32)))),
  },
  {
    id: 'log-node-as-leaf',
    row: 24,
    title: 'an inner node of the log shown as its newest leaf',
    code: 'bad_inclusion',
    run: async (world, { client }) => {
      const answer = await client.ask()
      const hashes = hashesOf(world)
      // The server cuts the log so that its last leaf would be the parent of two real leaves.
      const [left, right] = hashes.slice(-2) as [Uint8Array, Uint8Array]
      const short = [...hashes.slice(0, -2), nodeHash(left, right)]
      const checkpoint = await checkpointOver(world, short)
      return client.read(
        tamper(answer, ({ transparency }) => {
          const tip = {
            leaf: toBase64(concat(left, right)),
            hashes: [...encodeProof(proveInclusion(short, short.length - 1))],
          }
          Object.assign(transparency, { checkpoint, tip })
        }),
      )
    },
  },
  {
    id: 'log-checkpoint-of-other-root',
    row: 8,
    title: 'a checkpoint, cosigned by everybody, that does not contain the newest leaf',
    code: 'bad_inclusion',
    run: async (world, { client }) => {
      const checkpoint = await checkpointOver(world, hashesOf(world).toReversed())
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'log-empty',
    row: 6,
    title: 'a checkpoint of the empty log',
    code: 'bad_inclusion',
    run: async (world, { client }) => {
      const checkpoint = await checkpointOver(world, [])
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'log-shrunk-below-anchor',
    row: 6,
    title: 'a stateless runner taken back before its anchor was issued',
    code: 'log_rollback',
    run: async (world) => {
      const store = anchored(world, world.host.leaves.length + 1, toBase64url(new Uint8Array(32)))
      return readWith(world, store, await world.answer(world.prod, world.actors.deploy))
    },
  },
  {
    id: 'log-other-than-anchor',
    row: 8,
    title: 'a stateless runner shown another log of the size its anchor names',
    code: 'log_fork',
    run: async (world) => {
      const store = anchored(world, world.host.leaves.length, toBase64url(new Uint8Array(32)))
      return readWith(world, store, await world.answer(world.prod, world.actors.deploy))
    },
  },
]
