import { CliError } from '../../errors/cli-error.ts'
import { flag } from '../../model/command.ts'
import { durationOf } from '../../model/parse.ts'
import { shortTime } from '../../output/time.ts'

// What holds an agent back whichever key it has: as flags, and as words.

export const LIMIT_FLAGS = {
  expires: flag.text('when its keys stop working', '30d|DATE'),
  network: flag.many('a network it may be used from; repeatable', 'CIDR'),
}

export const CHANGED_LIMIT_FLAGS = {
  expires: flag.text('when its keys stop working: in 30d, at a date, or never', '30d|DATE'),
  network: flag.many('where it may be used from; those given replace all, or any', 'CIDR'),
}

export interface LimitFlags {
  readonly expires: string | undefined
  readonly network: readonly string[]
}

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/

/** A day begins at midnight, UTC. */
function momentOf(text: string): Date {
  if (/^\d+[a-z]+$/.test(text)) return new Date(Date.now() + durationOf('expires', text))
  const at = new Date(text)
  const isReal =
    DATE.test(text) && !Number.isNaN(at.getTime()) && (text.length > 10 || at.toISOString().startsWith(text))
  if (!isReal)
    throw new CliError('usage', `--expires ${text} is no time`, { fix: 'write 30d, 2027-01-31 or 2027-01-31T12:00Z' })
  return at
}

async function ensureNetworks(texts: readonly string[]): Promise<void> {
  const { networkProblem } = await import('@strongroom/contract')
  for (const text of texts) {
    const problem = networkProblem(text)
    if (problem !== undefined)
      throw new CliError('usage', `--network ${text} ${problem}`, {
        fix: 'write 10.1.0.0/16, 10.1.2.3 or 2001:db8::/32',
      })
  }
}

export interface NewLimits {
  readonly expiresAt?: Date
  readonly networks?: readonly string[]
}

/** Of a new agent: what is not given is no limit. */
export async function limitsFrom({ expires, network }: LimitFlags): Promise<NewLimits> {
  await ensureNetworks(network)
  return {
    ...(expires !== undefined && { expiresAt: momentOf(expires) }),
    ...(network.length > 0 && { networks: network }),
  }
}

/** Of an agent there is: what is not given stays; `never` and `any` take a limit away. */
export async function limitChanges({ expires, network }: LimitFlags) {
  const isAny = network.length === 1 && network[0] === 'any'
  const given = await limitsFrom({ expires: expires === 'never' ? undefined : expires, network: isAny ? [] : network })
  return { ...given, ...(expires === 'never' && { expiresAt: null }), ...(isAny && { networks: [] }) }
}

interface Expiring {
  readonly expiresAt: Date | string | null
}

export const isExpired = ({ expiresAt }: Expiring): boolean =>
  expiresAt !== null && new Date(expiresAt).getTime() <= Date.now()

/** Empty where it never does. */
export function expiryText({ expiresAt }: Expiring): string {
  if (expiresAt === null) return ''
  return isExpired({ expiresAt }) ? `${shortTime(expiresAt)}, expired` : shortTime(expiresAt)
}

/** A word and what it says, for each limit there is. */
export const limitLines = ({
  expiresAt,
  networks = [],
}: {
  readonly expiresAt?: Date | null
  readonly networks?: readonly string[]
}): (readonly [string, string])[] => [
  ...(expiresAt ? [['Until', shortTime(expiresAt)] as const] : []),
  ...(networks.length > 0 ? [['From', networks.join(', ')] as const] : []),
]
