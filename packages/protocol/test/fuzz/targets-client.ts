import { openAssetMeta, unwrapContentKey } from '../../src/attachments/content-key.ts'
import { HEADER_BYTES, startDecryption } from '../../src/attachments/floe.ts'
import { decryptStream } from '../../src/attachments/floe-stream.ts'
import { invite } from '../../src/directory/documents.ts'
import { parseInviteLink, verifyAcceptance } from '../../src/directory/invite.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import { concat, equalBytes } from '../../src/encoding/bytes.ts'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import { documentHash, peekDocument, type VerifiedDocument } from '../../src/identity/document.ts'
import { verifyPendingKey } from '../../src/runtime/runtime-key.ts'
import { formatTrustAnchor, parseTrustAnchor } from '../../src/trust/anchor.ts'
import { logPinOf, orgTrustOf, parseTrustStore, pinAnchor, serialiseTrustStore } from '../../src/trust/store.ts'
import { formatDeviceSecret, formatRecoveryCode, parseDeviceSecret, parseRecoveryCode } from '../../src/user/codes.ts'
import { checkKdf } from '../../src/user/kdf-floor.ts'
import { openPrivateBundle } from '../../src/user/private-bundle.ts'
import { ORG } from '../world/world.ts'
import { type Fixtures, FLOE_CONTEXT, FLOE_KEY, FLOE_PARAMETERS, type FloeSample } from './fixtures.ts'
import { carried, envelopeInput, envelopeTree } from './inputs.ts'
import { mutateJson, treeOf } from './mutate-json.ts'
import { mutateBytes, mutateText } from './mutate-text.ts'
import type { Random } from './random.ts'
import { agree, same, type Target, target } from './target.ts'

// Sections 4.6, 7, 8 and 9: what a client is handed by people, by its own disk and by a store of attachments.

function anchors({ store, storeText }: Fixtures): Target[] {
  const { genesis, origin, logVkeys, tlogPolicy } = orgTrustOf(store, ORG)
  const anchor = { org: ORG, genesis, origin, logVkeys, tlogPolicy }
  const samples = [formatTrustAnchor(anchor), formatTrustAnchor({ ...anchor, minimum: { size: 3, root: genesis } })]
  const tree = treeOf(store)
  return [
    target(
      'parseTrustAnchor',
      1,
      (random) => carried(random, 'vta1.', samples, true),
      (text) => {
        const parsed = parseTrustAnchor(text)
        agree(formatTrustAnchor(parsed) === text, 'a trust anchor was accepted in another than its one form')
        pinAnchor({ version: 1, orgs: {} }, parsed, 'pinned')
      },
    ),
    target(
      'parseTrustStore',
      1,
      (random) => (random.once(3) ? mutateText(random, storeText) : JSON.stringify(mutateJson(random, tree))),
      (text) => {
        const parsed = parseTrustStore(text)
        agree(same(parseTrustStore(serialiseTrustStore(parsed)), parsed), 'a trust store is another when written again')
        for (const org of Object.keys(parsed.orgs)) logPinOf(org, orgTrustOf(parsed, org))
      },
    ),
  ]
}

const links = ({ inviteLink }: Fixtures): Target =>
  target(
    'parseInviteLink',
    1,
    (random) => carried(random, 'vin1.', [inviteLink], true),
    (text) => agree(!JSON.stringify(parseInviteLink(text)).includes('"s"'), 'an invite link shows its secret'),
  )

/** A person may type a code in many ways; all of them mean the one code. */
const codes = ({ deviceSecret, recoveryCode }: Fixtures): Target[] => [
  target(
    'parseDeviceSecret',
    1,
    (random) => mutateText(random, deviceSecret, [recoveryCode]),
    (typed) => agree(formatDeviceSecret(parseDeviceSecret(typed)) === deviceSecret, 'a mistyped code was accepted'),
  ),
  target(
    'parseRecoveryCode',
    1,
    (random) => mutateText(random, recoveryCode, [deviceSecret]),
    (typed) => agree(formatRecoveryCode(parseRecoveryCode(typed)) === recoveryCode, 'a mistyped code was accepted'),
  ),
]

