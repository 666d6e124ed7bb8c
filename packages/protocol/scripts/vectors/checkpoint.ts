import type { ProtocolErrorCode } from '../../src/errors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import {
  base64,
  cosignatureLine,
  hex,
  logLeaf,
  logLine,
  type NoteKey,
  noteKey,
  signatureLine,
  utf8,
} from './reference.ts'

// Sections 5.3 to 5.5: checkpoints, cosignatures and witness policies.

const ORIGIN = 'log.example.test/5f1c0a9be3d7426881b0c9d2f4a6e817'
const ROOT = logLeaf(utf8('root'))
const LOG = noteKey(ORIGIN, 1, 0x44)
const NEXT = noteKey(ORIGIN, 1, 0x45)
const ONE = noteKey('witness.one.test', 4, 0x61)
const TWO = noteKey('witness.two.test', 4, 0x62)
const THREE = noteKey('witness.three.test', 4, 0x63)
const STRANGER = noteKey('stranger.test', 1, 0x66)
const TIME = 1_767_225_600

const bodyOf = (size: number | string, root: Uint8Array = ROOT, origin = ORIGIN): string =>
  `${origin}\n${size}\n${base64(root)}\n`
const BODY = bodyOf(70_000)
const note = (body: string, ...lines: readonly string[]): string => `${body}\n${lines.join('')}`
const HONEST = note(BODY, logLine(LOG, BODY))
const COSIGNED = `${HONEST}${cosignatureLine(ONE, BODY, TIME)}${cosignatureLine(TWO, BODY, TIME + 60)}`

const policyOf = (...witnesses: readonly NoteKey[]): string =>
  `${witnesses.map((key) => `witness ${key.name} ${key.vkey}\n`).join('')}group all all ${witnesses.map((key) => key.name).join(' ')}\nquorum all\n`
const TRUST = { origin: ORIGIN, logKeys: [LOG.vkey] }

const verifies = (name: string, text: string, trust: object, result: object): VectorCase =>
  accepts(
    'verify',
    name,
    { note: text, ...TRUST, ...trust },
    {
      origin: ORIGIN,
      size: 70_000,
      root: hex(ROOT),
      logKeys: [LOG.vkey],
      cosignatures: [],
      ...result,
    },
  )
const bad = (name: string, code: ProtocolErrorCode, text: string, trust: object = {}): VectorCase =>
  refuses('verify', name, code, { note: text, ...TRUST, ...trust })

const [EMPTY, LARGE] = [bodyOf(0), bodyOf(2 ** 53 - 1)] as const

const acceptedCases: readonly VectorCase[] = [
  accepts(
    'make',
    'a checkpoint',
    { origin: ORIGIN, size: 70_000, root: hex(ROOT), seedByte: 0x44 },
    { note: HONEST, vkey: LOG.vkey },
  ),
  accepts(
    'cosign',
    'a checkpoint',
    { note: HONEST, ...TRUST, name: ONE.name, seedByte: 0x61, timestamp: TIME },
    {
      note: HONEST + cosignatureLine(ONE, BODY, TIME),
      vkey: ONE.vkey,
    },
  ),
  verifies('a log signature', HONEST, {}, {}),
  verifies('size 0', note(EMPTY, logLine(LOG, EMPTY)), {}, { size: 0 }),
  verifies('size 2^53-1', note(LARGE, logLine(LOG, LARGE)), {}, { size: 2 ** 53 - 1 }),
  verifies('signatures by strangers are ignored', note(BODY, logLine(STRANGER, BODY), logLine(LOG, BODY)), {}, {}),
  verifies('a stranger with the name of the log', note(BODY, logLine(NEXT, BODY), logLine(LOG, BODY)), {}, {}),
  verifies(
    'a stranger with the key id of the log',
    note(BODY, logLine({ ...LOG, name: 'x.test' }, BODY), logLine(LOG, BODY)),
    {},
    {},
  ),
  verifies(
    'a stranger with a signature of any form',
    note(BODY, signatureLine(STRANGER, Buffer.of(1)), logLine(LOG, BODY)),
    {},
    {},
  ),
  verifies(
    'two log keys',
    note(BODY, logLine(LOG, BODY), logLine(NEXT, BODY)),
    { logKeys: [LOG.vkey, NEXT.vkey] },
    {
      logKeys: [LOG.vkey, NEXT.vkey],
    },
  ),
  verifies('one of two pinned log keys', HONEST, { logKeys: [NEXT.vkey, LOG.vkey] }, {}),
  verifies(
    'cosignatures by known witnesses',
    COSIGNED,
    { policy: policyOf(ONE, TWO) },
    {
      cosignatures: [
        { vkey: ONE.vkey, timestamp: TIME },
        { vkey: TWO.vkey, timestamp: TIME + 60 },
      ],
    },
  ),
  verifies(
    'cosignatures by others are ignored',
    COSIGNED,
    { policy: policyOf(TWO) },
    {
      cosignatures: [{ vkey: TWO.vkey, timestamp: TIME + 60 }],
    },
  ),
]

