import { contains, type Network, readNetwork } from '@strongroom/contract'
import type { AgentLimits, Principal } from '../context.ts'
import { ApiError } from '../errors.ts'

// What holds an agent back whichever key it has: a time, and the networks it may be used from.

export const NO_LIMITS: AgentLimits = { expiresAt: null, networks: [] }

/** No address is in it. */
const NOWHERE: Network = { bytes: [], bits: 0 }

/** As they are kept. Leaving out what cannot be read could leave none, and none means anywhere. */
export const limitsOf = (kept: {
  readonly expiresAt: string | Date | null
  readonly networks: readonly string[]
}): AgentLimits => ({
  expiresAt: kept.expiresAt === null ? null : new Date(kept.expiresAt),
  networks: kept.networks.map((text) => readNetwork(text) ?? NOWHERE),
})

const isInside = (inner: Network, networks: readonly Network[]): boolean =>
  networks.some((network) => contains(network, inner))

/** Refuses whoever is known, and comes too late or from elsewhere. */
export function ensureWithinLimits({ limits }: Principal, address: string, now: Date): void {
  if (!limits) return
  const { expiresAt, networks } = limits
  if (expiresAt !== null && expiresAt <= now)
    throw new ApiError('agent_expired', { details: { expiresAt: expiresAt.toISOString() } })
  const from = readNetwork(address)
  if (networks.length > 0 && !(from && isInside(from, networks)))
    throw new ApiError('network_not_allowed', {
      message: `This agent may not be used from ${address}.`,
      details: { address },
    })
}

export type Limit = keyof AgentLimits

/** Which of the wanted limits leave more room than the bound. */
export function beyond(wanted: AgentLimits, bound: AgentLimits): Limit[] {
  const isLonger = bound.expiresAt !== null && (wanted.expiresAt === null || wanted.expiresAt > bound.expiresAt)
  const isWider =
    bound.networks.length > 0 &&
    (wanted.networks.length === 0 || !wanted.networks.every((network) => isInside(network, bound.networks)))
  return [...(isLonger ? (['expiresAt'] as const) : []), ...(isWider ? (['networks'] as const) : [])]
}
