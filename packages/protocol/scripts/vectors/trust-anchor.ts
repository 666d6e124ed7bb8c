import type { ProtocolErrorCode } from '../../src/errors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64url, noteKey, sha256, utf8 } from './reference.ts'

// Section 9.2: the trust anchor string.

const HASH = base64url(sha256(utf8('genesis')))
const ROOT = base64url(sha256(utf8('root')))
const ORIGIN = 'log.example.test/5f1c'
const { vkey } = noteKey(ORIGIN, 1, 0x44)
const NEXT = noteKey(ORIGIN, 1, 0x45).vkey
const POLICY = `witness w ${noteKey('w.test', 4, 0x61).vkey}\nquorum w\n`

/** In the order of their names, as canonical JSON has them. */
const members = (change: object = {}): object => {
  const all = { g: HASH, k: [vkey], l: ORIGIN, o: 'org_acme', q: POLICY, ...change }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
}
const textOf = (value: unknown): string => `vta1.${base64url(utf8(JSON.stringify(value)))}`
const ANCHOR = { org: 'org_acme', genesis: HASH, origin: ORIGIN, logVkeys: [vkey], tlogPolicy: POLICY }

const both = (name: string, anchor: object, change: object = {}): VectorCase[] => [
  accepts('format', name, { anchor }, { text: textOf(members(change)) }),
  accepts('parse', name, { text: textOf(members(change)) }, { anchor }),
]
const no = (name: string, text: string, code: ProtocolErrorCode = 'malformed'): VectorCase =>
  refuses('parse', name, code, { text })
const wrong = (name: string, change: object): VectorCase => no(name, textOf(members(change)))

export const makeTrustAnchor = (): VectorFile => ({
  vectors: 'trust-anchor',
  section: '9.2',
  comment:
    'vta1. and base64url(JCS({g: genesis, k: log keys, l: origin, o: organisation, q: witness policy, s: size, r: root})).',
  cases: [
    ...both('without a minimum', ANCHOR),
    ...both('with a minimum', { ...ANCHOR, minimum: { size: 70_000, root: ROOT } }, { s: 70_000, r: ROOT }),
    ...both('two log keys', { ...ANCHOR, logVkeys: [vkey, NEXT] }, { k: [vkey, NEXT] }),
    ...both('no witnesses', { ...ANCHOR, tlogPolicy: 'quorum none\n' }, { q: 'quorum none\n' }),
    no('another version', textOf(members()).replace('vta1', 'vta2'), 'alg_downgrade'),
    no('no prefix', textOf(members()).slice(5)),
    no('nothing', ''),
    no('padding of base64', `${textOf(members())}=`),
    no('members in another order', textOf({ o: 'org_acme', g: HASH, k: [vkey], l: ORIGIN, q: POLICY })),
    wrong('a member too many', { z: 1 }),
    wrong('no genesis', { g: undefined }),
    wrong('a genesis that is no hash', { g: HASH.slice(1) }),
    wrong('no log key', { k: [] }),
    wrong('nine log keys', { k: Array.from({ length: 9 }, () => vkey) }),
    wrong('a size without root', { s: 1 }),
    wrong('a root without size', { r: ROOT }),
    wrong('size 0', { s: 0, r: ROOT }),
    wrong('an origin of two lines', { l: 'a\nb' }),
    wrong('an organisation of another form', { o: 'org/acme' }),
  ],
})
