import { streamOf } from '../../test/everywhere/vectors-notation.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import {
  bucket,
  type DekPlace,
  dekCommit,
  type FieldPlace,
  hex,
  itemKeys,
  pad,
  type Sealed,
  sealPadded,
  sha256,
  utf8,
} from './reference.ts'

// Sections 2.4 and 2.5: padding, vault keys and the field envelope.

const padded = (type: number, count: number): VectorCase => {
  const out = pad(type, Buffer.alloc(count, 0x61))
  return accepts(
    'pad',
    `${count} bytes of type ${type}`,
    { type, value: { repeat: '61', count } },
    {
      length: out.length,
      sha256: hex(sha256(out)),
    },
  )
}

function paddedLengths(): number[] {
  const powers = Array.from({ length: 11 }, (_, i) => 2 ** (i + 6))
  const near = powers.flatMap((power) => [-2, -1, 0, 1, 2].map((step) => power + step))
  const lengths = new Set([...Array.from({ length: 131 }, (_, i) => i), ...near, 1022, 1023, 2000, 5000])
  return [...lengths].filter((length) => length <= 65_536).sort((a, b) => a - b)
}

const refusesUnpad = (name: string, bytes: unknown): VectorCase => refuses('unpad', name, 'padding', { bytes })

const unpadCases: readonly VectorCase[] = [
  accepts('unpad', 'an empty value', { bytes: hex(pad(0, Buffer.alloc(0))) }, { type: 0, value: '' }),
  accepts(
    'unpad',
    'text',
    { bytes: hex(pad(1, utf8('postgres://u:p@db/prod'))) },
    {
      type: 1,
      value: hex(utf8('postgres://u:p@db/prod')),
    },
  ),
  accepts(
    'unpad',
    'a value that ends like padding',
    { bytes: hex(pad(2, Buffer.from('618000008000', 'hex'))) },
    {
      type: 2,
      value: '618000008000',
    },
  ),
  accepts(
    'unpad',
    '62 bytes fill the smallest bucket',
    { bytes: hex(pad(0, Buffer.alloc(62, 7))) },
    {
      type: 0,
      value: hex(Buffer.alloc(62, 7)),
    },
  ),
  refusesUnpad('nothing', ''),
  refusesUnpad('zeros only', { repeat: '00', count: 64 }),
  refusesUnpad('a marker and no type before it', ['80', { repeat: '00', count: 63 }]),
  refusesUnpad('no marker at the end', ['0161', { repeat: '00', count: 61 }, '01']),
  refusesUnpad('another marker', ['016181', { repeat: '00', count: 61 }]),
  refusesUnpad('one byte less than the bucket', ['016180', { repeat: '00', count: 60 }]),
  refusesUnpad('one bucket more than needed', ['016180', { repeat: '00', count: 125 }]),
  refusesUnpad('a length that is no bucket above 1 KiB', ['01', { repeat: '61', count: 1500 }, '80', '0000']),
  refusesUnpad('an unknown type', ['036180', { repeat: '00', count: 61 }]),
]

export const makePadding = (): VectorFile => ({
  vectors: 'padding',
  section: '2.4',
  comment:
    'type ‖ value ‖ 0x80 ‖ 0x00…, filled up to bucket(len(value)+2). The value of a pad case is the byte 0x61, repeated.',
  cases: [...paddedLengths().map((length) => padded(length % 3, length)), ...unpadCases],
})

const PLACE: DekPlace = { dek: '11'.repeat(32), org: 'org_acme', vaultId: 'vlt_prod', dekVersion: 1 }
/** One of everything a key is bound to, changed by as little as possible. */
const otherPlaces = (place: DekPlace): readonly (readonly [string, DekPlace])[] => [
  ['key', { ...place, dek: `10${place.dek.slice(2)}` }],
  ['organisation', { ...place, org: `${place.org}1` }],
  ['vault', { ...place, vaultId: `${place.vaultId}1` }],
  ['version', { ...place, dekVersion: place.dekVersion + 1 }],
]
const VERSIONS = [1, 2, 255, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1]

export const makeDekCommit = (): VectorFile => ({
  vectors: 'dek-commit',
  section: '2.5',
  comment:
    'HKDF-SHA-256(DEK, salt "vault.v3", info LP("vault.v3/dek-commit", org, vaultId, dekVersion), 32) as base64url.',
  cases: [
    ...VERSIONS.map((dekVersion) => {
      const place = { ...PLACE, dekVersion }
      return accepts('commit', `version ${dekVersion}`, place, { dekCommit: dekCommit(place) })
    }),
    accepts(
      'commit',
      'the zero key',
      { ...PLACE, dek: '00'.repeat(32) },
      {
        dekCommit: dekCommit({ ...PLACE, dek: '00'.repeat(32) }),
      },
    ),
    accepts('open', 'the committed key', { ...PLACE, dekCommit: dekCommit(PLACE) }, { dek: PLACE.dek }),
    ...otherPlaces(PLACE).map(([name, place]) =>
      refuses('open', `another ${name}`, 'dek_commitment', { ...place, dekCommit: dekCommit(PLACE) }),
    ),
  ],
})

