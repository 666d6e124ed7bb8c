import type { Principal } from '../../src/identity/identifiers.ts'
import { decodePem, type Identity, openKeys } from '../../src/identity/private-keys.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }

// The people and agents of every test. Their keys are fixed, because making RSA keys is slow and vectors must repeat.

export type KeyName = keyof typeof keysFile.keys

const opened = new Map<string, Promise<Identity>>()

/** Opened once: reading eleven private keys costs more than most tests. */
export function identityOf(name: KeyName, principal: Principal): Promise<Identity> {
  const known = opened.get(`${name} ${principal}`) ?? openKeys(principal, decodePem(keysFile.keys[name]))
  opened.set(`${name} ${principal}`, known)
  return known
}

export interface Actors {
  /** Founding admin. */
  readonly alice: Identity
  /** Member, writer of the vault. */
  readonly bob: Identity
  /** Member, reader. */
  readonly carol: Identity
  /** Second directory admin. */
  readonly dave: Identity
  /** The agent that reads: Ed25519 + RSA. */
  readonly deploy: Identity
  /** The key `deploy` rotates to. */
  readonly deployNext: Identity
  /** An RSA-only agent. */
  readonly worker: Identity
  /** An agent with ML-KEM. */
  readonly hybrid: Identity
  /** Whoever attacks, with keys of her own. */
  readonly mallory: Identity
  readonly malloryNext: Identity
}

export async function openActors(): Promise<Actors> {
  return {
    alice: await identityOf('alice', 'user:ou_alice'),
    bob: await identityOf('bob', 'user:ou_bob1'),
    carol: await identityOf('carol', 'user:ou_carol'),
    dave: await identityOf('dave', 'user:ou_dave'),
    deploy: await identityOf('deploy', 'agent:ag_deploy'),
    deployNext: await identityOf('deployNext', 'agent:ag_deploy'),
    worker: await identityOf('worker', 'agent:ag_worker'),
    hybrid: await identityOf('hybrid', 'agent:ag_hybrid'),
    mallory: await identityOf('mallory', 'user:ou_mallory'),
    malloryNext: await identityOf('malloryNext', 'user:ou_mallory'),
  }
}
