import { platform } from '#platform'
import { toBase64 } from '../../../src/encoding/base64.ts'
import { concat, toHex, utf8 } from '../../../src/encoding/bytes.ts'
import {
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  parseNote,
  parseVkey,
  signNote,
  verifyNote,
} from '../../../src/log/note.ts'
import { parseWitnessPolicy } from '../../../src/log/witness-policy.ts'
import { noteSigner } from '../../world/log-host.ts'
import { extra } from '../extra-case.ts'

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const keyNamed = (name: string) => () => makeVerifierKey(name, NOTE_SIGNATURE, key(1))
const SIGNED = '— name AAAAAAAA\n'

/** A verifier key of any type, with the right key id. */
function vkeyOfType(type: number): string {
  const typed = concat(Uint8Array.of(type), key(1))
  const keyId = platform.sha256(concat(utf8('name\n'), typed)).slice(0, 4)
  return `name+${toHex(keyId)}+${toBase64(typed)}`
}

const NOTES = [
  extra('note-key-without-name', 'malformed', keyNamed('')),
  extra('note-key-with-space', 'malformed', keyNamed('two words')),
  extra('note-key-with-control', 'malformed', keyNamed('a\u0001b')),
  extra('note-key-too-short', 'malformed', () => makeVerifierKey('name', NOTE_SIGNATURE, new Uint8Array(31))),
  extra('vkey-of-no-form', 'malformed', () => parseVkey('name')),
  extra('vkey-of-other-algorithm', 'alg_downgrade', () => parseVkey(vkeyOfType(2))),
  extra('vkey-with-other-id', 'malformed', () => parseVkey(vkeyOfType(1).replace(/\+[0-9a-f]{8}\+/, '+00000000+'))),
  extra('note-too-large', 'limit_exceeded', () => parseNote('x'.repeat(70_000))),
  extra('note-half-a-character', 'malformed', () => parseNote(`\ud800\n\n${SIGNED}`)),
  extra('note-control', 'malformed', () => parseNote(`a\u0001b\n\n${SIGNED}`)),
  extra('note-without-end', 'malformed', () => parseNote('text\n\n— name AAAAAAAAX')),
  extra('note-too-many-signatures', 'limit_exceeded', () => parseNote(`text\n\n${SIGNED.repeat(101)}`)),
  extra('note-line-of-no-form', 'malformed', () => parseNote('text\n\n— name\n')),
  extra('note-line-without-signature', 'malformed', () => parseNote('text\n\n— name AAAAAA==\n')),
  extra('note-text-with-signature', 'malformed', async () =>
    signNote(`text\n\n${SIGNED}`.trimEnd(), 'name', await noteSigner(1)),
  ),
  extra('note-by-nobody-known', 'unknown_signer', async () =>
    verifyNote(await signNote('text\n', 'name', await noteSigner(1)), []),
  ),
]

const vkey = (name: string, type: typeof NOTE_SIGNATURE | typeof NOTE_COSIGNATURE, fill: number): string =>
  makeVerifierKey(name, type, key(fill)).vkey
const witness = (name: string, fill: number): string => `witness ${name} ${vkey(name, NOTE_COSIGNATURE, fill)}\n`
const log = (name: string, fill: number): string => `log ${vkey(name, NOTE_SIGNATURE, fill)}\n`
const policy = (text: string) => () => parseWitnessPolicy(text)
const A = witness('a.test', 1)

const POLICIES = [
  extra('policy-too-large', 'limit_exceeded', policy(`${'#\n'.repeat(40_000)}quorum none\n`)),
  extra('policy-control', 'malformed', policy('#\u0001\nquorum none\n')),
  extra('policy-without-end', 'malformed', policy('quorum none')),
  extra('policy-unknown-line', 'malformed', policy('maybe\nquorum none\n')),
  extra('policy-without-quorum', 'malformed', policy('\n')),
  extra(
    'policy-too-many-logs',
    'limit_exceeded',
    policy(`${Array.from({ length: 65 }, (_, i) => log(`log${i}.test`, i)).join('')}quorum none\n`),
  ),
  extra('policy-empty-group', 'malformed', policy('group g all\nquorum none\n')),
  extra('policy-quorum-of-two-names', 'malformed', policy('quorum none none\n')),
  extra('policy-two-quorums', 'malformed', policy('quorum none\nquorum none\n')),
  extra(
    'policy-line-too-long',
    'malformed',
    policy(`${log('log.test', 1).trimEnd()} https://log.test more\nquorum none\n`),
  ),
  extra('policy-key-of-other-type', 'malformed', policy(`log ${vkey('log.test', NOTE_COSIGNATURE, 1)}\nquorum none\n`)),
  extra('policy-key-twice', 'malformed', policy(`${A}${witness('b.test', 1)}quorum none\n`)),
  extra(
    'policy-reserved-name',
    'malformed',
    policy(`witness none ${vkey('a.test', NOTE_COSIGNATURE, 1)}\nquorum none\n`),
  ),
  extra(
    'policy-name-twice',
    'malformed',
    policy(`${A}${A.replace(/ [^ ]+\n/, ` ${vkey('a.test', NOTE_COSIGNATURE, 2)}\n`)}quorum none\n`),
  ),
  extra('policy-unknown-member', 'malformed', policy(`${A}group g 1 b.test\nquorum none\n`)),
  extra('policy-member-twice', 'malformed', policy(`${A}group g 1 a.test a.test\nquorum none\n`)),
  extra('policy-threshold', 'malformed', policy(`${A}group g 2 a.test\nquorum none\n`)),
]

export const NOTE_CASES = [...NOTES, ...POLICIES]
