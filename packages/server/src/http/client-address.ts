import { contains, type Network, networkText, readNetwork } from '@strongroom/contract'
import type { FastifyRequest } from 'fastify'
import { makeRecent } from '../db/recent.ts'

// Whom a request comes from: the other end of the connection, or, where that is a proxy of the operator, whoever the proxy names. What
// anybody else says about addresses is not looked at.

/** For Fastify's `trustProxy`: it takes the right-most address of X-Forwarded-For that this is false for. */
export function proxyTrust(proxies: readonly Network[]): false | ((address: string) => boolean) {
  if (proxies.length === 0) return false
  return (address) => {
    const from = readNetwork(withoutZone(address))
    return from !== undefined && proxies.some((proxy) => contains(proxy, from))
  }
}

/** The interface that a link-local address was seen on means nothing elsewhere. */
const withoutZone = (address: string): string => address.split('%', 1)[0] as string

const V4 = /^[0-9.]+$/
const LONGEST = 64
const MAX_SPELLINGS = 1000
const spellings = makeRecent<string>(MAX_SPELLINGS)

/** One spelling for each address; an IPv4 address inside an IPv6 one is that IPv4 address. A proxy that names none stands for itself. */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const direct = socket.remoteAddress ?? ''
  // The ordinary case, and the system wrote it.
  if (ip === direct && V4.test(direct)) return direct
  return spell(ip) || spell(direct)
}

/** Empty for what is no address. */
export function spell(text: string | undefined = ''): string {
  if (text.length > LONGEST) return ''
  const known = spellings.get(text)
  if (known !== undefined) return known
  const read = text.includes('/') ? undefined : readNetwork(withoutZone(text))
  const address = read ? networkText(read) : ''
  spellings.set(text, address)
  return address
}
