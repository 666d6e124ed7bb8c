import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../encoding/bytes.ts'
import { canonical, parseStrict } from '../encoding/canonical.ts'
import { lp } from '../encoding/lp.ts'
import { bytesText, hash, list, literal, record } from '../encoding/shape.ts'
import { deriveKey } from '../values/dek.ts'
import { type Kid, kidText, type Principal } from './identifiers.ts'
import { checkedKids, checkOwnKey, deriveKeyId, type KeyBundle, keyBundle, recallChecked } from './key-bundle.ts'
import { decodePem, type Identity, openKeys, type PrivateKeyMaterial, type WrapMemory } from './private-keys.ts'

// What private keys have computed, for the next process that has them: their public halves, the payloads of wrapped keys they have
// opened, and ids of public keys that were found sound (2.1, "may be cached for ever"). A short process spends a tenth of its time on that.
//
// It is sealed under the private keys themselves: whoever reads or writes it has them, or learns nothing and achieves nothing. And
// it is no verdict about an answer: signatures, proofs, grants, contexts and commitments are checked as if nothing were kept. Not
// part of the protocol, since nobody else ever sees it.

const KEY_BYTES = 32
const NAME_BYTES = 16
const NONCE_BYTES = 12
/** Of each kind. A process that opens more adds no more: it would write for nothing. */
const MOST_KEPT = 64

const contentShape = record({
  v: literal(1),
  bundle: keyBundle,
  opened: list(record({ wrap: hash, payload: bytesText(1, 256) }), MOST_KEPT),
  sound: list(kidText, MOST_KEPT),
})

interface Content {
  readonly bundle: KeyBundle
  /** By the hash of the wrap, the oldest first. */
  readonly opened: Map<string, Bytes>
}

export interface KeyMemory {
  /** What to keep it under. Only the keys lead to it, and it leads nowhere. */
  readonly name: string
  /**
   * The keys, usable. They are taken apart when they are first used, or at once where nothing is kept that they have sealed. `keep`
   * is given what to keep from now on whenever they have opened another wrapped key.
   */
  open(kept: Uint8Array | undefined, keep: (sealed: Bytes) => Promise<void>): Promise<Identity>
}

/** What the keys in `pem` remember as those of `principal`. */
export function keyMemory(
  principal: Principal,
  pem: string,
  material: () => PrivateKeyMaterial = () => decodePem(pem),
): KeyMemory {
  const context = lp('strongroom/key-memory', principal)
  const derived = deriveKey(utf8(pem), context, KEY_BYTES + NAME_BYTES)
  const key = derived.slice(0, KEY_BYTES)
  const whole = (): Promise<Identity> => openKeys(principal, material())
  return {
    name: toBase64url(derived.subarray(KEY_BYTES)),
    open: async (kept, keep) => {
      const recalled = kept && (await recall(key, context, kept))
      const identity = recalled ? lateIdentity(principal, recalled.bundle, whole) : await whole()
      const content = recalled ?? { bundle: identity.key.bundle, opened: new Map() }
      const memory = memoryOf(content.opened, async () => keep(await seal(key, context, content)))
      return { ...identity, memory }
    },
  }
}

async function seal(key: Bytes, context: Bytes, { bundle, opened }: Content): Promise<Bytes> {
  const wraps = [...opened].map(([wrap, payload]) => ({ wrap, payload: toBase64url(payload) }))
  const content = canonical({ v: 1, bundle, opened: wraps, sound: checkedKids(MOST_KEPT) })
  const nonce = platform.randomBytes(NONCE_BYTES)
  return concat(nonce, await platform.aesGcmSeal(key, nonce, content, context))
}

/** Undefined for what was altered, what other keys have sealed, and what another version of this program has. */
async function recall(key: Bytes, context: Bytes, kept: Uint8Array): Promise<Content | undefined> {
  const content = await platform.aesGcmOpen(key, kept.slice(0, NONCE_BYTES), kept.subarray(NONCE_BYTES), context)
  if (!content) return undefined
  try {
    const { bundle, opened, sound } = contentShape(parseStrict(content), 'memory')
    recallChecked(sound)
    return { bundle, opened: new Map(opened.map(({ wrap, payload }) => [wrap, fromBase64url(payload)])) }
  } catch {
    return undefined
  }
}

function memoryOf(opened: Map<string, Bytes>, keep: () => Promise<void>): WrapMemory {
  let added = 0
  return {
    recall: (wrap) => opened.get(wrap),
    keep: async (wrap, payload) => {
      if (opened.has(wrap) || added >= MOST_KEPT) return
      added += 1
      if (opened.size >= MOST_KEPT) opened.delete(opened.keys().next().value as string)
      opened.set(wrap, payload.slice())
      await keep()
    },
  }
}

/** Keys whose public half is known already. */
function lateIdentity(principal: Principal, bundle: KeyBundle, open: () => Promise<Identity>): Identity {
  let opening: Promise<Identity> | undefined
  const opened = (): Promise<Identity> => {
    opening ??= open()
    return opening
  }
  const kid: Kid = `${principal}:${deriveKeyId(bundle)}`
  const decapsulate = async (ciphertext: Uint8Array): Promise<Bytes> =>
    (await opened()).decapsulate?.(ciphertext) as Promise<Bytes>
  return {
    kid,
    key: checkOwnKey(kid, bundle),
    sign: async (message) => (await opened()).sign(message),
    rsaDecrypt: async (ciphertext) => (await opened()).rsaDecrypt(ciphertext),
    ...(bundle.kem !== undefined && { decapsulate }),
  }
}
