import { makeRecent } from '../db/recent.ts'

// What may be kept of a caller's address and of what it says about itself. Both come from outside, and a secret in the wrong
// header must not end up in a table.

const PRODUCT = /^[A-Za-z][A-Za-z-]{0,23}\/[0-9]{1,5}(?:\.[0-9]{1,5}){0,3}$/
const BARE = new Set(['node', 'undici', 'curl', 'bun', 'deno'])
const MAX_PRODUCTS = 6

/** The products a user agent names, such as `curl/8.5.0`; comments and everything else is left out. */
export function productsOf(userAgent: string | undefined): string {
  if (userAgent === undefined || userAgent.length > 1000) return ''
  const known = products.get(userAgent)
  if (known !== undefined) return known
  const named = readProducts(userAgent)
  products.set(userAgent, named)
  return named
}

const MAX_AGENTS = 200
const products = makeRecent<string>(MAX_AGENTS)

const readProducts = (userAgent: string): string =>
  userAgent
    .split(' ')
    .filter((part) => PRODUCT.test(part) || BARE.has(part))
    .slice(0, MAX_PRODUCTS)
    .join(' ')

/** The network of an address: /24 of IPv4, /48 of IPv6. */
export function truncateAddress(ip: string): string {
  const v4 = /(?:^|:ffff:)([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.[0-9]{1,3}$/i.exec(ip)
  if (v4) return `${v4[1]}.${v4[2]}.${v4[3]}.0`
  const [head = '', tail] = (ip.split('%')[0] ?? '').toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  // What `::` leaves out are zeros; only the first three groups are kept, so the rest of the tail does not matter.
  const zeros =
    tail === undefined
      ? []
      : Array.from({ length: Math.max(0, 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)) }, () => '0')
  const network = [...groups, ...zeros, ...(tail === undefined || tail === '' ? [] : tail.split(':'))].slice(0, 3)
  return network.length === 3 && network.every((group) => /^[0-9a-f]{1,4}$/.test(group)) ? `${network.join(':')}::` : ''
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.[0-9]{1,3}){3})$/i
export const isLoopback = (ip: string): boolean => LOOPBACK.test(ip)
