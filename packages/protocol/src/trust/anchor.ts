import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { canonical, parseStrict } from '../encoding/canonical.ts'
import { hash, integer, list, record, text, words } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { id } from '../identity/identifiers.ts'
import { parseVkey } from '../log/note.ts'
import { parseWitnessPolicy } from '../log/witness-policy.ts'

// Section 9.2: all that a client without memory must be told over a channel the server does not control.

const PREFIX = 'vta1.'
const MAX_TEXT_LENGTH = 65_536
const MAX_VKEYS = 8
/** An ML-DSA-44 verifier key has 1.8 kB. */
export const MAX_VKEY_LENGTH = 4096
const MAX_POLICY_LENGTH = 16_384

/** One line without control characters; what it means is the note reader's affair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused; by the name of their category they take longer.
const LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/
const line = (maxLength: number) => text(LINE, maxLength)

const anchorShape = record(
  {
    g: hash,
    k: list(line(MAX_VKEY_LENGTH), MAX_VKEYS),
    l: line(256),
    o: id,
    q: words(MAX_POLICY_LENGTH),
  },
  { s: integer(1), r: hash },
)

export interface TrustAnchor {
  readonly org: string
  /** Hash of the genesis document: the fingerprint of the organisation. */
  readonly genesis: string
  readonly origin: string
  /** Verifier keys of the log, as text. */
  readonly logVkeys: readonly string[]
  /** C2SP tlog-policy text; `NO_WITNESSES` where none is configured. */
  readonly tlogPolicy: string
  /** The log was at least this long when the anchor was issued: not even a stateless client can be taken back further. */
  readonly minimum?: { readonly size: number; readonly root: string } | undefined
}

/** `vta1.` + base64url(JCS({g, k, l, o, q, s?, r?})). Refuses what `parseTrustAnchor` would refuse. */
export function formatTrustAnchor({ org, genesis, origin, logVkeys, tlogPolicy, minimum }: TrustAnchor): string {
  const least = minimum && { s: minimum.size, r: minimum.root }
  const formatted =
    PREFIX + toBase64url(canonical({ g: genesis, k: logVkeys, l: origin, o: org, q: tlogPolicy, ...least }))
  parseTrustAnchor(formatted)
  return formatted
}

/** Strict: one text for one anchor. The text is as trustworthy as the channel it came over, so nothing else is verified. */
export function parseTrustAnchor(formatted: string): TrustAnchor {
  ensure(formatted.length <= MAX_TEXT_LENGTH, 'limit_exceeded', 'a trust anchor is too long')
  ensure(formatted.startsWith('vta'), 'malformed', 'a trust anchor begins with vta1.')
  ensure(formatted.startsWith(PREFIX), 'alg_downgrade', 'a trust anchor has a version this client does not know')
  const { g, k, l, o, q, s, r } = anchorShape(parseStrict(fromBase64url(formatted.slice(PREFIX.length))), 'anchor')
  ensure(k.length > 0, 'malformed', 'a trust anchor names no log key')
  ensure((s === undefined) === (r === undefined), 'malformed', 'size and root of a trust anchor belong together')
  // Read now, so that a broken anchor is refused when it is pinned and not at the first read.
  for (const vkey of k) parseVkey(vkey)
  parseWitnessPolicy(q)
  const anchor = { org: o, genesis: g, origin: l, logVkeys: k, tlogPolicy: q }
  return s === undefined || r === undefined ? anchor : { ...anchor, minimum: { size: s, root: r } }
}
