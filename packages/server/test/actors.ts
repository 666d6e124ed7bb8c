import { readFileSync } from 'node:fs'
import { decodePem, type Identity, openKeys, type Principal } from '@strongroom/protocol'

// Keys for people and agents of tests. They are the fixed ones of the protocol's vectors: making RSA keys is slow. One key may
// stand for many principals, since a key id names both.

const FILE = new URL('../../protocol/vectors/keys.json', import.meta.url)
const { keys } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly keys: Readonly<Record<string, string>> }

export type KeyName =
  | 'alice'
  | 'bob'
  | 'carol'
  | 'dave'
  | 'deploy'
  | 'deployNext'
  | 'worker'
  | 'hybrid'
  | 'mallory'
  | 'malloryNext'

export function identityOf(name: KeyName, principal: Principal): Promise<Identity> {
  const pem = keys[name]
  if (pem === undefined) throw new Error(`there is no key ${name} in the vectors`)
  return openKeys(principal, decodePem(pem))
}
