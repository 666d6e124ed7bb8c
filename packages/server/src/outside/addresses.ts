import ipaddr from 'ipaddr.js'

// Which addresses of the internet anybody may be told to connect to: those that are somebody's out there. Everything that could be
// this machine, its network, its cloud's metadata or a way round to them is not.

const DENIED = [
  // IPv4
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // IPv6 inside of what is given out, 2000::/3; everything else is denied as a whole.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].map((text) => ipaddr.parseCIDR(text))

const GIVEN_OUT = ipaddr.parseCIDR('2000::/3')

type Address = ReturnType<typeof ipaddr.parse>
export type Network = ReturnType<typeof ipaddr.parseCIDR>

const isIn = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network as never, bits)

/** Written as an IPv4 address inside an IPv6 one, it is that IPv4 address. */
const plain = (text: string): Address => ipaddr.process(text)

/** False for what cannot be read as an address at all. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = plain(text)
  if (address.kind() === 'ipv6' && !isIn(address, GIVEN_OUT)) return false
  return !DENIED.some((network) => isIn(address, network))
}

export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = plain(text)
  return networks.some((network) => isIn(address, network))
}

/** Undefined if it is no network in the form `10.1.0.0/16`. */
export function parseNetwork(text: string): Network | undefined {
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
}
