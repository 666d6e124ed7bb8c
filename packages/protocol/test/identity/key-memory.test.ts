// Seen red: a recalled payload that skips the context or the commitment; a memory that is opened with other keys or for another
// principal; an altered memory that ends the read; a private key that is taken apart though everything is known; keys that are
// never taken apart; a memory that grows without end; an id of a sound key that stands for another key.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, utf8 } from '../../src/encoding/bytes.ts'
import { canonical, parseStrict } from '../../src/encoding/canonical.ts'
import { lp } from '../../src/encoding/lp.ts'
import { documentHash, peekDocument } from '../../src/identity/document.ts'
import type { Principal } from '../../src/identity/identifiers.ts'
import { checkKey, deriveKeyId } from '../../src/identity/key-bundle.ts'
import { keyMemory } from '../../src/identity/key-memory.ts'
import { decodePem, type Identity, openKeys } from '../../src/identity/private-keys.ts'
import { type Dek, dekBytes, deriveKey, makeDek } from '../../src/values/dek.ts'
import { unwrapDek, type VerifiedWrappedKey, wrapDek, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'
import { identityOf } from '../world/actors.ts'

const ORG = 'org_acme'
const VAULT = `v${'a'.repeat(32)}`
const WHO: Principal = 'agent:ag_hybrid'
const { hybrid: PEM, deploy: OTHER_PEM } = keysFile.keys

let alice: Identity
let hybrid: Identity
beforeAll(async () => {
  alice = await identityOf('alice', 'user:ou_alice')
  hybrid = await openKeys(WHO, decodePem(PEM))
})
afterEach(() => vi.restoreAllMocks())

/** A wrapped key as it is after grant, signature and author were verified. */
async function wrapFor(to: Identity, dekVersion = 1): Promise<{ dek: Dek; wrapped: VerifiedWrappedKey }> {
  const dek = makeDek({ org: ORG, vaultId: VAULT, dekVersion })
  const envelope = await wrapDek(dek, to.key, alice, 5)
  const { payload } = peekDocument(wrappedDek, envelope)
  return { dek, wrapped: { payload, hash: documentHash(envelope) } as unknown as VerifiedWrappedKey }
}

/** One process after the other: each finds what the last one has kept. */
function machine(pem = PEM, principal: Principal = WHO) {
  const kept: Bytes[] = []
  const start = () =>
    keyMemory(principal, pem).open(kept.at(-1), async (sealed) => {
      kept.push(sealed)
    })
  return { kept, start }
}

const OPERATIONS = ['importRsa', 'importEd25519', 'importMlKem', 'rsaOaepDecrypt', 'mlKemDecapsulate'] as const
const watched = () => {
  const spies = OPERATIONS.map((name) => [name, vi.spyOn(platform, name)] as const)
  return () => spies.filter(([, spy]) => spy.mock.calls.length > 0).map(([name]) => name)
}

describe.each(['hybrid', 'deploy', 'worker'] as const)('what the keys of %s have opened', (name) => {
  it('opens again without the private keys, to the same vault key', async () => {
    const { start } = machine(keysFile.keys[name])
    const first = await start()
    const { dek, wrapped } = await wrapFor(first)
    expect(dekBytes(await unwrapDek(wrapped, first))).toEqual(dekBytes(dek))
    const used = watched()
    const second = await start()
    expect(second.kid).toBe(first.kid)
    expect(second.key.bundle).toEqual(first.key.bundle)
    expect(dekBytes(await unwrapDek(wrapped, second))).toEqual(dekBytes(dek))
    expect(used()).toEqual([])
  })
})

it('takes the keys apart for what they have not opened yet, and to sign', async () => {
  const { start } = machine()
  const first = await start()
  await unwrapDek((await wrapFor(first)).wrapped, first)
  const used = watched()
  const second = await start()
  const { dek, wrapped } = await wrapFor(hybrid, 2)
  expect(dekBytes(await unwrapDek(wrapped, second))).toEqual(dekBytes(dek))
  expect(used()).toEqual([...OPERATIONS])
  expect(await second.sign(utf8('text'))).toEqual(await hybrid.sign(utf8('text')))
})

it('has nothing of another key, of another principal, or of what was altered', async () => {
  const { kept, start } = machine()
  const first = await start()
  const { dek, wrapped } = await wrapFor(first)
  await unwrapDek(wrapped, first)
  const sealed = kept[0] as Bytes
  const altered = sealed.map((byte, at) => (at === sealed.length - 20 ? byte ^ 1 : byte))
  const wrong: readonly (readonly [string, Principal, Uint8Array])[] = [
    [OTHER_PEM, WHO, sealed],
    [PEM, 'agent:ag_other', sealed],
    [PEM, WHO, altered],
    [PEM, WHO, sealed.subarray(0, 40)],
    [PEM, WHO, new Uint8Array(3)],
    [PEM, WHO, new Uint8Array(0)],
  ]
  for (const [pem, principal, bytes] of wrong) {
    const used = watched()
    const identity = await keyMemory(principal, pem).open(bytes, async () => undefined)
    expect(used()).toContain('importRsa')
    expect(identity.memory?.recall(wrapped.hash)).toBeUndefined()
    vi.restoreAllMocks()
  }
  const again = await keyMemory(WHO, PEM).open(altered, async () => undefined)
  expect(dekBytes(await unwrapDek(wrapped, again))).toEqual(dekBytes(dek))
})

it('is kept under a name that differs for other keys and another principal, and shows nothing of what is in it', async () => {
  const { kept, start } = machine()
  const first = await start()
  const { dek, wrapped } = await wrapFor(first)
  await unwrapDek(wrapped, first)
  const { name } = keyMemory(WHO, PEM)
  expect(name).toMatch(/^[A-Za-z0-9_-]{22}$/)
  expect(new Set([name, keyMemory(WHO, OTHER_PEM).name, keyMemory('agent:ag_other', PEM).name]).size).toBe(3)
  const text = Buffer.from(kept[0] as Bytes).toString('latin1')
  for (const shown of [wrapped.hash, first.kid, Buffer.from(dekBytes(dek)).toString('latin1'), first.key.bundle.enc])
    expect(text).not.toContain(shown)
})

/** What only the keys can write: their memory with other contents. */
async function rewritten(sealed: Bytes, change: (content: Record<string, unknown>) => object): Promise<Bytes> {
  const context = lp('strongroom/key-memory', WHO)
  const key = deriveKey(utf8(PEM), context, 48).slice(0, 32)
  const content = await platform.aesGcmOpen(key, sealed.slice(0, 12), sealed.subarray(12), context)
  const changed = canonical(change(parseStrict(content as Bytes) as Record<string, unknown>))
  return Uint8Array.from([
    ...sealed.slice(0, 12),
    ...(await platform.aesGcmSeal(key, sealed.slice(0, 12), changed, context)),
  ])
}

it('checks a payload it remembers like one that is opened now', async () => {
  const { kept, start } = machine()
  const first = await start()
  const { wrapped } = await wrapFor(first)
  await unwrapDek(wrapped, first)
  const codeWith = async (change: (payload: Bytes) => void): Promise<string> => {
    const sealed = await rewritten(kept[0] as Bytes, (content) => {
      const [{ wrap, payload }] = content.opened as [{ wrap: string; payload: string }]
      const bytes = fromBase64url(payload)
      change(bytes)
      return { ...content, opened: [{ wrap, payload: toBase64url(bytes) }] }
    })
    const identity = await keyMemory(WHO, PEM).open(sealed, async () => undefined)
    return refusal(() => unwrapDek(wrapped, identity))
  }
  const flip = (at: number) => (bytes: Bytes) => {
    bytes[at] = (bytes[at] as number) ^ 1
  }
  expect(await codeWith(flip(0))).toBe('wrap_context')
  expect(await codeWith(flip(1))).toBe('dek_commitment')
  expect(await codeWith(flip(64))).toBe('wrap_context')
})

it('begins anew where another version has kept something else', async () => {
  const { kept, start } = machine()
  const first = await start()
  const { wrapped } = await wrapFor(first)
  await unwrapDek(wrapped, first)
  const sealed = await rewritten(kept[0] as Bytes, (content) => ({ ...content, v: 2 }))
  const identity = await keyMemory(WHO, PEM).open(sealed, async () => undefined)
  expect(identity.memory?.recall(wrapped.hash)).toBeUndefined()
  expect(identity.kid).toBe(first.kid)
})

it('keeps the newest 64, and no more than 64 of one process', async () => {
  const { kept, start } = machine()
  const keepMany = async (from: number, count: number): Promise<Identity> => {
    const { memory, ...identity } = await start()
    for (let i = from; i < from + count; i += 1) await memory?.keep(nameOf(i), Uint8Array.of(i & 255))
    return { ...identity, ...(memory && { memory }) }
  }
  const nameOf = (i: number): string => toBase64url(Uint8Array.from({ length: 32 }, () => i))
  await keepMany(0, 100)
  expect(kept).toHaveLength(64)
  await keepMany(200, 1)
  const { memory } = await start()
  expect([0, 1, 63, 64, 99, 200].filter((i) => memory?.recall(nameOf(i)))).toEqual([1, 63, 200])
})

it('does not take a key for another that was found sound under its id', async () => {
  const other = await identityOf('bob', 'user:ou_bob1')
  const { kid } = alice
  checkKey(kid, alice.key.bundle)
  const { kept, start } = machine()
  const first = await start()
  await unwrapDek((await wrapFor(first)).wrapped, first)
  await keyMemory(WHO, PEM).open(kept[0], async () => undefined)
  expect(codeOf(() => checkKey(kid, other.key.bundle))).toBe('key_substitution')
  expect(kid.endsWith(deriveKeyId(alice.key.bundle))).toBe(true)
})