const itemKeyCase = (name: string, place: DekPlace, itemId: string): VectorCase => {
  const { encryption, nonce } = itemKeys(place, itemId)
  return accepts('derive', name, { ...place, itemId }, { encryption: hex(encryption), nonce: hex(nonce) })
}

export const makeItemKey = (): VectorFile => ({
  vectors: 'item-key',
  section: '2.4',
  comment:
    'HKDF-SHA-256(DEK, salt "vault.v3", info LP("vault.v3/item-key", org, vaultId, itemId, dekVersion), 64): encryption ‖ nonce. A derivation refuses nothing: every other context gives another key.',
  cases: [
    itemKeyCase('the example of the specification', PLACE, 'itm_db'),
    itemKeyCase('another item', PLACE, 'itm_db1'),
    ...otherPlaces(PLACE).map(([name, place]) => itemKeyCase(`another ${name}`, place, 'itm_db')),
    ...VERSIONS.slice(2).map((dekVersion) => itemKeyCase(`version ${dekVersion}`, { ...PLACE, dekVersion }, 'itm_db')),
  ],
})

const FIELD: FieldPlace = { itemId: 'itm_db', fieldId: 'fld_url', rev: 7, label: 'DATABASE_URL', env: true }
const RND = '22'.repeat(16)
const VALUE = utf8('postgres://u:p@db/prod')
const seal = (place: DekPlace, field: FieldPlace, type: number, value: Uint8Array, rnd = RND): Sealed =>
  sealPadded(place, field, pad(type, value), Buffer.from(rnd, 'hex'))

interface SealInput {
  readonly place?: Partial<DekPlace>
  readonly field?: Partial<FieldPlace>
  readonly type?: number
  readonly value?: Uint8Array
  readonly notation?: unknown
  readonly rnd?: string
}

const LONG_ENVELOPE = 4096

/** Sealed by hand, and opened again: one case each. */
function both(name: string, input: SealInput): VectorCase[] {
  const { place: otherPlace, field: otherField, type = 1, value = VALUE, notation = hex(value), rnd = RND } = input
  const place = { ...PLACE, ...otherPlace }
  const field = { ...FIELD, ...otherField }
  const { aad, nonce, ct, envelope } = seal(place, field, type, value, rnd)
  const isLong = envelope.length > LONG_ENVELOPE
  const sealed = { aad: hex(aad), nonce: hex(nonce), ct, ...(!isLong && { envelope }) }
  const sealing = accepts('seal', name, { ...place, ...field, type, value: notation, rnd }, sealed)
  if (isLong) return [sealing]
  return [sealing, accepts('open', name, { ...place, ...field, ct, envelope }, { type, value: hex(value) })]
}

const sealCases = (): VectorCase[] => [
  ...both('the example of the specification', {}),
  ...both('an empty value of bytes', { type: 0, value: Buffer.alloc(0) }),
  ...both('JSON', { type: 2, value: utf8('{"a":1}') }),
  ...both('62 bytes', { type: 0, value: Buffer.alloc(62, 1) }),
  ...both('63 bytes', { type: 0, value: Buffer.alloc(63, 1) }),
  ...both('1023 bytes', { type: 0, value: Buffer.alloc(1023, 1) }),
  ...both('65536 bytes', {
    type: 0,
    value: streamOf('field', 65_536),
    notation: { stream: 'field', length: 65_536 },
  }),
  ...both('not an environment field', { field: { env: false } }),
  ...both('an empty label', { field: { label: '' } }),
  ...both('a label beyond ASCII', { field: { label: 'Schlüssel 🔑' } }),
  ...both('revision 2^32 + 1', { field: { rev: 2 ** 32 + 1 } }),
  ...both('key version 65537', { place: { dekVersion: 65_537 } }),
  ...both('key version 2^32 - 1', { place: { dekVersion: 2 ** 32 - 1 } }),
  ...both('other random bytes', { rnd: '00'.repeat(16) }),
  refuses('seal', '65537 bytes', 'limit_exceeded', {
    ...PLACE,
    ...FIELD,
    type: 0,
    value: { repeat: '00', count: 65_537 },
    rnd: RND,
  }),
]