function refusedSignatures(): VectorCase[] {
  const otherId = { ...LOG, keyId: Buffer.from('00000000', 'hex') }

  const cosigners = { policy: policyOf(ONE, TWO) }
  const stranger = noteKey(ONE.name, 4, 0x67)
  const replaced = cosignatureLine({ ...stranger, keyId: ONE.keyId }, BODY, TIME)
  return [
    bad('no signature by the log', 'log_key', note(BODY, logLine(STRANGER, BODY))),
    bad('signed by another key under the name of the log', 'log_key', note(BODY, logLine(NEXT, BODY))),
    bad('another key id', 'log_key', note(BODY, logLine(otherId, BODY))),
    bad('a bad signature by the log', 'bad_signature', note(BODY, logLine(LOG, bodyOf(70_001)))),
    bad('a bad signature by one of two log keys', 'bad_signature', note(BODY, logLine(LOG, BODY), logLine(NEXT, 'x')), {
      logKeys: [LOG.vkey, NEXT.vkey],
    }),
    bad('a size changed', 'bad_signature', HONEST.replace('70000', '70001')),
    bad('another root', 'bad_signature', HONEST.replace(base64(ROOT), base64(logLeaf(utf8('x'))))),
    bad('a log signature of 63 bytes', 'bad_signature', note(BODY, signatureLine(LOG, Buffer.alloc(63)))),
    bad('another origin', 'log_key', note(bodyOf(1, ROOT, 'evil.test'), logLine(LOG, bodyOf(1, ROOT, 'evil.test')))),
    bad('a pinned key of another log', 'log_key', HONEST, { logKeys: [STRANGER.vkey] }),
    bad('a pinned key of a witness', 'log_key', HONEST, { logKeys: [noteKey(ORIGIN, 4, 0x44).vkey] }),
    bad('a cosignature with another time', 'bad_signature', HONEST + retimed(ONE), cosigners),
    bad('a cosignature by another key', 'bad_signature', HONEST + replaced, cosigners),
    bad('a cosignature that is a plain signature', 'bad_signature', HONEST + logLine(ONE, BODY), cosigners),
    bad('a cosignature of eight bytes', 'bad_signature', HONEST + signatureLine(ONE, Buffer.alloc(8)), cosigners),
  ]
}

/** The signature of one second under the time of the next. */
function retimed(key: NoteKey): string {
  const [, , encoded] = cosignatureLine(key, BODY, TIME).trimEnd().split(' ')
  const bytes = Buffer.from(encoded as string, 'base64')
  bytes[11] = (bytes[11] as number) + 1
  return signatureLine(key, bytes.subarray(4))
}

