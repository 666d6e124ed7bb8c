import { networkProblem, networkText } from '@strongroom/contract'
import { limitsOf } from '../../access/limits.ts'
import type { AgentLimits } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { AgentChange } from './store.ts'

// The limits of an agent as a request names them: read strictly, before anything is asked of the database.

export interface AskedLimits {
  readonly expiresAt?: string | null | undefined
  readonly networks?: readonly string[] | undefined
}

const refuse = (path: string, problem: string): never => {
  throw new ApiError('validation_failed', { details: { in: 'body', problems: [{ path, problem }] } })
}

/** What is to hold from now on: what is asked for, and what was before where nothing is. */
export function readLimits({ expiresAt, networks }: AskedLimits, before: AgentLimits, now: Date): AgentLimits {
  for (const [i, text] of (networks ?? []).entries()) {
    const problem = networkProblem(text)
    if (problem !== undefined) refuse(`/networks/${i}`, problem)
  }
  const asked = limitsOf({ expiresAt: expiresAt ?? null, networks: networks ?? [] })
  if (asked.expiresAt !== null && asked.expiresAt <= now) refuse('/expiresAt', 'not in the future')
  return {
    expiresAt: expiresAt === undefined ? before.expiresAt : asked.expiresAt,
    networks: networks === undefined ? before.networks : asked.networks,
  }
}

/** Each network once, in one spelling. */
export const keptLimits = ({ expiresAt, networks }: AgentLimits) => ({
  expiresAt,
  networks: [...new Set(networks.map(networkText))],
})

/** The columns that are asked to change, and no other. */
export function limitsChange(asked: AskedLimits, wanted: AgentLimits): AgentChange {
  const { expiresAt, networks } = keptLimits(wanted)
  return {
    ...(asked.expiresAt !== undefined && { expires_at: expiresAt }),
    ...(asked.networks !== undefined && { networks }),
  }
}
