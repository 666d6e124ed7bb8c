import { fromBase64, toBase64 } from '../../src/encoding/base64.ts'
import { mapValue } from '../../src/log/map.ts'
import { kidName, vaultName } from '../../src/log/state.ts'
import type { Attack } from './attack.ts'
import { type LogAnswer, serve } from './log.ts'
import { forgetState, tamper } from './powers.ts'

// Rows 2, 3 and 5: the state map, and what the server proves of it.

const flipped = (text: string): string => {
  const bytes = fromBase64(text)
  bytes[0] = (bytes[0] as number) ^ 1
  return toBase64(bytes)
}

const stateIn = (transparency: LogAnswer, name: string) =>
  transparency.map.find((proven) => proven.name === name) as LogAnswer['map'][number]

export const MAP_PROOFS: readonly Attack[] = [
  {
    id: 'log-state-altered',
    row: 5,
    title: 'a state other than the one in the map',
    code: 'bad_map_proof',
    run: (world, bench) =>
      serve(bench, (transparency) => {
        const proven = stateIn(transparency, vaultName(world.prod))
        proven.state = { ...proven.state, rotationDue: null, headVersion: 1 }
      }),
  },
  {
    id: 'log-state-altered-in-proof',
    row: 5,
    title: 'a state other than the one in the map, and the end of its path altered to fit',
    code: 'bad_map_proof',
    run: (world, bench) =>
      serve(bench, (transparency) => {
        const proven = stateIn(transparency, vaultName(world.prod))
        proven.state = { ...proven.state, headVersion: 1 }
        const [key] = proven.terminal as readonly [string, string]
        Object.assign(proven, { terminal: [key, toBase64(mapValue(proven.state))] })
      }),
  },
  {
    id: 'log-state-of-other-name',
    row: 2,
    title: 'the state of another vault, with its own proof, under the name of this one',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const other = await world.host.transparency([vaultName(world.staging)], { at: world.now })
      return client.read(
        tamper(await client.ask(), ({ transparency }) => {
          Object.assign(stateIn(transparency, vaultName(world.prod)), other.map[0], { name: vaultName(world.prod) })
        }),
      )
    },
  },
  {
    id: 'log-state-denied',
    row: 3,
    title: 'a key that is in the directory shown as absent',
    code: 'bad_map_proof',
    run: (world, bench) =>
      serve(bench, (transparency) => {
        stateIn(transparency, kidName(world.actors.bob.kid)).state = null
      }),
  },
  {
    id: 'log-state-denied-elsewhere',
    row: 3,
    title: 'a key shown as absent with the path of another name',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const other = await world.host.transparency([vaultName(world.staging)], { at: world.now })
      return client.read(
        tamper(await client.ask(), ({ transparency }) => {
          const name = kidName(world.actors.bob.kid)
          Object.assign(stateIn(transparency, name), other.map[0], { name, state: null })
        }),
      )
    },
  },
  {
    id: 'log-state-withheld',
    row: 3,
    title: 'the state of the vault left out',
    code: 'bad_map_proof',
    run: (world, bench) => serve(bench, (_transparency, copy) => forgetState(copy, vaultName(world.prod))),
  },
  {
    id: 'log-path-altered',
    row: 5,
    title: 'one hash on the path of a state altered',
    code: 'bad_map_proof',
    run: (world, bench) =>
      serve(bench, (transparency) => {
        const proven = stateIn(transparency, vaultName(world.prod))
        Object.assign(proven, { siblings: [flipped(proven.siblings[0] as string), ...proven.siblings.slice(1)] })
      }),
  },
]