const sealed = seal(PLACE, FIELD, 1, VALUE)
const opening = { ...PLACE, ...FIELD, ct: sealed.ct, envelope: sealed.envelope }
const envelopeOf = (bytes: Uint8Array) => ({
  envelope: `v3.${Buffer.from(bytes).toString('base64url')}`,
  ct: sha256(bytes).toString('base64url'),
})
const bytes = Buffer.from(sealed.envelope.slice(3), 'base64url')
const altered = (at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at] = value
  return copy
}
const flipped = (at: number): Buffer => altered(at, (bytes[at] as number) ^ 1)

const refusesOpen = (name: string, code: VectorCase['code'] & string, change: object): VectorCase =>
  refuses('open', name, code, { ...opening, ...change })

/** Each member of the associated data, changed by one. */
const boundCases: readonly VectorCase[] = [
  ...otherPlaces(PLACE)
    .slice(0, 3)
    .map(([name, place]) => refusesOpen(`another ${name}`, 'aead', place)),
  refusesOpen('another item', 'aead', { itemId: 'itm_dc' }),
  refusesOpen('another field', 'aead', { fieldId: 'fld_urm' }),
  refusesOpen('another revision', 'aead', { rev: 8 }),
  refusesOpen('another label', 'aead', { label: 'DATABASE_URM' }),
  refusesOpen('the other flag', 'aead', { env: false }),
  refusesOpen('another key version in the metadata', 'field_swap', { dekVersion: 2 }),
  refusesOpen('another key version in the envelope', 'field_swap', envelopeOf(altered(5, 2))),
  refusesOpen('another key version in both', 'aead', { dekVersion: 2, ...envelopeOf(altered(5, 2)) }),
]

const formCases: readonly VectorCase[] = [
  refusesOpen('version 2', 'alg_downgrade', envelopeOf(altered(0, 2))),
  refusesOpen('version 4', 'alg_downgrade', envelopeOf(altered(0, 4))),
  refusesOpen('suite 0', 'alg_downgrade', envelopeOf(altered(1, 0))),
  refusesOpen('suite 2', 'alg_downgrade', envelopeOf(altered(1, 2))),
  refusesOpen('the prefix of another format', 'alg_downgrade', { envelope: `v2.${sealed.envelope.slice(3)}` }),
  refusesOpen('no prefix', 'alg_downgrade', { envelope: sealed.envelope.slice(3) }),
  refusesOpen('padding of base64', 'malformed', { envelope: `${sealed.envelope}=` }),
  refusesOpen('plain base64', 'malformed', { envelope: sealed.envelope.replaceAll('_', '/').replaceAll('-', '+') }),
  refusesOpen('one byte cut off', 'malformed', envelopeOf(bytes.subarray(0, -1))),
  refusesOpen('a whole block cut off', 'malformed', envelopeOf(bytes.subarray(0, -64))),
  refusesOpen('a header alone', 'malformed', envelopeOf(bytes.subarray(0, 6))),
  refusesOpen('one byte added', 'malformed', envelopeOf(Buffer.concat([bytes, Buffer.of(0)]))),
  refusesOpen('a whole block added', 'aead', envelopeOf(Buffer.concat([bytes, Buffer.alloc(64)]))),
  refusesOpen('a nonce changed', 'aead', envelopeOf(flipped(6))),
  refusesOpen('a ciphertext changed', 'aead', envelopeOf(flipped(18))),
  refusesOpen('a tag changed', 'aead', envelopeOf(flipped(bytes.length - 1))),
  refusesOpen('another ciphertext than the metadata names', 'field_swap', {
    envelope: envelopeOf(flipped(18)).envelope,
  }),
]

const wrongPadding = (name: string, plaintext: Uint8Array): VectorCase => {
  const { ct, envelope } = sealPadded(PLACE, FIELD, plaintext, Buffer.from(RND, 'hex'))
  return refusesOpen(name, 'padding', { ct, envelope })
}
const marked = (length: number, total: number, type = 1): Buffer =>
  Buffer.concat([Buffer.of(type), Buffer.alloc(length, 0x61), Buffer.of(0x80)], total)

export const makeField = (): VectorFile => ({
  vectors: 'field',
  section: '2.4',
  comment:
    'The v3 field envelope. seal: the value, 16 given random bytes, and what is computed on the way. open: with the place and the hash that verified metadata names.',
  cases: [
    ...sealCases(),
    ...boundCases,
    ...formCases,
    wrongPadding('authentic, without a marker', Buffer.alloc(64)),
    wrongPadding('authentic, in a larger bucket than needed', marked(5, bucket(128))),
    wrongPadding('authentic, of an unknown type', marked(5, 64, 3)),
  ],
})
