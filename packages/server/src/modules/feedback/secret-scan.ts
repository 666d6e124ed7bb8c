// Does a text carry something that must not be stored? It is for honest mistakes: a log line with a key in it, a pasted
// configuration. Refusing once too often costs a second try; storing a secret costs its rotation.

/** What kind of thing was found. */
export type SecretKind =
  | 'strongroom_credential'
  | 'private_key'
  | 'token'
  | 'provider_key'
  | 'ciphertext'
  | 'connection_string'
  | 'password'
  | 'high_entropy'
  | 'email_address'
  | 'card_number'

const PATTERNS: readonly (readonly [SecretKind, RegExp])[] = [
  // Ours: API keys, access tokens and other server tokens, device secrets and recovery codes, sealed values and bundles.
  ['strongroom_credential', /\bsra_[0-9A-Za-z]{16,}/],
  ['strongroom_credential', /\bsr[a-z]_[A-Za-z0-9_-]{24,}/],
  ['strongroom_credential', /\bSR[DR]1-?[0-9A-Z-]{8,}/i],
  ['ciphertext', /\bv3\.[A-Za-z0-9_-]{16,}/],
  ['ciphertext', /\bvub3\.[A-Za-z0-9_-]{8,}/],
  ['private_key', /-----\s*BEGIN [A-Z0-9 ]+-----/],
  ['private_key', /\bAGE-SECRET-KEY-1[0-9A-Z]{16,}/i],
  ['private_key', /\bPuTTY-User-Key-File-[0-9]/],
  ['token', /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/],
  ['token', /\b(?:bearer|basic)\s+(?=[A-Za-z0-9+/_.-]*[0-9])[A-Za-z0-9+/_.-]{12,}=*/i],
  ['provider_key', /\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[0-9A-Z]{16}\b/],
  ['provider_key', /\bgh[pousr]_[A-Za-z0-9]{20,}/],
  ['provider_key', /\bgithub_pat_[A-Za-z0-9_]{20,}/],
  ['provider_key', /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/],
  ['provider_key', /\bwhsec_[A-Za-z0-9+/=]{16,}/],
  ['provider_key', /\bxox[a-z]-[A-Za-z0-9-]{10,}/],
  ['provider_key', /\bxapp-[0-9]-[A-Za-z0-9-]{10,}/],
  ['provider_key', /hooks\.slack\.com\/services\/[A-Z0-9]+\/[A-Z0-9]+\/[A-Za-z0-9]+/],
  ['provider_key', /\bsk-[A-Za-z0-9_-]{20,}/],
  ['provider_key', /\bAIza[A-Za-z0-9_-]{30,}/],
  ['provider_key', /\bya29\.[A-Za-z0-9_-]{20,}/],
  ['provider_key', /\bglpat-[A-Za-z0-9_-]{16,}/],
  ['provider_key', /\bnpm_[A-Za-z0-9]{30,}/],
  ['provider_key', /\bpypi-[A-Za-z0-9_-]{30,}/],
  ['provider_key', /\bdo[opr]_v1_[a-f0-9]{32,}/],
  ['provider_key', /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['provider_key', /\bhv[sbr]\.[A-Za-z0-9_-]{20,}/],
  ['provider_key', /\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}/],
  ['connection_string', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]*:[^\s/@]+@/i],
  ['connection_string', /\b(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*[^\s;]{4,}\s*(?:;|$)/im],
  ['email_address', /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b/],
]

/** `password: …` and its like, if what follows could be one: a letter, and a digit or a sign no sentence has inside a word. */
const ASSIGNED =
  /(?:pass(?:word|wd|phrase|code)?|pwd|secret|api[_ -]?key|access[_ -]?key|token|credential)s?["']?\s*(?:[:=]|\bis\b)\s*["'`]?([^\s"'`,;)]{6,})/gi
const PLACEHOLDER = /^[<[{$%*(]|^(?:\.{3}|x{4,}|redacted)/i
const looksAssigned = (value: string): boolean =>
  !PLACEHOLDER.test(value) && /[A-Za-z]/.test(value) && /[0-9!#$%^&*+]/.test(value)

/** Spaces that do not show and letters that only look like others would hide a key from the patterns, not from a reader. */
const visible = (text: string): string =>
  text.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '')

/** The first kind that is found, or undefined for a text that may be kept. */
export function findSecret(text: string): SecretKind | undefined {
  const plain = visible(text)
  for (const [kind, pattern] of PATTERNS) if (pattern.test(plain)) return kind
  for (const [, value] of plain.matchAll(ASSIGNED)) if (value !== undefined && looksAssigned(value)) return 'password'
  if (hasCardNumber(plain)) return 'card_number'
  return hasRandomToken(plain) ? 'high_entropy' : undefined
}

/** 13 to 19 digits, in groups or not, that start like a card and whose check digit fits. */
function hasCardNumber(text: string): boolean {
  for (const [match] of text.matchAll(/(?<![0-9A-Za-z_.-])[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9A-Za-z_])/g)) {
    const digits = match.replace(/[ -]/g, '')
    const sum = [...digits].reverse().reduce((total, digit, i) => {
      const value = Number(digit) * (i % 2 === 1 ? 2 : 1)
      return total + (value > 9 ? value - 9 : value)
    }, 0)
    if (sum % 10 === 0) return true
  }
  return false
}

// What looks random and is public: our own ids, UUIDs, and digests that say what they are.
const PUBLIC = [
  /(?<![0-9A-Za-z_])[a-z]{3}_[0-9a-hjkmnp-tv-z]{22}(?![0-9A-Za-z_-])/g,
  /(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9A-Za-z])/gi,
  /\b(?:sha-?(?:1|256|384|512)|commit|revision|digest|tree)[ :=-]{1,2}(?:sha-?[0-9]{1,3}[-:])?[0-9a-f]{40,128}\b/gi,
] as const

function hasRandomToken(text: string): boolean {
  const rest = PUBLIC.reduce((left, known) => left.replace(known, ' '), text)
  const candidates = rest.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []
  return candidates.some(isRandom)
}

// The pairs of letters most of English, and of the names programs are made of, consists of.
const PAIRS = new Set(
  (
    'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ' +
    'ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ' +
    'ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp ' +
    'fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov rm ep tt fa cu rn sc gi da cr cl qu ' +
    'ue ff ba ey va um pp up ru ck pi og ul lt ms nv sy xt db'
  ).split(' '),
)
/** In words and in names made of words, well over a third of all neighbours are such pairs; in random text a fifth or less. */
const MIN_SHARE_OF_PAIRS = 0.36
const MIN_HEX = 32

/** Attention is paid to letters only: random text of digits alone is a number, and numbers are ordinary. */
function isRandom(token: string): boolean {
  const solid = token.replace(/[^A-Za-z0-9]/g, '')
  if (/^[0-9a-f]+$/i.test(solid)) return /[0-9]/.test(solid) && /[a-f]/i.test(solid) && solid.length >= MIN_HEX
  if (solid.length < 20 || !/[A-Za-z]/.test(solid)) return false
  // A capital in front of small letters starts a word; capitals among themselves make one.
  const words = token.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []
  const pairs = words.flatMap((word) =>
    Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2).toLowerCase()),
  )
  return pairs.filter((pair) => PAIRS.has(pair)).length / (solid.length - 1) < MIN_SHARE_OF_PAIRS
}