function kdf(): Target {
  const salt = 'AAECAwQFBgcICQoLDA0ODw'
  const samples = [`$argon2id$v=19$m=65536,t=3,p=4$${salt}`, `$pbkdf2-sha256$i=600000$${salt}`]
  return target(
    'checkKdf',
    1,
    (random) => mutateText(random, random.pick(samples), samples),
    (phc) => {
      const parameters = checkKdf(phc, { policyKdf: 'pbkdf2', lastUsed: samples[0] })
      agree(parameters.salt.length >= 16, 'a short salt was accepted')
      if (parameters.algorithm === 'argon2id')
        agree(parameters.memoryKib >= 65_536 && parameters.passes >= 3, 'parameters below the floor were accepted')
      else agree(parameters.iterations >= 600_000, 'parameters below the floor were accepted')
    },
  )
}

/** What the server keeps for a user, and what it serves of an attachment: sealed, so only the genuine text opens. */
function sealed({ bundle, asset }: Fixtures): Target[] {
  return [
    target(
      'openPrivateBundle',
      1,
      (random) => carried(random, 'vub3.', [bundle.text], false),
      async (text) => {
        await openPrivateBundle(bundle.key, bundle.place, text)
        agree(text === bundle.text, 'altered private keys were opened')
      },
    ),
    target(
      'unwrapContentKey',
      1,
      (random) => carried(random, '', [asset.cek], false),
      async (cek) => {
        await unwrapContentKey(asset.dek, asset.place, cek)
        agree(cek === asset.cek, 'an altered content key was opened')
      },
    ),
    target(
      'openAssetMeta',
      1,
      (random) => carried(random, '', [asset.meta], false),
      async (meta) => {
        await openAssetMeta(asset.key, asset.place, meta)
        agree(meta === asset.meta, 'an altered name of an attachment was opened')
      },
    ),
  ]
}

/** Whole segments dropped, doubled, exchanged or taken from another file, and the last one made to look like the last. */
function mutateSegments(random: Random, samples: readonly FloeSample[]): Uint8Array {
  const cut = (ciphertext: Uint8Array): Uint8Array[] => {
    const { segmentBytes } = FLOE_PARAMETERS
    const rest = ciphertext.subarray(HEADER_BYTES)
    return Array.from({ length: Math.ceil(rest.length / segmentBytes) }, (_, i) =>
      rest.slice(i * segmentBytes, (i + 1) * segmentBytes),
    )
  }
  const { ciphertext } = random.pick(samples)
  const segments = cut(ciphertext)
  const at = random.int(segments.length)
  const changed = random.pick([
    segments.slice(0, at + 1),
    segments.toSpliced(at, 1),
    segments.toSpliced(at, 0, segments[at] as Uint8Array),
    segments.with(at, random.pick(segments)),
    segments.with(at, random.pick(cut(random.pick(samples).ciphertext))),
  ])
  for (const [i, segment] of changed.entries()) {
    const isLast = i === changed.length - 1
    if (!random.once(3)) new DataView(segment.buffer).setUint32(0, isLast ? segment.length : 0xffff_ffff)
  }
  return concat(ciphertext.subarray(0, HEADER_BYTES), ...changed)
}

/** Chunks of any size in one buffer that is filled again and again, as file handles do it. */
async function* refilled(bytes: Uint8Array, chunk: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(chunk)
  for (let at = 0; at < bytes.length; at += chunk) {
    buffer.fill(0xee)
    const part = bytes.subarray(at, at + chunk)
    buffer.set(part)
    yield buffer.subarray(0, part.length)
  }
}

