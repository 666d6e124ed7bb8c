import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { concat, utf8 } from '../../src/encoding/bytes.ts'
import { canonicalText } from '../../src/encoding/canonical.ts'
import { encodeEd25519Spki, encodeRsaSpki, parseRsaSpki } from '../../src/identity/der.ts'
import { documentHash, type Envelope, peekDocument } from '../../src/identity/document.ts'
import { deriveKeyId, type KeyBundle } from '../../src/identity/key-bundle.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { vaultHead } from '../../src/vault/documents.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { alterState, logHead, logKid, nextHead, signText, tamper, vaultStateOf, type WritableAnswer } from './powers.ts'

// Rows 24 to 26: one signed object taken for another, bytes that two parsers read differently, and keys that are none.

const serve = async ({ client }: Bench, change: (copy: WritableAnswer) => void) =>
  client.read(tamper(await client.ask(), change))

/** The text of the next head as an honest writer would sign it. */
const headText = async (world: World): Promise<string> =>
  canonicalText(peekDocument(vaultHead, await nextHead(world, {}, world.actors.bob)).payload)

/** A writer signs a text of his own as the next head, and the server logs it. */
const spelled =
  (change: (text: string) => string) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    const head = await signText('vault-head', change(await headText(world)), world.actors.bob)
    const { headVersion } = vaultStateOf(world)
    const headIndex = world.host.leaves.length
    const state = { headVersion: headVersion + 1, headHash: documentHash(head), headIndex }
    alterState<VaultState>(world, vaultName(world.prod), state, [head])
    return client.read(await client.ask())
  }

const spelling = (
  id: string,
  title: string,
  change: (text: string) => string,
  code: Attack['code'] = 'malformed',
): Attack => ({
  id: `confusion-json-${id}`,
  row: 25,
  title,
  code,
  run: spelled(change),
})

/** A member whose key bundle is unfit, endorsed by a dishonest admin. */
const withBundle =
  (change: (bundle: KeyBundle, world: World) => Partial<KeyBundle>) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    const { dave, mallory } = world.actors
    const bundle = { ...mallory.key.bundle, ...change(mallory.key.bundle, world) }
    const kid = `user:ou_bob1:${deriveKeyId(bundle)}` as const
    const ghost = { ...mallory, kid, key: { ...mallory.key, kid, bundle } } as Identity
    logKid(world, kid, await registerKey({ org: ORG, caps: ['member'], at: world.now }, dave, ghost))
    await logHead(world, {}, ghost)
    return client.read(await client.ask())
  }

const modulusOf = (world: World): Uint8Array => parseRsaSpki(world.actors.mallory.key.encSpki).modulus
const EXPONENT = Uint8Array.of(1, 0, 1)
const rsa = (modulus: Uint8Array, exponent: Uint8Array = EXPONENT): string =>
  toBase64url(encodeRsaSpki({ modulus: modulus.slice(), exponent: exponent.slice() }))

export const CONFUSION_HONEST: readonly Honest[] = [
  {
    id: 'confusion-honest-head',
    theme: 'type confusion and JSON',
    title: 'a head in the one canonical spelling is read',
    run: async (world, bench) => {
      await spelled((text) => text)(world, bench)
    },
  },
]

