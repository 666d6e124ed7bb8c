import { fromBase64, toBase64 } from '../../src/encoding/base64.ts'
import { encodeProof, leafHash } from '../../src/log/merkle.ts'
import { proveConsistency, proveInclusion } from '../../src/log/merkle-proofs.ts'
import { verifyUnchanged } from '../../src/log/transparency.ts'
import type { World } from '../world/world.ts'
import type { Attack, Bench, Client } from './attack.ts'
import { checkpointOver } from './log.ts'
import { tamper, type WritableAnswer } from './powers.ts'

// Rows 6 to 8 against a client with memory: there is one log, and it only grows.

/** The client has read; then the vault goes on, and the server alters what it proves of that. */
const alteringLog =
  (change: (transparency: WritableAnswer['transparency'], world: World) => void) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    await client.learn()
    for (let i = 0; i < 3; i++) await world.write(world.prod, [], world.actors.bob)
    return client.read(tamper(await client.ask(), ({ transparency }) => change(transparency, world)))
  }

/** Replaces one leaf of the past and signs the checkpoint anew, with witnesses that keep no memory. */
async function forkedAnswer(world: World, client: Client, from: number) {
  const answer = await client.ask()
  const hashes = world.host.leaves.map(({ made }) => leafHash(made.bytes))
  hashes[1] = leafHash(new Uint8Array(8))
  const checkpoint = await checkpointOver(world, hashes)
  return tamper(answer, ({ transparency }) => {
    transparency.checkpoint = checkpoint
    transparency.tip.hashes = [...encodeProof(proveInclusion(hashes, hashes.length - 1))]
    if (from < hashes.length)
      transparency.consistency = { from, hashes: [...encodeProof(proveConsistency(hashes, from))] }
  })
}

export const MEMORY_LOG: readonly Attack[] = [
  {
    id: 'memory-log-shrunk',
    row: 6,
    title: 'a shorter log than the client has seen',
    code: 'log_rollback',
    run: async (world, { client }) => {
      const older = await client.ask()
      await world.write(world.prod, [], world.actors.bob)
      await client.learn()
      return client.read(older)
    },
  },
  {
    id: 'memory-log-forked',
    row: 8,
    title: 'another log of the size the client has seen',
    code: 'log_fork',
    run: async (world, { client }) => {
      await client.learn()
      return client.read(await forkedAnswer(world, client, world.host.leaves.length))
    },
  },
  {
    id: 'memory-log-forked-and-grown',
    row: 8,
    title: 'a longer log with another past, and the best proof there is',
    code: 'log_fork',
    run: async (world, { client }) => {
      await client.learn()
      const from = world.host.leaves.length
      await world.write(world.prod, [], world.actors.bob)
      return client.read(await forkedAnswer(world, client, from))
    },
  },
  {
    id: 'memory-no-consistency',
    row: 8,
    title: 'a longer log without a proof that it only grew',
    code: 'missing_consistency',
    run: alteringLog((transparency) => {
      delete transparency.consistency
    }),
  },
  {
    id: 'memory-consistency-of-other-size',
    row: 8,
    title: 'a proof that the log grew from another size than the one seen',
    code: 'missing_consistency',
    run: alteringLog((transparency, world) => {
      const hashes = world.host.leaves.map(({ made }) => leafHash(made.bytes))
      transparency.consistency = { from: 4, hashes: [...encodeProof(proveConsistency(hashes, 4))] }
    }),
  },
  {
    id: 'memory-consistency-cut',
    row: 8,
    title: 'a consistency proof that is too short',
    code: 'log_fork',
    run: alteringLog(({ consistency }) => consistency?.hashes.pop()),
  },
  {
    id: 'memory-consistency-long',
    row: 8,
    title: 'a consistency proof that is too long',
    code: 'log_fork',
    run: alteringLog(({ consistency }) => consistency?.hashes.push(toBase64(new Uint8Array(32)))),
  },
  {
    id: 'memory-consistency-altered',
    row: 8,
    title: 'a consistency proof with one hash altered',
    code: 'log_fork',
    run: alteringLog(({ consistency }) => {
      if (!consistency) return
      const last = fromBase64(consistency.hashes.at(-1) as string)
      last[0] = (last[0] as number) ^ 1
      consistency.hashes.splice(-1, 1, toBase64(last))
    }),
  },
  {
    id: 'memory-unchanged-is-a-lie',
    row: 7,
    title: 'a server that says nothing changed and signs a longer log',
    code: 'log_rollback',
    run: async (world, { client }) => {
      await client.learn()
      await world.write(world.prod, [], world.actors.bob)
      const checkpoint = await world.host.checkpoint({ at: world.now })
      const { log, freshness } = world.trust(client.store)
      return verifyUnchanged({ checkpoint, unchanged: true }, log, freshness)
    },
  },
]
