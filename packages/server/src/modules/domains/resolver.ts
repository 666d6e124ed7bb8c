import type { CaaRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { DnsReason, RecordType } from '@strongroom/contract'
import { address, authority, bytes, host, mail, service, type Value } from './values.ts'

// A resolver is asked for names that users have chosen; which resolver that is, only the operator chooses, so nobody can have packets
// sent to an address of their own. What it answers is somebody else's: whoever shows it makes it harmless first.

export type Answer = { readonly values: readonly Value[] } | { readonly reason: DnsReason }

export interface Asked {
  readonly name: string
  readonly type: RecordType
}

/** For one question; what is not answered then is asked once more. */
const TIMEOUT_MS = 1000
const TRIES = 2
const AT_ONCE = 8
/** For all of them. With what PowerDNS may take before, it ends within the time that a request has. */
const WHOLE_MS = 4000

const REASONS: Readonly<Record<string, DnsReason>> = {
  ENOTFOUND: 'NXDOMAIN',
  ENODATA: 'NODATA',
  ESERVFAIL: 'SERVFAIL',
  EREFUSED: 'REFUSED',
  ETIMEOUT: 'timeout',
  ECANCELLED: 'timeout',
  ECONNREFUSED: 'unreachable',
}

const reasonOf = (error: unknown): DnsReason => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? 'failed'
}

/** Node gives the flags, the tag as a member with its value, and by now what type it is. */
const authoritiesOf = ({ critical, ...tagged }: CaaRecord): readonly Value[] =>
  Object.entries(tagged)
    .filter(([tag]) => tag !== 'type')
    .map(([tag, value]) => authority(critical, tag, String(value)))

async function valuesOf(resolver: Resolver, { name, type }: Asked): Promise<readonly Value[]> {
  switch (type) {
    case 'A':
      return (await resolver.resolve4(name)).map(address)
    case 'AAAA':
      return (await resolver.resolve6(name)).map(address)
    case 'CNAME':
      return (await resolver.resolveCname(name)).map(host)
    case 'NS':
      return (await resolver.resolveNs(name)).map(host)
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => mail(priority, exchange))
    case 'SRV':
      return (await resolver.resolveSrv(name)).map((one) => service(one.priority, one.weight, one.port, one.name))
    case 'CAA':
      return (await resolver.resolveCaa(name)).flatMap(authoritiesOf)
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((chunks) => bytes(chunks.join('')))
  }
}

const ask = (resolver: Resolver, asked: Asked): Promise<Answer> =>
  valuesOf(resolver, asked).then(
    (values) => (values.length > 0 ? { values } : { reason: 'NODATA' }),
    (error: unknown) => ({ reason: reasonOf(error) }),
  )

export interface Answers<A extends Asked> {
  readonly resolvers: readonly string[]
  readonly answers: readonly (A & { readonly answer: Answer })[]
}

/** Asks for each of them, a few at a time; when the time is over, the others are left without an answer. */
export async function askAll<A extends Asked>(
  servers: readonly string[],
  questions: readonly A[],
): Promise<Answers<A>> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  let isOver = false
  const alarm = setTimeout(() => {
    isOver = true
    resolver.cancel()
  }, WHOLE_MS)
  const answers: (A & { readonly answer: Answer })[] = []
  const left = [...questions.entries()]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [at, asked] = next
      answers[at] = { ...asked, answer: isOver ? { reason: 'timeout' } : await ask(resolver, asked) }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  clearTimeout(alarm)
  return { resolvers: resolver.getServers(), answers }
}
