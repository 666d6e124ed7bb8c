import { pbkdf2Sync } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { describe, expect, it } from 'vitest'
import { addressAt, addressOf, checksummed, readWatchKey, type WatchKey } from './addresses.ts'
import { readChain } from './chain-config.ts'

// Published vectors: BIP 32 (test vector 2), EIP-55, and the accounts of the phrase that every development chain has.
//
// Seen red: a letter too few in upper case; a private key taken (both looks at it left out).

const must = (key: WatchKey | undefined): WatchKey => {
  if (!key) throw new Error('no key')
  return key
}

describe('addresses', () => {
  it('come from a public key as BIP 32 derives it', () => {
    const root = must(
      readWatchKey(
        'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB',
      ),
    )
    expect(root.deriveChild(0).publicExtendedKey).toBe(
      'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH',
    )
  })

  it('are those of the wallet that holds the private half, which never comes here', () => {
    const phrase = `${'test '.repeat(11)}junk`
    const account = HDKey.fromMasterSeed(pbkdf2Sync(phrase, 'mnemonic', 2048, 64, 'sha512')).derive("m/44'/60'/0'/0")
    const key = must(readWatchKey(account.publicExtendedKey))
    expect([0, 1, 2, 9].map((index) => checksummed(addressAt(key, index)))).toEqual([
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
    ])
    for (const index of [3, 77, 2_147_483_647]) {
      const { publicKey } = account.deriveChild(index)
      expect(addressAt(key, index)).toBe(addressOf(publicKey ?? new Uint8Array()))
    }
  })

  it('are shown with the checksum of EIP-55', () => {
    for (const address of [
      '0x52908400098527886E0F7030069857D2E4169EE7',
      '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
      '0xde709f2102306220921060314715629080e2fb77',
      '0x27b1fdb04752bbc536007a920d24acb045561c26',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
      '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
      '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    ])
      expect(checksummed(address.toLowerCase())).toBe(address)
  })
})

describe('the settings of the chain', () => {
  const { publicExtendedKey, privateExtendedKey } = HDKey.fromMasterSeed(new Uint8Array(32).fill(1))
  const right = {
    STRONGROOM_CHAIN_RPC: 'https://node.example/key',
    STRONGROOM_CHAIN_ID: '8453',
    STRONGROOM_CHAIN_XPUB: publicExtendedKey,
    STRONGROOM_CHAIN_ASSETS: '[{"symbol":"USDC","contract":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","decimals":6}]',
  }

  it('are taken when all of them are there, and none when none is', () => {
    expect(readChain({})).toBeUndefined()
    expect(readChain(right)).toMatchObject({
      chainId: 8453,
      confirmations: 12,
      assets: [{ symbol: 'USDC', contract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', decimals: 6 }],
    })
  })

  it.each(Object.keys(right))('are refused without %s', (name) => {
    expect(() => readChain({ ...right, [name]: undefined })).toThrow('only half configured')
  })

  it.each([
    ['STRONGROOM_CHAIN_RPC', 'ftp://node.example'],
    ['STRONGROOM_CHAIN_RPC', 'https://a.example,https://a.example'],
    ['STRONGROOM_CHAIN_RPC', 'https://a.example,https://b.example,https://c.example'],
    ['STRONGROOM_CHAIN_ID', '0x1'],
    ['STRONGROOM_CHAIN_XPUB', privateExtendedKey],
    ['STRONGROOM_CHAIN_XPUB', `${publicExtendedKey.slice(0, -1)}1`],
    ['STRONGROOM_CHAIN_ASSETS', '[]'],
    ['STRONGROOM_CHAIN_ASSETS', '{'],
    ['STRONGROOM_CHAIN_ASSETS', '[{"symbol":"USDC","contract":"0x00","decimals":6}]'],
    ['STRONGROOM_CHAIN_ASSETS', `[${Array(2).fill(right.STRONGROOM_CHAIN_ASSETS.slice(1, -1)).join()}]`],
    ['STRONGROOM_CHAIN_CONFIRMATIONS', 'none'],
  ])('refuse %s that makes no sense, without quoting it', (name, value) => {
    const message = (() => {
      try {
        readChain({ ...right, [name]: value })
        return 'taken'
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(message).toMatch(new RegExp(`^${name} `))
    expect(message).not.toContain(value)
  })
})
