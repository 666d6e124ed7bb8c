import { platform } from '#platform'
import { toHex } from '../../src/encoding/bytes.ts'
import { canonical, canonicalText, parseStrict } from '../../src/encoding/canonical.ts'
import { lp } from '../../src/encoding/lp.ts'
import { type Dek, type DekPlace, dekBytes, deriveDekCommit, itemKey, openDek } from '../../src/values/dek.ts'
import { type FieldPlace, openField, sealField } from '../../src/values/field.ts'
import { pad, unpad, type ValueType } from '../../src/values/padding.ts'
import { type BytesNotation, bytesOf, drawing, type Operations } from './vectors-notation.ts'

// Sections 2.2 to 2.5.

type Part = { readonly text: string } | { readonly integer: number } | { readonly bytes: string }

export const lpOperations: Operations = {
  encode: ({ label, parts }: { label: string; parts: readonly Part[] }) => ({
    hex: toHex(
      lp(
        label,
        ...parts.map((part) => ('text' in part ? part.text : 'integer' in part ? part.integer : bytesOf(part.bytes))),
      ),
    ),
  }),
}

export const jcsOperations: Operations = {
  parse: ({ bytes }: { bytes: BytesNotation }) => ({ value: parseStrict(bytesOf(bytes)) }),
  roundtrip: ({ bytes }: { bytes: BytesNotation }) => ({
    sha256: toHex(platform.sha256(canonical(parseStrict(bytesOf(bytes))))),
  }),
  serialise: ({ json }: { json: string }) => ({ text: canonicalText(JSON.parse(json)) }),
}

export const paddingOperations: Operations = {
  pad: ({ type, value }: { type: ValueType; value: BytesNotation }) => {
    const padded = pad(type, bytesOf(value))
    return { length: padded.length, sha256: toHex(platform.sha256(padded)) }
  },
  unpad: ({ bytes }: { bytes: BytesNotation }) => {
    const { type, value } = unpad(bytesOf(bytes))
    return { type, value: toHex(value) }
  },
}

type DekInput = DekPlace & { readonly dek: string }
/** A vault key as a reader holds it: opened against its own commitment. */
export const dekOf = (input: DekInput): Dek => {
  const bytes = bytesOf(input.dek)
  return openDek(bytes, input, deriveDekCommit(bytes, input))
}

export const dekOperations: Operations = {
  commit: (input: DekInput) => ({ dekCommit: deriveDekCommit(bytesOf(input.dek), input) }),
  open: (input: DekInput & { dekCommit: string }) => ({
    dek: toHex(dekBytes(openDek(bytesOf(input.dek), input, input.dekCommit))),
  }),
}

export const itemKeyOperations: Operations = {
  derive: (input: DekInput & { itemId: string }) => {
    const { encryption, nonce } = itemKey(dekOf(input), input.itemId)
    return { encryption: toHex(encryption), nonce: toHex(nonce) }
  },
}

type SealInput = DekInput & FieldPlace & { type: ValueType; value: BytesNotation; rnd: string }

/** Seals, and notes with which nonce and associated data the cipher was called. */
async function seal(input: SealInput) {
  const { aesGcmSeal } = platform
  const used: { nonce: string; aad: string }[] = []
  platform.aesGcmSeal = (key, nonce, plaintext, aad) => {
    used.push({ nonce: toHex(nonce), aad: toHex(aad) })
    return aesGcmSeal(key, nonce, plaintext, aad)
  }
  try {
    const value = { type: input.type, value: bytesOf(input.value) }
    const { ct, envelope } = await drawing([bytesOf(input.rnd)], () => sealField(dekOf(input), input, value))
    return { aad: used[0]?.aad, nonce: used[0]?.nonce, ct, ...(envelope.length <= 4096 && { envelope }) }
  } finally {
    platform.aesGcmSeal = aesGcmSeal
  }
}

export const fieldOperations: Operations = {
  seal,
  open: async (input: DekInput & FieldPlace & { ct: string; envelope: string }) => {
    const { type, value } = await openField(dekOf(input), input, input.ct, input.envelope)
    return { type, value: toHex(value) }
  },
}