function refusedForms(): VectorCase[] {
  const signed = (body: string) => note(body, logLine(LOG, body))
  const withLine = (body: string, code: ProtocolErrorCode, name: string) => bad(name, code, signed(body))
  const many = Array.from({ length: 100 }, () => logLine(STRANGER, BODY))
  return [
    bad('CRLF', 'malformed', signed(BODY.replaceAll('\n', '\r\n'))),
    withLine(bodyOf('01'), 'malformed', 'size 01'),
    withLine(bodyOf('+1'), 'malformed', 'size +1'),
    withLine(bodyOf('-1'), 'malformed', 'size -1'),
    withLine(bodyOf('1 '), 'malformed', 'a space after the size'),
    withLine(bodyOf('0x10'), 'malformed', 'a size in hex'),
    withLine(bodyOf(''), 'malformed', 'no size'),
    withLine(bodyOf('9007199254740992'), 'limit_exceeded', 'size 2^53'),
    withLine(`${BODY}extension\n`, 'malformed', 'an extension line'),
    withLine(bodyOf(1, ROOT.subarray(1)), 'malformed', 'a root of 31 bytes'),
    withLine(BODY.replace(/=\n$/, '\n'), 'malformed', 'a root without its padding'),
    withLine(`\n${BODY}`, 'malformed', 'an empty origin'),
    bad('no blank line', 'malformed', BODY + logLine(LOG, BODY)),
    bad('no newline at the end', 'malformed', HONEST.trimEnd()),
    bad('a line after the signatures', 'malformed', `${HONEST}x\n`),
    bad('a hyphen in place of the dash', 'malformed', HONEST.replace('\u2014', '-')),
    bad('two spaces in a signature line', 'malformed', HONEST.replace('\u2014 ', '\u2014  ')),
    bad('a tab', 'malformed', HONEST.replace('\u2014 ', '\u2014\t')),
    bad('a signature that is no base64', 'malformed', note(BODY, `\u2014 ${ORIGIN} !!!!\n`)),
    bad('a signature line with a key id alone', 'malformed', note(BODY, signatureLine(LOG, Buffer.alloc(0)))),
    bad('101 signatures', 'limit_exceeded', note(BODY, ...many, logLine(LOG, BODY))),
  ]
}

function vkeyCases(): VectorCase[] {
  const typed = (type: number) =>
    base64(Buffer.concat([Buffer.of(type), Buffer.from(LOG.vkey.slice(-44), 'base64').subarray(1)]))
  const no = (name: string, code: ProtocolErrorCode, vkey: string) => refuses('vkey', name, code, { vkey })
  const [name, id] = [ORIGIN, hex(LOG.keyId)]
  return [
    accepts('vkey', 'a log key', { vkey: LOG.vkey }, { name: ORIGIN, type: 1, keyId: hex(LOG.keyId) }),
    accepts('vkey', 'a witness key', { vkey: ONE.vkey }, { name: ONE.name, type: 4, keyId: hex(ONE.keyId) }),
    no('another key id', 'malformed', `${name}+00000000+${typed(1)}`),
    no('a key id in upper case', 'malformed', `${name}+${id.toUpperCase()}+${typed(1)}`),
    no('an unknown type', 'alg_downgrade', `${name}+${id}+${typed(2)}`),
    no('no name', 'malformed', `+${id}+${typed(1)}`),
    no('a name with a space', 'malformed', `a b+${id}+${typed(1)}`),
    no('a key that is too short', 'malformed', `${name}+${id}+${base64(Buffer.alloc(32, 1))}`),
    no('a word too many', 'malformed', `${LOG.vkey}+x`),
  ]
}

export const makeCheckpointVectors = (): VectorFile => ({
  vectors: 'checkpoint',
  section: '5.3',
  comment:
    'C2SP signed notes, tlog-checkpoint and tlog-cosignature. The Ed25519 seed of a key is one byte 32 times (`seedByte`). verify: against pinned log keys and the witnesses of a policy.',
  cases: [...acceptedCases, ...refusedSignatures(), ...refusedForms(), ...vkeyCases()],
})

const W = [ONE, TWO, THREE].map((key, i) => `witness w${i + 1} ${key.vkey}\n`).join('')
const NOW = (TIME + 3600) * 1000

const parses = (name: string, policy: string, result: object): VectorCase => accepts('parse', name, { policy }, result)
const noPolicy = (name: string, policy: string, code: ProtocolErrorCode = 'malformed'): VectorCase =>
  refuses('parse', name, code, { policy })

const NAMED = { logs: [], witnesses: ['w1', 'w2', 'w3'], asks: true }