function attachments({ floe }: Fixtures): Target[] {
  const headers = floe.map(({ ciphertext }) => ciphertext.subarray(0, HEADER_BYTES))
  const header = target(
    'FLOE header',
    1,
    (random) => mutateBytes(random, random.pick(headers), headers),
    (bytes) => {
      startDecryption(FLOE_KEY, FLOE_CONTEXT, bytes, FLOE_PARAMETERS)
      agree(
        headers.some((one) => equalBytes(one, bytes)),
        'an altered header was accepted',
      )
    },
  )
  const stream = target(
    'FLOE stream',
    0.1,
    (random) => {
      const { ciphertext } = random.pick(floe)
      const others = [random.pick(floe).ciphertext]
      const way = random.int(20)
      const bytes =
        way === 0 ? ciphertext : way < 8 ? mutateSegments(random, floe) : mutateBytes(random, ciphertext, others)
      return { bytes, chunk: 1 + random.int(200) }
    },
    async ({ bytes, chunk }) => {
      const known = floe.find((one) => equalBytes(one.ciphertext, bytes))
      const given: Uint8Array[] = []
      let ended = false
      try {
        const source = refilled(bytes, chunk)
        for await (const part of decryptStream(FLOE_KEY, FLOE_CONTEXT, source, { parameters: FLOE_PARAMETERS }))
          given.push(part)
        ended = true
      } finally {
        // Also what came out before a refusal must be the beginning of a genuine file.
        const whole = concat(...given)
        const genuine = floe.some((one) => equalBytes(one.plaintext.subarray(0, whole.length), whole))
        agree(genuine, 'a stream gave out bytes that nobody encrypted')
        agree(
          ended === (known !== undefined),
          ended ? 'an altered stream was accepted' : 'a genuine stream was refused',
        )
        agree(!known || equalBytes(whole, known.plaintext), 'a stream was read otherwise than written')
      }
    },
  )
  return [header, stream]
}

function pendingKeys({ documents }: Fixtures): Target {
  const { envelope } = documents.find(({ kind }) => kind.name === 'key.add') as Fixtures['documents'][number]
  const pool = [envelopeTree(envelope)]
  return target(
    'verifyPendingKey',
    0.05,
    (random) => envelopeInput(random, envelope, pool),
    (candidate) => verifyPendingKey(ORG, candidate),
  )
}

/** What an admin's client is sent: an acceptance, and the invite of another admin who may have signed for anything. */
function acceptances({ acceptance, invite: envelope, world }: Fixtures): Target {
  const pool = [envelopeTree(acceptance)]
  const { payload, hash } = peekDocument(invite, envelope)
  const tree = treeOf(payload)
  return target(
    'verifyAcceptance',
    0.05,
    (random) =>
      random.once(2)
        ? { promised: payload, candidate: envelopeInput(random, acceptance, pool) }
        : {
            promised: random.once(2) ? mutateJson(random, tree) : withKey(payload, mutateBytes(random, SPKI)),
            candidate: acceptance,
          },
    async ({ promised, candidate }) => {
      const document = { hash, payload: invite.shape(promised, 'invite') } as unknown as VerifiedDocument<typeof invite>
      const found = await verifyAcceptance({ invite: document, candidate, now: world.now, isKnown: () => false })
      agree(documentHash(found.envelope) === documentHash(acceptance), 'an altered acceptance was accepted')
    },
  )
}

const SPKI = encodeEd25519Spki(new Uint8Array(32).fill(9))
const withKey = (payload: object, spki: Uint8Array): object => ({ ...payload, inviteKey: toBase64url(spki) })

export const clientTargets = (fixtures: Fixtures): readonly Target[] => [
  ...anchors(fixtures),
  links(fixtures),
  ...codes(fixtures),
  kdf(),
  ...sealed(fixtures),
  ...attachments(fixtures),
  pendingKeys(fixtures),
  acceptances(fixtures),
]
