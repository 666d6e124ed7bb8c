import { randomUUID } from 'node:crypto'
import { memoryTrust, Strongroom } from '@strongroom/sdk'
import { leanFetch } from '../lean-fetch.ts'
import { PATIENT } from '../vault-clients.ts'
import type { World } from '../world.ts'
import { failed, type Kind, lost, type Problem } from './writer.ts'

// Secrets in a vault: set and set again by clients that meet each other in it. What the SDK was told of is in the log, proven,
// so it must be in the verified read of somebody who remembers nothing.

interface Kept {
  readonly value: string
  readonly version: number
}

const CLIENTS = 3
/** A commit costs many times what the other writes do, and the server has to keep their pace. */
const REST_MS = 250
/** Of one client: so many that a read of the whole vault stays small. */
const LABELS = 6

const own = ({ url, founder }: World) => ({
  // It sends again what was cut off, each commit with a key of its own: nobody else could, since a commit is built on a head.
  ...PATIENT,
  server: url,
  accessToken: founder.accessToken,
  privateKey: founder.identity,
  trustAnchor: founder.trustAnchor,
  trustStore: memoryTrust(),
  fetch: leanFetch,
})

async function compare(world: World, vaultId: string, kept: ReadonlyMap<string, Kept>): Promise<Problem[]> {
  const environment = await new Strongroom(own(world)).secrets.env({ vault: vaultId })
  const unknown = environment.names.filter((label) => !kept.has(label))
  return [
    ...[...kept].flatMap(([label, expected]) => {
      const there = environment.get(label)
      if (there?.reveal() === expected.value && there.version === expected.version) return []
      const words = there && `version ${there.version}, ${there.reveal()}`
      return [lost(`${label} is ${words}, acknowledged was ${JSON.stringify(expected)}`)]
    }),
    ...unknown.map((label) => failed(`${label} is there, and nobody was told`)),
  ]
}

export const vaults: Kind = {
  name: 'vaults',
  clients: CLIENTS,
  open: async (world) => {
    const { vaultId } = await new Strongroom(own(world)).vaults.create({ name: `under load ${randomUUID()}` })
    const clients = Array.from({ length: CLIENTS }, () => new Strongroom(own(world)))
    const kept = new Map<string, Kept>()
    const made = new Set<number>()
    const numbers = new Map<string, number>()
    const clientOf = (name: string): number => {
      const [, number = ''] = name.split(' ')
      if (!numbers.has(number)) numbers.set(number, numbers.size)
      return numbers.get(number) ?? 0
    }
    return {
      round: async (random, name) => {
        await new Promise((resolve) => setTimeout(resolve, REST_MS))
        const client = clientOf(name)
        const label = `SECRET_${client}_${random.below(LABELS)}`
        const ref = `sr://${vaultId}/service ${client}/${label}`
        const value = `${name} ${random.below(1e9)}`
        const { version } = await world.journal.submit({
          action: made.has(client) ? 'item.update' : 'item.create',
          send: () => (clients[client] as Strongroom).secrets.set(ref, value),
          target: () => vaultId,
        })
        made.add(client)
        // Nobody else writes it. A version that is not the next one shows when it is compared.
        kept.set(label, { value, version: Math.min(version, (kept.get(label)?.version ?? 0) + 1) })
      },
      check: () => compare(world, vaultId, kept),
    }
  },
}
