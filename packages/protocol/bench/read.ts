import * as crypto from 'node:crypto'
import { platform } from '#platform'
import type { Identity } from '../src/identity/private-keys.ts'
import { registerKey } from '../src/runtime/runtime-key.ts'
import { openEnvironment } from '../src/vault/answer.ts'
import { EMPTY_CONTENT } from '../src/vault/content.ts'
import { createVault } from '../src/vault/lifecycle.ts'
import { identityOf } from '../test/world/actors.ts'
import { item, ORG, openWorld, type World } from '../test/world/world.ts'
import { cpuMicroseconds } from './measure.ts'

// The CPU of a full stateless verified read beside the bare primitives it cannot do without, in one run: these machines are
// noisy, ratios are not. The primitives are replayed with the very inputs the read gave them, in the fastest form node:crypto
// has for each (keys prepared, digests as strings): a slower form would flatter the ratio.

interface Call {
  readonly kind: 'rsa' | 'aes' | 'ed25519' | 'hash'
  run(): void
}

const FIELDS_PER_ITEM = 5

async function vaultOf(world: World, reader: Identity, fields: number): Promise<string> {
  const { alice } = world.actors
  const acl = [
    { p: alice.key.principal, role: 'admin' as const },
    { p: reader.key.principal, role: 'read' as const },
  ]
  const change = await createVault(
    {
      org: ORG,
      meta: { name: `bench ${fields}`, classification: 'internal', status: 'active' },
      acl,
      recipients: [alice.key, reader.key],
      at: world.now,
    },
    alice,
  )
  world.vaults.set(change.vaultId, {
    content: EMPTY_CONTENT,
    items: new Map(),
    values: new Map(),
    documents: new Map(),
    dek: change.dek,
  })
  await world.commit(change.vaultId, change.commit)
  const edits = Array.from({ length: fields / FIELDS_PER_ITEM }, (_, i) =>
    item(
      `itm_${fields}_${i}`,
      `Service ${i}`,
      Object.fromEntries(
        Array.from({ length: FIELDS_PER_ITEM }, (_, j) => [
          `SERVICE_${i}_KEY_${j}`,
          `sk_live_${'x'.repeat(40)}_${i}_${j}`,
        ]),
      ),
    ),
  )
  await world.write(change.vaultId, edits, alice)
  return change.vaultId
}

/** Runs a read once with a recording platform: every primitive call becomes a bare call of node:crypto with the same input. */
async function record(read: () => Promise<unknown>, reader: { rsa: crypto.KeyObject }): Promise<Call[]> {
  const calls: Call[] = []
  const original = { ...platform }
  const keys = new Map<string, crypto.KeyObject>()
  const publicKey = (spki: Uint8Array): crypto.KeyObject => {
    const name = Buffer.from(spki).toString('base64')
    const key = keys.get(name) ?? crypto.createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
    keys.set(name, key)
    return key
  }
  const log = (kind: Call['kind'], run: () => void): void => {
    calls.push({ kind, run })
  }
  const hashing = (data: Uint8Array | string): void => {
    const copy = typeof data === 'string' ? data : Uint8Array.from(data)
    log('hash', () => crypto.hash('sha256', copy, 'binary'))
  }
  platform.sha256 = (data) => {
    hashing(data)
    return original.sha256(data)
  }
  platform.sha256OfText = (text) => {
    hashing(text)
    return original.sha256OfText(text)
  }
  platform.sha256Base64url = (data) => {
    hashing(data)
    return original.sha256Base64url(data)
  }
  platform.hkdfSha256 = (ikm, salt, info, length) => {
    const key = crypto.createSecretKey(ikm)
    log('hash', () => crypto.hkdfSync('sha256', key, salt, info, length))
    return original.hkdfSha256(ikm, salt, info, length)
  }
  platform.ed25519Verify = (spki, message, signature) => {
    const key = publicKey(spki)
    log('ed25519', () => crypto.verify(null, message, key, signature))
    return original.ed25519Verify(spki, message, signature)
  }
  platform.aesGcmOpen = (key, nonce, sealed, aad) => {
    const secret = crypto.createSecretKey(key)
    log('aes', () => openBare(secret, nonce, sealed, aad))
    return original.aesGcmOpen(key, nonce, sealed, aad)
  }
  platform.rsaOaepDecrypt = (key, ciphertext) => {
    log('rsa', () =>
      crypto.privateDecrypt(
        { key: reader.rsa, padding: crypto.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
        ciphertext,
      ),
    )
    return original.rsaOaepDecrypt(key, ciphertext)
  }
  try {
    await read()
  } finally {
    Object.assign(platform, original)
  }
  return calls
}

function openBare(key: crypto.KeyObject, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): void {
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(aad)
  decipher.setAuthTag(sealed.subarray(sealed.length - 16))
  decipher.update(sealed.subarray(0, sealed.length - 16))
  decipher.final()
}

export async function benchReads(keyPem: string): Promise<string[]> {
  const world = await openWorld()
  const reader = await identityOf('big', 'agent:ag_bench')
  await world.host.append(
    [await registerKey({ org: ORG, caps: ['agent'], at: world.now }, world.actors.alice, reader)],
    world.now,
  )
  const rsa = crypto.createPrivateKey(keyPem)
  const lines = ['verified read, stateless, Ed25519 signers, RSA-3072 recipient, two witnesses (CPU time):']
  for (const [fields, goal] of [
    [50, 1.6],
    [250, undefined],
    [1000, 2.0],
  ] as const) {
    const vaultId = await vaultOf(world, reader, fields)
    const wire = JSON.stringify(await world.answer(vaultId, reader))
    const trust = world.trust(world.fresh())
    const read = () => openEnvironment(JSON.parse(wire), vaultId, trust, reader)
    const calls = await record(read, { rsa })
    const replay = () => {
      for (const call of calls) call.run()
    }
    const [bare, full] = (await cpuMicroseconds([replay, read])) as [number, number]
    const count = (kind: Call['kind']) => calls.filter((call) => call.kind === kind).length
    const parts = `1 RSA, ${count('ed25519')} Ed25519, ${count('aes')} AES-GCM, ${count('hash')} hashes`
    const ratio = full / bare
    const verdict = goal === undefined ? '' : ` (goal ≤ ${goal.toFixed(1)}: ${ratio <= goal ? 'met' : 'missed'})`
    lines.push(
      `  ${String(fields).padStart(4)} fields: ${(full / 1000).toFixed(2)} ms; primitives ${(bare / 1000).toFixed(2)} ms (${parts}); ratio ${ratio.toFixed(2)}${verdict}; answer ${(wire.length / 1024).toFixed(0)} kB`,
    )
  }
  return lines
}
