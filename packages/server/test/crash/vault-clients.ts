import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { decodePem } from '@strongroom/protocol'
import { type CreatedAgent, type FirstPerson, memoryTrust, Strongroom, type StrongroomOptions } from '@strongroom/sdk'
import type { Traffic } from './traffic.ts'

// Everybody who writes into one vault: services with keys of their own, each running in several places at once. A place has its
// own memory and its own pins, and knows nothing of the others; that is what a replica, a job or a second laptop is.

export interface VaultClient {
  readonly number: number
  readonly strongroom: Strongroom
  /** How often the write that runs, or ran last, met a newer head. */
  rebases(): number
  beginWrite(): void
}

export interface VaultClients {
  readonly vaultId: string
  readonly clients: readonly VaultClient[]
  /** Who made the vault, with a memory of nothing. */
  reader(): Strongroom
}

export interface ClientsOptions {
  readonly url: string
  readonly founder: FirstPerson
  readonly traffic: Traffic
  readonly writers: number
  /** Where a client finds the server; all of them at `url` if absent. */
  readonly urlOf?: (client: number) => string
}

/** Replicas of each service. */
const PLACES = 4
const FILE = new URL('../../../protocol/vectors/keys.json', import.meta.url)

/** Goes on through a restart of the server, however long that takes on a busy machine. */
export const PATIENT: StrongroomOptions = {
  cache: false,
  retry: { maxRetries: 10_000, baseDelayMs: 100, maxDelayMs: 1000, budget: { capacity: 10_000, refillPerSecond: 100 } },
}

export async function makeVaultClients(options: ClientsOptions): Promise<VaultClients> {
  const { url, founder, traffic, writers, urlOf = () => url } = options
  const own = (): StrongroomOptions => ({
    ...PATIENT,
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.identity,
    trustAnchor: founder.trustAnchor,
    trustStore: memoryTrust(),
    fetch: traffic.fetchFor(() => undefined),
  })
  const alice = new Strongroom(own())
  const { keys } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly keys: Readonly<Record<string, string>> }
  // One key stands for many principals, since a key id names both: making RSA keys is slow.
  const material = decodePem(keys.deploy ?? '')
  const services: CreatedAgent[] = []
  for (let i = 0; i * PLACES < writers; i++)
    services.push(
      await alice.agents.create({
        name: `service ${i} of ${randomUUID()}`,
        permissions: ['machine.all'],
        keys: { material },
      }),
    )
  const access = services.map(({ agent }) => ({ principal: `agent:${agent.agentId}`, role: 'WRITE' as const }))
  const { vaultId } = await alice.vaults.create({ name: `shared ${randomUUID()}`, access })
  const clients = Array.from({ length: writers }, (_, number): VaultClient => {
    let rebases = 0
    const bundle = services[Math.floor(number / PLACES)]?.bundle.reveal() ?? ''
    const network = traffic.fetchFor(() => rebases++)
    return {
      number,
      strongroom: new Strongroom({
        ...PATIENT,
        bundle,
        server: urlOf(number),
        trustStore: memoryTrust(),
        fetch: network,
      }),
      rebases: () => rebases,
      beginWrite: () => {
        rebases = 0
      },
    }
  })
  return { vaultId, clients, reader: () => new Strongroom(own()) }
}