const parseCases: readonly VectorCase[] = [
  parses('nobody is asked', 'quorum none\n', { logs: [], witnesses: [], asks: false }),
  parses('one witness', `witness w1 ${ONE.vkey}\nquorum w1\n`, { logs: [], witnesses: ['w1'], asks: true }),
  parses('a group', `${W}group g 2 w1 w2 w3\nquorum g\n`, NAMED),
  parses('a group of groups', `${W}group g any w1 w2\ngroup h all g w3\nquorum h\n`, NAMED),
  parses(
    'a log, a URL, comments, tabs and blank lines',
    `# text\n\nlog ${LOG.vkey}\thttps://log.test/\n${W}quorum w2\n`,
    {
      logs: [LOG.vkey],
      witnesses: ['w1', 'w2', 'w3'],
      asks: true,
    },
  ),
  noPolicy('nothing', ''),
  noPolicy('no quorum', W),
  noPolicy('two quorums', `${W}quorum w1\nquorum w2\n`),
  noPolicy('a quorum of an unknown name', `${W}quorum w4\n`),
  noPolicy('a quorum before its group', `${W}quorum g\ngroup g 1 w1\n`),
  noPolicy('an unknown line', `${W}threshold 2\nquorum w1\n`),
  noPolicy('a name twice', `${W}witness w1 ${noteKey('x', 4, 0x70).vkey}\nquorum w1\n`),
  noPolicy('the name none', `witness none ${ONE.vkey}\nquorum none\n`),
  noPolicy('one key under two names', `${W}witness w4 ${noteKey('other.test', 4, 0x61).vkey}\nquorum w1\n`),
  noPolicy('a member of two groups', `${W}group g 1 w1 w2\ngroup h 1 w1 g\nquorum h\n`),
  noPolicy('a group without members', `${W}group g 1\nquorum g\n`),
  noPolicy('a threshold of 0', `${W}group g 0 w1\nquorum g\n`),
  noPolicy('a threshold above the members', `${W}group g 2 w1\nquorum g\n`),
  noPolicy('a threshold in another form', `${W}group g 01 w1\nquorum g\n`),
  noPolicy('a log key as witness', `witness w1 ${LOG.vkey}\nquorum w1\n`),
  noPolicy('a witness key as log', `log ${ONE.vkey}\nquorum none\n`),
  noPolicy('no newline at the end', 'quorum none'),
  noPolicy('CRLF', 'quorum none\r\n'),
  noPolicy('a word too many', `${W}quorum w1 w2\n`),
  noPolicy(
    'a key of an unknown type',
    `witness w1 ${ONE.name}+00000000+${base64(Buffer.alloc(33, 9))}\nquorum w1\n`,
    'alg_downgrade',
  ),
]

function quorumCases(): VectorCase[] {
  const policy = `${W}group g 2 w1 w2 w3\nquorum g\n`
  const at = (...times: readonly (number | null)[]) =>
    [ONE, TWO, THREE].flatMap(({ vkey }, i) => {
      const timestamp = times[i] ?? null
      return timestamp === null ? [] : [{ vkey, timestamp }]
    })
  const input = { policy, now: NOW, maxStaleMs: 3_600_000 }
  const holds = (name: string, newest: number, ...times: readonly (number | null)[]) =>
    accepts('quorum', name, { ...input, cosignatures: at(...times) }, { witnessed: true, newestMs: newest * 1000 })
  const fails = (name: string, code: ProtocolErrorCode, ...times: readonly (number | null)[]) =>
    refuses('quorum', name, code, { ...input, cosignatures: at(...times) })
  const ahead = TIME + 3600 + 601
  return [
    holds('two of three', TIME, TIME, TIME + 5),
    holds('three of three: the second newest counts', TIME + 7, TIME + 9, TIME, TIME + 7),
    holds('exactly as old as allowed', TIME, TIME, TIME),
    holds('ten minutes ahead', ahead - 1, ahead - 1, ahead - 1),
    fails('one of three', 'witness_quorum', TIME + 5),
    fails('none', 'witness_quorum'),
    fails('a second too old', 'stale_view', TIME - 1, TIME),
    fails('one fresh, one old', 'stale_view', TIME + 3600, TIME - 86_400),
    fails('more than ten minutes ahead shows no freshness', 'stale_view', ahead, ahead),
    accepts('quorum', 'nobody is asked', { ...input, policy: 'quorum none\n', cosignatures: [] }, { witnessed: false }),
    refuses('quorum', 'one witness who signed twice', 'witness_quorum', {
      ...input,
      cosignatures: [...at(TIME), ...at(TIME + 1)],
    }),
  ]
}

export const makeWitnessPolicy = (): VectorFile => ({
  vectors: 'witness-policy',
  section: '5.5',
  comment:
    'C2SP tlog-policy. quorum: cosignatures that were verified already, with their times in seconds; now and maxStaleMs are in milliseconds.',
  cases: [...parseCases, ...quorumCases()],
})
