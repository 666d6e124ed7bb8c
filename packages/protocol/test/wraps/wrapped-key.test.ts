// Seen red: each member left out of the context; context or recipient not compared; the format byte not checked;
// the algorithm taken from the message; a stray member of the other algorithm accepted; the vault key left in the memory of
// a key service.
import { beforeAll, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, equalBytes } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import { ProtocolError } from '../../src/errors.ts'
import { verifyDocument } from '../../src/identity/document.ts'
import { decodePem, type Identity, openKeys, type Recipient } from '../../src/identity/private-keys.ts'
import { type Dek, dekBytes, makeDek } from '../../src/values/dek.ts'
import {
  checkWrapAlgorithm,
  unwrapDek,
  type VerifiedWrappedKey,
  type WrappedDekPayload,
  wrapDek,
  wrappedDek,
} from '../../src/wraps/wrapped-key.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'
import { type Actors, openActors } from '../world/actors.ts'

const VAULT = `v${'a'.repeat(32)}`
let actors: Actors
let dek: Dek
beforeAll(async () => {
  actors = await openActors()
  dek = makeDek({ org: 'org_acme', vaultId: VAULT, dekVersion: 2 })
})

const payloadFor = async (to: Identity): Promise<WrappedDekPayload> => {
  const envelope = await wrapDek(dek, to.key, actors.alice, 5)
  return (await verifyDocument(wrappedDek, envelope, 'org_acme', () => actors.alice.key)).payload
}
/** As if grant, signature and author had been verified: these tests are about what follows. */
const verified = (payload: WrappedDekPayload): VerifiedWrappedKey =>
  ({ payload, hash: '' }) as unknown as VerifiedWrappedKey
const unwrap = (payload: WrappedDekPayload, recipient: Recipient) => unwrapDek(verified(payload), recipient)
const code = (payload: WrappedDekPayload, recipient: Recipient) => refusal(() => unwrap(payload, recipient))

/** A recipient that counts what is done with its private keys. */
function counting(who: Identity): { recipient: Recipient; used: string[] } {
  const used: string[] = []
  const { decapsulate } = who
  const recipient: Recipient = {
    kid: who.kid,
    key: who.key,
    rsaDecrypt: (ciphertext) => {
      used.push('rsa')
      return who.rsaDecrypt(ciphertext)
    },
    ...(decapsulate && {
      decapsulate: (ciphertext: Uint8Array) => {
        used.push('ml-kem')
        return decapsulate(ciphertext)
      },
    }),
  }
  return { recipient, used }
}

const flip = (text: string, at: number): string => {
  const bytes = fromBase64url(text)
  bytes[at] = (bytes[at] as number) ^ 1
  return toBase64url(bytes)
}

describe.each(['deploy', 'worker', 'hybrid'] as const)('a vault key wrapped for %s', (name) => {
  let to: Identity
  let honest: WrappedDekPayload
  beforeAll(async () => {
    to = actors[name]
    honest = await payloadFor(to)
  })

  it('opens to the same key, with one use of each private key', async () => {
    const { recipient, used } = counting(to)
    const opened = await unwrap(honest, recipient)
    expect(dekBytes(opened)).toEqual(dekBytes(dek))
    expect(opened).toMatchObject({ org: 'org_acme', vaultId: VAULT, dekVersion: 2, dekCommit: dek.dekCommit })
    expect(used).toEqual(name === 'hybrid' ? ['rsa', 'ml-kem'] : ['rsa'])
    expect(honest.alg).toBe(name === 'hybrid' ? 'RSA-OAEP-256+ML-KEM-768' : 'RSA-OAEP-256')
  })

  it('is another ciphertext each time', async () => {
    expect((await payloadFor(to)).ct).not.toBe(honest.ct)
  })

  it('is refused for another recipient before any private key is used', async () => {
    const { recipient, used } = counting(actors.bob)
    expect(await code(honest, recipient)).toBe('wrap_context')
    expect(used).toEqual([])
  })

  it.each([
    ['organisation', { org: 'org_acmf' }],
    ['vault', { vaultId: `v${'b'.repeat(32)}` }],
    ['version', { dekVersion: 3 }],
    ['sender', { by: `user:ou_mallory:${'a'.repeat(32)}` }],
  ])('is refused in the context of another %s, however well it is signed', async (_, change) => {
    expect(await code({ ...honest, ...change } as WrappedDekPayload, to)).toBe('wrap_context')
  })

  it('is refused with another commitment', async () => {
    expect(await code({ ...honest, dekCommit: flip(honest.dekCommit, 0) }, to)).toBe('dek_commitment')
  })

  it('is refused after the change of any byte, and does not say which', async () => {
    const refusals = new Set<string>()
    for (const member of ['ct', 'ct2', 'box'] as const) {
      const text = honest[member]
      if (text === undefined) continue
      const { length } = fromBase64url(text)
      for (let at = 0; at < length; at += Math.ceil(length / 16)) {
        const error = await unwrap({ ...honest, [member]: flip(text, at) }, to).catch((one: unknown) => one)
        expect(error).toBeInstanceOf(ProtocolError)
        refusals.add(`${(error as ProtocolError).code} ${(error as ProtocolError).message}`)
      }
    }
    expect([...refusals]).toEqual(['wrap_context a wrapped key does not open'])
  })

  it('is refused if the ciphertext is as long as the key of somebody else', async () => {
    expect(await code({ ...honest, ct: toBase64url(new Uint8Array(384)) }, to)).toBe('wrap_context')
  })
})

