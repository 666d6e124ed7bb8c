// Addresses and networks as people write them: 10.1.2.3, 10.1.0.0/16, 2001:db8::/32. Read alike by the server that judges them and by the
// forms that ask for them, so strictly that there is one way to understand each.

export interface Network {
  /** Four of IPv4, sixteen of IPv6. */
  readonly bytes: readonly number[]
  readonly bits: number
}

/** Of the networks that an agent may be used from. */
export const MAX_NETWORKS = 32

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/
const GROUP = /^[0-9a-f]{1,4}$/i

function fourBytes(text: string): number[] | undefined {
  const parts = text.split('.')
  const isAddress = parts.length === 4 && parts.every((part) => OCTET.test(part) && Number(part) < 256)
  return isAddress ? parts.map(Number) : undefined
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))

/** The last four bytes may be written as an IPv4 address. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text
  const at = text.lastIndexOf(':') + 1
  const four = fourBytes(text.slice(at))
  if (!four) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = four
  return `${text.slice(0, at)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function sixteenBytes(text: string): number[] | undefined {
  const [head = '', tail, ...more] = withoutDots(text)?.split('::') ?? []
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const left = 8 - before.length - after.length
  if (more.length > 0 || (tail === undefined ? left !== 0 : left < 1)) return undefined
  const groups = [...before, ...Array.from({ length: left }, () => '0'), ...after]
  if (!groups.every((group) => GROUP.test(group))) return undefined
  return groups.map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 255])
}

const MAPPED_BITS = 96
const isMapped = (bytes: readonly number[]): boolean =>
  bytes.length === 16 && bytes.slice(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 255))

/** An IPv4 network that is written inside of IPv6 is that IPv4 network. */
const plain = ({ bytes, bits }: Network): Network =>
  bits >= MAPPED_BITS && isMapped(bytes) ? { bytes: bytes.slice(12), bits: bits - MAPPED_BITS } : { bytes, bits }

const maskOf = (bits: number, i: number): number => (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 255
const masked = ({ bytes, bits }: Network): number[] => bytes.map((byte, i) => byte & maskOf(bits, i))

const same = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((byte, i) => byte === other[i])

function parse(text: string): Network | undefined {
  const [address = '', prefix, ...more] = text.split('/')
  const bytes = address.includes(':') ? sixteenBytes(address) : fourBytes(address)
  if (!bytes || more.length > 0 || (prefix !== undefined && !OCTET.test(prefix))) return undefined
  const bits = prefix === undefined ? bytes.length * 8 : Number(prefix)
  return bits <= bytes.length * 8 ? plain({ bytes, bits }) : undefined
}

/** Undefined for what is neither an address nor a network, and for a network that is written with the address of one machine in it. */
export function readNetwork(text: string): Network | undefined {
  const network = parse(text)
  return network && same(network.bytes, masked(network)) ? network : undefined
}

/** What keeps a text from being an address or a network, as the end of a sentence; undefined if nothing does. */
export function networkProblem(text: string): string | undefined {
  const network = parse(text)
  if (!network) return 'is neither an address nor a network such as 10.1.0.0/16'
  if (same(network.bytes, masked(network))) return undefined
  return `names one machine and a network at once; the network is ${networkText({ ...network, bytes: masked(network) })}`
}

export function networkText({ bytes, bits }: Network): string {
  const prefix = bits === bytes.length * 8 ? '' : `/${bits}`
  if (bytes.length === 4) return `${bytes.join('.')}${prefix}`
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16))
  return `${shortened(groups)}${prefix}`
}

/** The longest run of zeros, the first of several, is left out. */
function shortened(groups: readonly string[]): string {
  const [run] = [...groups.join(':').matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length)
  const text = groups.join(':')
  if (!run) return text
  return `${text.slice(0, run.index)}::${text.slice(run.index + run[0].length)}`.replace(/:{3,4}/, '::')
}

/** Whether all of `inner` lies in `outer`; IPv4 never lies in IPv6. */
export const contains = (outer: Network, inner: Network): boolean =>
  outer.bytes.length === inner.bytes.length &&
  outer.bits <= inner.bits &&
  same(masked(outer), masked({ ...inner, bits: outer.bits }))
