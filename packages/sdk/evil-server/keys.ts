import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  decodePem,
  type Identity,
  makeKeys,
  type NoteSigner,
  openKeys,
  type Principal,
  type PrivateKeyMaterial,
} from '@strongroom/protocol'
import type { Accomplice } from './attack.ts'

// Keys in the attacker's hands: its own, those of members who play along, that of the log.

export interface OwnKeys {
  /** The attacker's keys under any name. */
  as(principal: string): Promise<Identity>
}

export function ownKeys(material?: PrivateKeyMaterial): OwnKeys {
  let made: Promise<PrivateKeyMaterial> | undefined
  const opened = new Map<string, Promise<Identity>>()
  return {
    as: (principal) => {
      made ??= material ? Promise.resolve(material) : makeKeys({ rsaBits: 2048 })
      const known = opened.get(principal) ?? made.then((keys) => openKeys(principal as Principal, keys))
      opened.set(principal, known)
      return known
    },
  }
}

/** From the credential string of an agent, `srb1.…`. */
export async function accompliceOf(bundle: string): Promise<Accomplice> {
  const text = Buffer.from(bundle.trim().replace(/^srb1\./, ''), 'base64url').toString()
  const { agentId, privateKey } = JSON.parse(text) as { agentId: string; privateKey: string }
  const principal = `agent:${agentId}` as const
  return { principal, identity: await openKeys(principal, decodePem(privateKey)) }
}

/** From PEM with an Ed25519 key in PKCS#8. */
export function logKeyOf(pem: string): NoteSigner {
  const key = createPrivateKey(pem)
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return {
    publicKey: new Uint8Array(Buffer.from(String(x), 'base64url')),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}

export const readKey = <T>(path: string, read: (text: string) => T): T => read(readFileSync(path, 'utf8'))