describe('what is inside an RSA wrap', () => {
  /** What a dishonest admin can wrap: any bytes, for anybody, under a genuine signature. */
  const wrapping = async (plaintext: Uint8Array): Promise<WrappedDekPayload> => ({
    ...(await payloadFor(actors.deploy)),
    ct: toBase64url(await platform.rsaOaepEncrypt(actors.deploy.key.encSpki, plaintext)),
  })
  const contextHash = (): Bytes =>
    platform.sha256(lp('vault.v3/wrap', 'org_acme', VAULT, 2, actors.deploy.kid, actors.alice.kid))
  const inner = (first: number, key: Uint8Array): Bytes => concat(Uint8Array.of(first), key, contextHash())

  it('is 0x01, the vault key and the hash of the context: 65 bytes', async () => {
    const { ct } = await payloadFor(actors.deploy)
    const opened = (await actors.deploy.rsaDecrypt(fromBase64url(ct))) as Bytes
    expect(opened).toEqual(inner(1, dekBytes(dek)))
    expect(await code(await wrapping(opened), actors.deploy)).toBe('accepted')
  })

  it('is refused with another format, another length or another context, all alike', async () => {
    const whole = inner(1, dekBytes(dek))
    for (const other of [inner(0, dekBytes(dek)), inner(2, dekBytes(dek)), whole.subarray(1), whole.subarray(0, 64)])
      expect(await code(await wrapping(other), actors.deploy)).toBe('wrap_context')
    expect(await code(await wrapping(concat(whole, Uint8Array.of(0))), actors.deploy)).toBe('wrap_context')
    expect(await code(await wrapping(new Uint8Array(0)), actors.deploy)).toBe('wrap_context')
    const foreign = concat(whole.subarray(0, 33), platform.sha256(new Uint8Array(0)))
    expect(await code(await wrapping(foreign), actors.deploy)).toBe('wrap_context')
  })

  it('is refused with any other vault key than the committed one', async () => {
    const other = makeDek({ org: 'org_acme', vaultId: VAULT, dekVersion: 2 })
    expect(await code(await wrapping(inner(1, dekBytes(other))), actors.deploy)).toBe('dek_commitment')
    expect(await code(await wrapping(inner(1, new Uint8Array(32))), actors.deploy)).toBe('dek_commitment')
  })

  it('cannot be forwarded to another key id, even of the same RSA key', async () => {
    const { enc, kem } = decodePem(keysFile.keys.deploy)
    const twin = await openKeys('agent:ag_deploy', { enc, sig: null, kem })
    expect(equalBytes(twin.key.encSpki, actors.deploy.key.encSpki)).toBe(true)
    const forwarded = { ...(await payloadFor(actors.deploy)), to: twin.kid }
    expect(await code(forwarded, twin)).toBe('wrap_context')
  })

  it('stays the recipient’s own, also if a key service wipes the memory it answered with', async () => {
    const answers: Buffer[] = []
    const service: Recipient = {
      ...actors.deploy,
      rsaDecrypt: async (ciphertext) => {
        const answer = Buffer.from((await actors.deploy.rsaDecrypt(ciphertext)) as Bytes)
        answers.push(answer)
        return answer as unknown as Bytes
      },
    }
    const opened = await unwrap(await payloadFor(actors.deploy), service)
    for (const answer of answers) answer.fill(0)
    expect(dekBytes(opened)).toEqual(dekBytes(dek))
  })
})

describe('the algorithm of a wrap', () => {
  it('is the one of the recipient’s key: none weaker, none other', async () => {
    const [classic, hybrid] = [await payloadFor(actors.deploy), await payloadFor(actors.hybrid)]
    expect(codeOf(() => checkWrapAlgorithm(classic, actors.deploy.key))).toBe('accepted')
    expect(codeOf(() => checkWrapAlgorithm(hybrid, actors.hybrid.key))).toBe('accepted')
    expect(codeOf(() => checkWrapAlgorithm(classic, actors.hybrid.key))).toBe('alg_downgrade')
    expect(codeOf(() => checkWrapAlgorithm(hybrid, actors.deploy.key))).toBe('alg_downgrade')
  })

  it('leaves no member of the other algorithm behind, and none of its own out', async () => {
    const [classic, hybrid] = [await payloadFor(actors.deploy), await payloadFor(actors.hybrid)]
    const { ct2, box, ...half } = hybrid
    for (const stray of [{ ct2 }, { box }, { ct2, box }])
      expect(codeOf(() => checkWrapAlgorithm({ ...classic, ...stray } as WrappedDekPayload, actors.deploy.key))).toBe(
        'malformed',
      )
    for (const missing of [half, { ...half, ct2 }, { ...half, box }])
      expect(codeOf(() => checkWrapAlgorithm(missing as WrappedDekPayload, actors.hybrid.key))).toBe('malformed')
  })

  it('is refused before any private key is used if the recipient has no ML-KEM key or the wrap lacks a half', async () => {
    const hybrid = await payloadFor(actors.hybrid)
    const forDeploy = counting(actors.deploy)
    expect(await code({ ...hybrid, to: actors.deploy.kid }, forDeploy.recipient)).toBe('alg_downgrade')
    const { box: _, ...incomplete } = hybrid
    const forHybrid = counting(actors.hybrid)
    expect(await code(incomplete as WrappedDekPayload, forHybrid.recipient)).toBe('malformed')
    expect([forDeploy.used, forHybrid.used]).toEqual([[], []])
  })
})
