import { platform } from '#platform'
import { fromBase64, fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { decodeUtf8, equalBytes } from '../../src/encoding/bytes.ts'
import { canonical, parseStrict } from '../../src/encoding/canonical.ts'
import { claimedKind, documentHash, envelopeShape, peekDocument } from '../../src/identity/document.ts'
import { parseKid } from '../../src/identity/identifiers.ts'
import { checkKey, deriveKeyId, type KeyBundle, verifyWithKey } from '../../src/identity/key-bundle.ts'
import { decodePem, encodePem, openKeys } from '../../src/identity/private-keys.ts'
import { type FieldPlace, openField, parseEnvelope } from '../../src/values/field.ts'
import { envField } from '../../src/vault/rows.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import type { Fixtures } from './fixtures.ts'
import { carried, envelopeInput, envelopeTree, jsonBytes, jsonSample } from './inputs.ts'
import { mutateJson, treeOf } from './mutate-json.ts'
import { mutateBytes, mutateText } from './mutate-text.ts'
import type { Random } from './random.ts'
import { agree, same, type Target, target } from './target.ts'

// Sections 2.1 to 2.4: encodings, keys, documents, values.

const PEMS = Object.values(keysFile.keys)

function strict({ documents }: Fixtures): Target {
  const samples = documents.map(({ envelope }) => jsonSample(decodeUtf8(fromBase64(envelope.payload))))
  const odd = jsonSample('{"a":[1,"\u00e9\u2028",null,{"b":{"c":9007199254740991}}],"z":"\\u0001\\n\\""}')
  return target(
    'parseStrict',
    1,
    (random) => jsonBytes(random, random.once(3) ? [odd] : samples),
    (bytes) => {
      agree(equalBytes(canonical(parseStrict(bytes)), bytes), 'a document was accepted in another than its one form')
    },
  )
}

function kids({ world }: Fixtures): Target {
  const samples = [world.actors.alice.kid, world.actors.deploy.kid]
  return target(
    'parseKid',
    1,
    (random) => mutateText(random, random.pick(samples), samples),
    (kid) => {
      const { principal, type, keyId } = parseKid(kid)
      agree(kid === `${principal}:${keyId}` && principal.startsWith(`${type}:`), 'a key id was taken apart wrongly')
    },
  )
}

const pem = (): Target =>
  target(
    'decodePem',
    1,
    (random) => mutateText(random, random.pick(PEMS), PEMS),
    (text) => {
      const written = encodePem(decodePem(text))
      agree(encodePem(decodePem(written)) === written, 'a PEM file is another one when it is written again')
    },
  )

function privateKeys(): Target {
  const samples = PEMS.slice(0, 3).map(decodePem)
  return target(
    'openKeys',
    0.005,
    (random) => {
      const material = random.pick(samples)
      const way = random.int(3)
      return {
        enc: way === 0 ? mutateBytes(random, material.enc) : material.enc,
        sig: way === 1 && material.sig ? mutateBytes(random, material.sig) : material.sig,
        kem: way === 2 ? mutateBytes(random, random.bytes(64)) : null,
      }
    },
    (material) => openKeys('user:ou_test', material as never),
  )
}

/** Under the key id that truly names the altered bundle, so that the key itself is looked at. */
function bundleInput(random: Random, bundle: KeyBundle, kid: string): { kid: string; bundle: unknown } {
  const member = random.pick(['enc', 'sig', 'kem'] as const)
  const held = bundle[member]
  const altered =
    held !== undefined && random.once(2)
      ? { ...bundle, [member]: toBase64url(mutateBytes(random, fromBase64url(held))) }
      : mutateJson(random, treeOf(bundle))
  if (random.once(4)) return { kid: random.once(2) ? kid : mutateText(random, kid), bundle: altered }
  try {
    return { kid: `user:ou_test:${deriveKeyId(altered as KeyBundle)}`, bundle: altered }
  } catch {
    return { kid, bundle: altered }
  }
}

function keys({ world }: Fixtures): Target {
  const samples = [world.actors.alice, world.actors.worker, world.actors.hybrid]
  return target(
    'checkKey',
    1,
    (random) => {
      const { key, kid } = random.pick(samples)
      return bundleInput(random, key.bundle, kid)
    },
    async ({ kid, bundle }) => {
      const key = checkKey(kid, bundle)
      agree(kid.endsWith(`:${deriveKeyId(key.bundle)}`), 'a key was accepted under the id of another')
      // A key that passed must break nothing that is done with it later.
      await platform.rsaOaepEncrypt(key.encSpki, new Uint8Array(65))
      agree(!(await verifyWithKey(key, new Uint8Array(1), new Uint8Array(64))), 'a signature of zeros verifies')
      if (key.kem) await platform.mlKemEncapsulate(key.kem)
    },
  )
}

function documents({ documents: samples }: Fixtures): Target[] {
  const pool = samples.map(({ envelope }) => envelopeTree(envelope))
  const shape = target(
    'envelopeShape',
    1,
    (random) => mutateJson(random, random.pick(pool), pool),
    (candidate) => {
      const envelope = envelopeShape(candidate, 'envelope')
      agree(envelope.signatures.length <= 8, 'nine signatures were accepted')
      documentHash(envelope)
      claimedKind(envelope)
    },
  )
  const kinds = samples.map(({ kind, envelope }) =>
    target(
      `document ${kind.name}`,
      0.05,
      (random) => envelopeInput(random, random.once(20) ? random.pick(samples).envelope : envelope, pool),
      (candidate) => {
        const { payload } = peekDocument(kind, candidate) as { payload: { t: string; v: number } }
        agree(payload.t === kind.name && payload.v === 3, 'a document was accepted as another kind')
        const body = fromBase64((candidate as typeof envelope).payload)
        agree(equalBytes(canonical(payload), body), 'a document was accepted in another than its one form')
      },
    ),
  )
  return [shape, ...kinds]
}

function fields({ answer, opened }: Fixtures): Target[] {
  const values = answer.fields.map(({ value }) => value)
  const dek = [...opened.keys.values()][0] as NonNullable<ReturnType<typeof opened.keys.get>>
  const envelopes = target(
    'parseEnvelope',
    1,
    (random) => carried(random, 'v3.', values, false),
    (envelope) => {
      const { bytes } = parseEnvelope(envelope)
      agree(`v3.${toBase64url(bytes)}` === envelope, 'an envelope was accepted in another than its one form')
    },
  )
  const open = target(
    'openField',
    1,
    (random) => {
      const { row, value } = random.pick(opened.fields)
      const honest = {
        place: envField(row) as FieldPlace,
        ct: row.ct,
        envelope: values[opened.fields.findIndex((one) => one.row === row)] as string,
      }
      const place = random.once(3) ? (mutatePlace(random, honest.place) as FieldPlace) : honest.place
      const envelope = random.once(3) ? honest.envelope : carried(random, 'v3.', values, false)
      // As if a dishonest writer had signed for the altered ciphertext.
      const ct = random.once(2) ? hashOf(envelope) : honest.ct
      return { value, honest, place, ct, envelope }
    },
    async ({ value, honest, place, ct, envelope }) => {
      const found = await openField(dek, place, ct, envelope)
      agree(same(place, honest.place) && envelope === honest.envelope, 'a value opened where it does not belong')
      agree(found.type === value.type && equalBytes(found.value, value.value), 'another value was opened')
    },
  )
  return [envelopes, open]
}

const mutatePlace = (random: Random, place: FieldPlace): unknown => {
  const member = random.pick(['itemId', 'fieldId', 'label'] as const)
  return random.pick([
    { ...place, [member]: mutateText(random, place[member]) },
    { ...place, rev: place.rev + 1 + random.int(2 ** 31) },
    { ...place, env: false },
  ])
}

function hashOf(envelope: string): string {
  try {
    return toBase64url(platform.sha256(fromBase64url(envelope.slice(3))))
  } catch {
    return ''
  }
}

export const identityTargets = (fixtures: Fixtures): readonly Target[] => [
  strict(fixtures),
  kids(fixtures),
  pem(),
  privateKeys(),
  keys(fixtures),
  ...documents(fixtures),
  ...fields(fixtures),
]