export const CONFUSION: readonly Attack[] = [
  {
    id: 'confusion-list-as-head',
    row: 24,
    title: 'a signed access list offered as the head',
    code: 'wrong_type',
    run: (_world, bench) =>
      serve(bench, (copy) => {
        copy.head = structuredClone(copy.acl)
      }),
  },
  {
    id: 'confusion-type-relabelled',
    row: 24,
    title: 'a signed access list under the type of a head',
    code: 'bad_signature',
    run: (_world, bench) =>
      serve(bench, (copy) => {
        copy.head = { ...structuredClone(copy.acl), payloadType: copy.head.payloadType }
      }),
  },
  {
    id: 'confusion-signed-as-other-type',
    row: 24,
    title: 'a payload that says it is a head, signed as an access list',
    code: 'wrong_type',
    run: async (world, { client }) => {
      const head = await signText('acl.set', await headText(world), world.actors.bob)
      const { headVersion } = vaultStateOf(world)
      const state = { headVersion: headVersion + 1, headHash: documentHash(head), headIndex: world.host.leaves.length }
      alterState<VaultState>(world, vaultName(world.prod), state, [head])
      return client.read(await client.ask())
    },
  },
  {
    id: 'confusion-type-in-payload',
    row: 24,
    title: 'a document signed as a head whose payload says it is an access list',
    code: 'wrong_type',
    run: spelled((text) => text.replace('"t":"vault-head"', '"t":"acl.set"')),
  },
  {
    id: 'confusion-other-organisation',
    row: 24,
    title: 'a head that its writer signed for another organisation',
    code: 'genesis_mismatch',
    run: spelled((text) => text.replace('"org":"org_acme"', '"org":"org_other"')),
  },
  {
    id: 'confusion-author-did-not-sign',
    row: 24,
    title: 'a head that names another author than its signer',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      const text = (await headText(world)).replace(bob.kid, alice.kid)
      const head = await signText('vault-head', text, bob)
      return client.read(
        tamper(await client.ask(), (copy) => {
          copy.head = structuredClone(head) as never
        }),
      )
    },
  },
  {
    id: 'confusion-nine-signatures',
    row: 24,
    title: 'a document with more signatures than anybody needs',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, ({ head }) => {
        const [first] = head.signatures as [Envelope['signatures'][number]]
        head.signatures = Array.from({ length: 9 }, () => ({ ...first }))
      }),
  },
  {
    id: 'confusion-signature-altered',
    row: 24,
    title: 'one bit of a signature',
    code: 'bad_signature',
    run: (_world, bench) =>
      serve(bench, ({ head }) => {
        const [first] = head.signatures as [{ keyid: string; sig: string }]
        first.sig = toBase64(new Uint8Array(64).fill(7))
      }),
  },
  {
    id: 'confusion-payload-second-spelling',
    row: 25,
    title: 'the payload of a document in a second base64 spelling',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, ({ head }) => {
        head.payload = `${head.payload}\n`
      }),
  },
  {
    id: 'confusion-unsigned-member',
    row: 25,
    title: 'an envelope with a member that nobody signed',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, ({ head }) => {
        Object.assign(head, { note: 'trust me' })
      }),
  },
  spelling('duplicate-key', 'a member twice', (text) => text.replace('"changes":[]', '"changes":[],"changes":[]')),
  spelling('key-order', 'members in another order', (text) => {
    const { aclHash, ...rest } = JSON.parse(text) as { aclHash: string }
    return JSON.stringify({ ...rest, aclHash })
  }),
  spelling('white-space', 'white space', (text) => text.replace(':', ': ')),
  spelling('float', 'an integer as 1.0', (text) => text.replace('"v":3', '"v":3.0')),
  spelling('exponent', 'an integer as 3e0', (text) => text.replace('"v":3', '"v":3e0')),
  spelling('escape', 'a letter as its escape', (text) => text.replace('Payments', '\\u0050ayments')),
  spelling('minus-zero', 'minus zero', (text) => text.replace(/"at":\d+/, '"at":-0')),
  spelling('large-integer', 'an integer over 2^53', (text) => text.replace(/"at":\d+/, '"at":9007199254740993')),
  spelling('lone-surrogate', 'half a character', (text) => text.replace('Payments', '\\ud800')),
  spelling('byte-order-mark', 'a byte order mark', (text) => `\ufeff${text}`),
  spelling('prototype', 'a member called __proto__', (text) => text.replace('"v":3', '"__proto__":{"v":3}')),
  spelling('member-too-many', 'a member too many', (text) => text.replace('{"acl', '{"a":1,"acl')),
  spelling('member-too-few', 'a member too few', (text) => text.replace('"changes":[],', '')),
  spelling('not-json', 'something that is not JSON', () => 'vault-head'),
  spelling('look-alike-author', 'an author whose name only looks like Bob', (text) =>
    text.replace('user:ou_bob1', 'user:ou_b\u043eb1'),
  ),
  spelling('deep', 'nesting that only a parser survives', () => '['.repeat(100_000), 'limit_exceeded'),
  {
    id: 'confusion-not-utf8',
    row: 25,
    title: 'bytes that are not UTF-8',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, (copy) => {
        copy.create.payload = toBase64(concat(utf8('{"a":"'), Uint8Array.of(0xff), utf8('"}')))
      }),
  },
  {
    id: 'confusion-rsa-1024',
    row: 26,
    title: 'a member with an RSA key of 1024 bits',
    code: 'weak_key',
    run: withBundle((_bundle, world) => ({ enc: rsa(modulusOf(world).subarray(0, 128)) })),
  },
  {
    id: 'confusion-rsa-exponent',
    row: 26,
    title: 'a member with an RSA exponent of 3',
    code: 'weak_key',
    run: withBundle((_bundle, world) => ({ enc: rsa(modulusOf(world), Uint8Array.of(3)) })),
  },
  {
    id: 'confusion-rsa-even',
    row: 26,
    title: 'a member with an even RSA modulus',
    code: 'weak_key',
    run: withBundle((_bundle, world) => {
      const modulus = modulusOf(world).slice()
      modulus[modulus.length - 1] = 2
      return { enc: rsa(modulus) }
    }),
  },
  {
    id: 'confusion-small-order-key',
    row: 26,
    title: 'a member with an Ed25519 key for which any signature verifies',
    code: 'weak_key',
    run: withBundle(() => ({ sig: toBase64url(encodeEd25519Spki(Uint8Array.of(1, ...new Uint8Array(31)))) })),
  },
  {
    id: 'confusion-key-of-other-type',
    row: 26,
    title: 'a member whose signing key is of another type than the bundle says',
    code: 'weak_key',
    run: withBundle(({ sig }) => ({ enc: sig })),
  },
]
