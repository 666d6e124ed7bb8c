import type { EnvBundle } from '@strongroom/sdk'
import type { Random } from './random.ts'
import type { VaultClient } from './vault-clients.ts'
import { failed, lost, type Problem } from './writers/writer.ts'

// What clients of one vault write and what was acknowledged to them. Each has a field in an item of its own and a field in an item
// that it shares with others; nobody else writes either, so each acknowledged write is one version more, exactly.

interface Slot {
  readonly label: string
  readonly ref: string
  acked: number
  value: string | undefined
}

export interface VaultBook {
  /** One write of one client. Throws what the client throws. */
  write(client: VaultClient, random: Random): Promise<void>
  acked(): number
  /** Of one write. */
  mostRebases(): number
  meanRebases(): number
  /** Acknowledged once and there more often. */
  doubled(): number
  /** Everything that was acknowledged against what is there; nothing may be under way. */
  compare(environment: EnvBundle): Problem[]
  /** What no write should have met, since the last call. */
  takeProblems(): Problem[]
}

const SHARED_ITEMS = 8
export const MOST_REBASES = 8

export function makeVaultBook(vaultId: string, clients: readonly VaultClient[]): VaultBook {
  const slot = (item: string, label: string): Slot => ({
    label,
    ref: `sr://${vaultId}/${item}/${label}`,
    acked: 0,
    value: undefined,
  })
  const slots = clients.map(({ number }) => [
    slot(`own ${number}`, `OWN_${number}`),
    slot(`shared ${number % SHARED_ITEMS}`, `SHARED_${number}`),
  ])
  const problems: Problem[] = []
  let acked = 0
  let doubled = 0
  let mostRebases = 0
  let rebases = 0
  const count = (client: VaultClient): void => {
    rebases += client.rebases()
    mostRebases = Math.max(mostRebases, client.rebases())
    if (client.rebases() > MOST_REBASES)
      problems.push(failed(`client ${client.number} needed ${client.rebases()} rebases for one write`))
  }

  return {
    write: async (client, random) => {
      const one = slots[client.number]?.[random.below(2)] as Slot
      const value = `${one.label} ${one.acked + 1} ${random.below(1e9)}`
      client.beginWrite()
      try {
        const { version } = await client.strongroom.secrets.set(one.ref, value)
        one.acked++
        one.value = value
        acked++
        if (version === one.acked) return
        problems.push(failed(`${one.label} was acknowledged as version ${version}, after ${one.acked - 1} others`))
      } catch (error) {
        const { name, code, cause } = error as Error & { code?: string }
        problems.push(failed(`${one.label}: ${name} ${code} ${String(cause)}`))
        throw error
      } finally {
        count(client)
      }
    },
    acked: () => acked,
    mostRebases: () => mostRebases,
    meanRebases: () => rebases / acked,
    doubled: () => doubled,
    compare: (environment) =>
      slots.flat().flatMap((one): Problem[] => {
        const there = environment.get(one.label)
        const version = there?.version ?? 0
        if (version > one.acked) doubled++
        if (version < one.acked) return [lost(`${one.label} is version ${version}, acknowledged was ${one.acked}`)]
        if (version > one.acked) return [failed(`${one.label} is version ${version}, acknowledged was ${one.acked}`)]
        if (there?.reveal() === one.value) return []
        return [lost(`${one.label} is ${there?.reveal()}, acknowledged was ${one.value}`)]
      }),
    takeProblems: () => problems.splice(0),
  }
}
