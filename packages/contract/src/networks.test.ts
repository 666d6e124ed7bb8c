import { describe, expect, it } from 'vitest'
import { contains, type Network, networkProblem, networkText, readNetwork } from './networks.ts'

// Catches: a spelling that two programs could read in two ways, a network with one machine in it, IPv4 written as IPv6 that is judged as
// IPv6, and a comparison that is a bit off. Seen red: the bits of the last byte left out of the mask, mapped addresses left as they are,
// host bits accepted.

const read = (text: string): Network => {
  const network = readNetwork(text)
  if (!network) throw new Error(`${text} is no network`)
  return network
}

describe('an address or a network', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3/32', '10.1.2.3'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['10.1.2.128/25', '10.1.2.128/25'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['fe80::', 'fe80::'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:a01:203', '10.1.2.3'],
    ['::ffff:10.1.0.0/112', '10.1.0.0/16'],
    ['::/0', '::/0'],
  ])('is read in one way: %s', (text, canonical) => {
    expect(networkText(read(text))).toBe(canonical)
    expect(networkProblem(text)).toBeUndefined()
  })

  it.each([
    ...['', ' ', '10.1', '10.1.2', '10.1.2.3.4', '010.1.2.3', '0x0a.1.2.3', '10.1.2.256', '167772161', '10.1.2.3 '],
    ...['10.1.2.3/33', '10.1.2.3/', '10.1.2.0/024', '10.1.2.0/-1', '10.1.2.0/24/24', '10.0.0.0/255.0.0.0'],
    ...[':', ':::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', '1:2:3:4:5:6:7::8', '12345::', 'g::', '::1/129'],
    ...['fe80::1%eth0', '[::1]', '::10.1.2', 'localhost', 'example.com', '*', '٣.1.2.3'],
  ])('is not: %j', (text) => {
    expect(readNetwork(text)).toBeUndefined()
    expect(networkProblem(text)).toMatch(/^is neither an address nor a network/)
  })

  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.129/25', '10.1.2.128/25'],
    ['2001:db8::1/32', '2001:db8::/32'],
    ['0.0.0.1/0', '0.0.0.0/0'],
  ])('with one machine in it is refused, and the network is named: %s', (text, network) => {
    expect(readNetwork(text)).toBeUndefined()
    expect(networkProblem(text)).toContain(`the network is ${network}`)
  })
})

it.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.1.0.0/16', '10.0.0.0/8', false],
  ['10.1.2.128/25', '10.1.2.127', false],
  ['10.1.2.128/25', '10.1.2.128', true],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['::/0', '203.0.113.9', false],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['2001:db8::/33', '2001:db8:7fff::1', true],
  ['2001:db8::/33', '2001:db8:8000::1', false],
])('%s contains %s: %s', (outer, inner, expected) => {
  expect(contains(read(outer), read(inner))).toBe(expected)
})
