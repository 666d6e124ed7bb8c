import { formsOf } from '@strongroom/sdk'

// Masks values in a stream of bytes, in the forms that programs print them in, however the stream is cut into pieces. Works on
// bytes: what is no text passes unharmed, and a character that is split over two chunks is no special case.
//
// The end of what came is held back while it could be the beginning of a value. A program that then waits for an answer would seem
// to hang, its prompt unseen: so after a moment of silence `settle` shows what is held, but only if that is at most three bytes and
// at most a quarter of the shortest value it could belong to. A longer beginning stays back until more comes. What was shown early
// is remembered: if the rest of the value follows, the rest is masked.

export interface Masker {
  /** What may be shown of everything so far. */
  write(chunk: Uint8Array): Buffer
  /** After a moment of silence: what of the held bytes gives nothing away. */
  settle(): Buffer
  /** The rest. */
  end(): Buffer
  /** How often each value was masked. */
  readonly hits: Readonly<Record<string, number>>
}

interface Form {
  readonly bytes: Buffer
  readonly label: Buffer
  readonly name: string
}

/** Every form a value is looked for in; the shortest has four bytes. */
const KEY_BYTES = 4
const MOST_SHOWN_EARLY = 3
const SHARE_SHOWN_EARLY = 4
const NOTHING: Buffer = Buffer.alloc(0)

interface Index {
  /** By their first four bytes, the longest first. */
  readonly forms: ReadonlyMap<number, readonly Form[]>
  /** Whether a form begins with these two bytes. */
  readonly pairs: Uint8Array
  readonly firsts: Uint8Array
}

const keyAt = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at)

function indexOf(values: Values): Index {
  const forms = new Map<number, Form[]>()
  const pairs = new Uint8Array(65_536)
  const firsts = new Uint8Array(256)
  const seen = new Set<string>()
  for (const [name, bytes] of values) {
    const label = Buffer.from(`‹${name}›`)
    const all = [bytes, ...formsOf(bytes).map((form) => Buffer.from(form))]
    for (const given of all) {
      const form = { bytes: Buffer.from(given), label, name }
      const id = form.bytes.toString('latin1')
      if (given.length < KEY_BYTES || seen.has(id)) continue
      seen.add(id)
      const key = keyAt(form.bytes, 0)
      forms.set(key, [...(forms.get(key) ?? []), form])
      pairs[form.bytes.readUInt16BE(0)] = 1
      firsts[form.bytes[0] ?? 0] = 1
    }
  }
  for (const list of forms.values()) list.sort((a, b) => b.bytes.length - a.bytes.length)
  return { forms, pairs, firsts }
}

interface Match {
  readonly form: Form | undefined
  /** More bytes could make it longer, or make one; of the forms they could make, the length of the shortest. */
  readonly open: number | undefined
}

/** The next place at which a form could begin, or the end. */
function nextBegin({ pairs, firsts }: Index, text: Buffer, from: number): number {
  const last = text.length - 1
  for (let at = from; at < last; at += 1) if (pairs[((text[at] ?? 0) << 8) | (text[at + 1] ?? 0)]) return at
  return from <= last && firsts[text[last] ?? 0] ? last : text.length
}

/** The longest form that begins here. */
function matchAt({ forms }: Index, text: Buffer, at: number): Match {
  const left = text.length - at
  if (left < KEY_BYTES) return openOf(forms, text, at)
  let found: Form | undefined
  let open: number | undefined
  for (const form of forms.get(keyAt(text, at)) ?? []) {
    const { bytes } = form
    const compared = Math.min(bytes.length, left)
    if (bytes.compare(text, at, at + compared, 0, compared) !== 0) continue
    if (bytes.length > left) open = bytes.length
    else {
      found ??= form
      break
    }
  }
  return { form: found, open }
}

/** For the last few bytes, which are too short for the index. */
function openOf(forms: Index['forms'], text: Buffer, at: number): Match {
  const rest = text.subarray(at)
  let open: number | undefined
  for (const list of forms.values())
    for (const { bytes } of list)
      if (bytes.compare(rest, 0, rest.length, 0, rest.length) === 0) open = Math.min(open ?? bytes.length, bytes.length)
  return { form: undefined, open }
}

export type Values = readonly (readonly [name: string, bytes: Uint8Array])[]

/**
 * Makes maskers of these values, one for each stream. The forms are worked out when a byte is seen for the first time, and again
 * when `values` gives another list.
 */
export function maskersOf(values: () => Values): () => Masker {
  let known: Values | undefined
  let index: Index | undefined
  const forms = (): Index => {
    const now = values()
    if (!index || now !== known) index = indexOf(now)
    known = now
    return index
  }
  return () => makeMasker(forms)
}

function makeMasker(forms: () => Index): Masker {
  const hits: Record<string, number> = {}
  let held = NOTHING
  /** How many of the held bytes were shown already. */
  let early = 0
  let shortest = 0

  const scan = (isLast: boolean): Buffer => {
    // Most commands that are run often print little or nothing: forms that nobody needs are not worked out.
    if (held.length === 0) return NOTHING
    const index = forms()
    const shown: Buffer[] = []
    let plainFrom = early
    let at = 0
    shortest = 0
    for (;;) {
      at = nextBegin(index, held, at)
      if (at >= held.length) break
      const { form, open } = matchAt(index, held, at)
      if (open !== undefined && !isLast) {
        shortest = open
        break
      }
      if (!form) {
        at += 1
        continue
      }
      hits[form.name] = (hits[form.name] ?? 0) + 1
      if (at > plainFrom) shown.push(held.subarray(plainFrom, at))
      shown.push(form.label)
      at += form.bytes.length
      plainFrom = at
    }
    if (at > plainFrom) shown.push(held.subarray(plainFrom, at))
    early = Math.max(0, early - at)
    held = held.subarray(at)
    return shown.length === 1 ? (shown[0] ?? NOTHING) : Buffer.concat(shown)
  }

  return {
    write: (chunk) => {
      held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk])
      return scan(false)
    },
    settle: () => {
      const isHarmless = held.length <= MOST_SHOWN_EARLY && held.length * SHARE_SHOWN_EARLY <= shortest
      if (!isHarmless || early >= held.length) return NOTHING
      const shown = Buffer.from(held.subarray(early))
      early = held.length
      return shown
    },
    end: () => scan(true),
    hits,
  }
}
