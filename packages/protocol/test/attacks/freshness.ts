import { noteSigner, type Witness } from '../world/log-host.ts'
import { MINUTE } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { checkpointOver, hashesOf, serve } from './log.ts'
import { tamper } from './powers.ts'

// Rows 7 and 8: who vouches for a checkpoint, and for how long.

export const FRESHNESS: readonly Attack[] = [
  {
    id: 'fresh-frozen',
    row: 7,
    title: 'an answer of two hours ago, kept for this client',
    code: 'stale_view',
    run: async (world, { client }) => {
      const answer = await client.ask()
      world.now += 120 * MINUTE
      return client.read(answer)
    },
  },
  {
    id: 'fresh-clock-ahead',
    row: 7,
    title: 'a witness whose clock is a year ahead, to look fresh for ever',
    code: 'stale_view',
    run: async (world, { client }) => {
      const answer = await world.answer(world.prod, world.actors.deploy, { at: world.now + 525_600 * MINUTE })
      return client.read(answer)
    },
  },
  {
    id: 'fresh-no-witness',
    row: 7,
    title: 'a checkpoint that no witness has cosigned',
    code: 'witness_quorum',
    run: async (world, { client }) => {
      const checkpoint = await checkpointOver(world, hashesOf(world), { witnesses: [] })
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-one-witness',
    row: 7,
    title: 'a checkpoint that one of two witnesses has cosigned',
    code: 'witness_quorum',
    run: async (world, { client }) => {
      const checkpoint = await checkpointOver(world, hashesOf(world), { witnesses: world.host.witnesses.slice(1) })
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-witness-of-the-server',
    row: 7,
    title: 'a cosignature by a key of the server under the name of a witness',
    code: 'witness_quorum',
    run: async (world, { client }) => {
      const [first, second] = world.host.witnesses as [Witness, Witness]
      const impostor = { ...second, signer: await noteSigner(0x13) }
      const checkpoint = await checkpointOver(world, hashesOf(world), { witnesses: [first, impostor] })
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-cosignature-of-other-checkpoint',
    row: 7,
    title: 'the cosignatures of an older checkpoint moved to a newer one',
    code: 'bad_signature',
    run: async (world, { client }) => {
      const older = (await client.ask()).transparency as { checkpoint: string }
      await world.write(world.prod, [], world.actors.bob)
      const note = await checkpointOver(world, hashesOf(world), { witnesses: [] })
      const lines = older.checkpoint.split('\n').filter((line) => line.startsWith('— witness'))
      const checkpoint = `${note}${lines.join('\n')}\n`
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-other-log-key',
    row: 8,
    title: 'a checkpoint signed by another log key',
    code: 'log_key',
    run: async (world, { client }) => {
      const signer = await noteSigner(0x13)
      const checkpoint = await checkpointOver(world, hashesOf(world), { witnesses: [], signer })
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-other-log',
    row: 8,
    title: 'a checkpoint of another log of the same server',
    code: 'log_key',
    run: async (world, { client }) => {
      const origin = 'log.strongroom.test/00000000000000000000000000000000'
      const checkpoint = await checkpointOver(world, hashesOf(world), { witnesses: [], origin })
      return client.read(tamper(await client.ask(), ({ transparency }) => Object.assign(transparency, { checkpoint })))
    },
  },
  {
    id: 'fresh-extension-line',
    row: 25,
    title: 'a checkpoint with a line that no witness vouches for',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, (transparency) => {
        const [body, signatures] = transparency.checkpoint.split('\n\n') as [string, string]
        transparency.checkpoint = `${body}\nstate=other\n\n${signatures}`
      }),
  },
]
