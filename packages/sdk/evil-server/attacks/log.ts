import { randomBytes } from 'node:crypto'
import { appendLeaf, leafHash, makeCheckpoint, parseLeaf } from '@strongroom/protocol'
import { type EnvironmentBody, originOf, sizeOf, type Transparency } from '../answers.ts'
import { type Attack, changing, ENV, type More, need, type Power } from '../attack.ts'
import { base64, frontierBefore, growLog, signLog } from '../log.ts'
import { olderThan } from '../material.ts'

// The log, rows 45 to 53.

const onLog = (
  line: Parameters<typeof changing>[1],
  change: (transparency: Transparency, power: Power, body: EnvironmentBody) => unknown,
  more: More = {},
): Attack => changing<EnvironmentBody>(ENV, line, (body, power) => change(body.signed.transparency, power, body), more)

const hash = (): string => base64(randomBytes(32))
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))

/** The newest leaf with another time: a leaf like any other, that the log never had. */
function otherLeaf(leaf: string): Uint8Array {
  const text = Buffer.from(leaf, 'base64').toString()
  const { at } = parseLeaf(bytesOf(leaf))
  return new Uint8Array(Buffer.from(text.replace(`"at":${at}`, `"at":${at + 1}`)))
}

/** The log of the same size with another newest leaf. */
async function fork(transparency: Transparency, power: Power): Promise<void> {
  const leaf = otherLeaf(transparency.tip.leaf)
  const { root } = appendLeaf(frontierBefore(transparency), leafHash(leaf))
  transparency.checkpoint = await signLog(power, transparency.checkpoint, {
    size: sizeOf(transparency.checkpoint),
    root,
  })
  transparency.tip.leaf = base64(leaf)
}

/** A note without the signatures of others than the log. */
const withoutCosignatures = (note: string): string => {
  const [text = '', signatures = ''] = note.split('\n\n')
  const own = signatures.split('\n').filter((line) => line.startsWith(`\u2014 ${originOf(note)} `))
  return `${text}\n\n${own.join('\n')}\n`
}

export const LOG_ATTACKS: readonly Attack[] = [
  onLog(
    [
      '45',
      'proof-of-other-leaf',
      'an older leaf with its genuine proof as the newest one',
      'PROOF_UNBOUND',
      'bad_inclusion',
    ],
    (transparency, power, body) => {
      transparency.tip = olderThan(body, power, ENV).signed.transparency.tip
    },
  ),
  onLog(['46', 'proof-hash-added', 'a proof with a hash too many', 'PROOF_INVALID', 'bad_inclusion'], ({ tip }) =>
    tip.hashes.push(hash()),
  ),
  onLog(['46', 'proof-hash-missing', 'a proof with a hash too few', 'PROOF_INVALID', 'bad_inclusion'], ({ tip }) =>
    need(tip.hashes.pop(), 'a log with several leaves'),
  ),
  onLog(['46', 'proof-hash-short', 'a proof with a hash of 31 bytes', 'PROOF_INVALID', 'malformed'], ({ tip }) => {
    tip.hashes[0] = base64(randomBytes(31))
  }),
  onLog(
    ['46', 'map-proof-hash-missing', 'a state with a hash too few in its proof', 'PROOF_INVALID', 'bad_map_proof'],
    ({ map }) =>
      need(
        need(
          map.find(({ siblings }) => siblings.length > 0),
          'a map with several states',
        ).siblings.pop(),
        'a sibling',
      ),
  ),
  onLog(
    ['47', 'node-as-leaf', 'two hashes of the log shown as its newest leaf', 'PROOF_INVALID', 'bad_inclusion'],
    ({ tip }) => {
      const sibling = need(tip.hashes.shift(), 'a log with several leaves')
      tip.leaf = base64(Buffer.concat([Buffer.from(sibling, 'base64'), leafHash(bytesOf(tip.leaf))]))
    },
  ),
  onLog(['48', 'fork', 'another log of the same size, under the key of the log', 'LOG_FORK', 'log_fork'], fork, {
    second: true,
  }),
  onLog(
    ['49', 'shrunk', 'the log as it was before', 'LOG_SHRUNK', 'log_rollback'],
    (_, power, body) => Object.assign(body, olderThan(body, power, ENV)),
    { second: true },
  ),
  onLog(
    ['49', 'shrunk-by-one', 'a shorter log under the key of the log', 'LOG_SHRUNK', 'log_rollback'],
    async (transparency, power) => {
      const { size } = frontierBefore(transparency)
      transparency.checkpoint = await signLog(power, transparency.checkpoint, { size, root: randomBytes(32) })
    },
    { second: true },
  ),
  onLog(
    [
      '50',
      'consistency-withheld',
      'a longer log without a proof that it only grew',
      'LOG_INCONSISTENT',
      'missing_consistency',
    ],
    async (transparency, power) => {
      await growLog(power, transparency, otherLeaf(transparency.tip.leaf))
      delete transparency.consistency
    },
    { second: true },
  ),
  onLog(
    ['50', 'consistency-false', 'a longer log with a false proof that it only grew', 'LOG_INCONSISTENT', 'log_fork'],
    async (transparency, power) => {
      await growLog(power, transparency, otherLeaf(transparency.tip.leaf))
      const { hashes } = need(transparency.consistency, 'a client that has read before')
      hashes[0] = hash()
    },
    { second: true },
  ),
  onLog(
    ['51', 'frozen', 'the newest log as witnesses saw it long ago', 'LOG_STALE', 'stale_view'],
    (transparency, power, body) => {
      const size = sizeOf(transparency.checkpoint)
      const notes = power.recorded(ENV).map((one) => (one.body as EnvironmentBody).signed.transparency.checkpoint)
      const older = notes.find(
        (note) =>
          sizeOf(note) === size &&
          note !== transparency.checkpoint &&
          originOf(note) === originOf(transparency.checkpoint),
      )
      body.signed.transparency.checkpoint = need(older, 'an answer recorded before witnesses cosigned again (--record)')
    },
    { witnessed: true },
  ),
  onLog(
    ['52', 'log-key-changed', 'the checkpoint under another key', 'LOG_KEY', 'log_key'],
    async (transparency, power) => {
      const { checkpoint } = transparency
      const { publicKey, sign } = await strangerKey(power)
      const root = Buffer.from(checkpoint.split('\n')[2] ?? '', 'base64')
      transparency.checkpoint = await makeCheckpoint(
        { origin: originOf(checkpoint), size: sizeOf(checkpoint), root },
        { publicKey, sign },
      )
    },
  ),
  onLog(['52', 'log-renamed', 'the checkpoint of a log with another name', 'LOG_KEY', 'log_key'], (transparency) => {
    transparency.checkpoint = `${originOf(transparency.checkpoint)}0${transparency.checkpoint.slice(originOf(transparency.checkpoint).length)}`
  }),
  onLog(
    [
      '53',
      'cosignatures-withheld',
      'a checkpoint without the cosignatures that the client asks for',
      'LOG_WITNESS',
      'witness_quorum',
    ],
    (transparency) => {
      const bare = withoutCosignatures(transparency.checkpoint)
      need(bare !== transparency.checkpoint, 'a log that witnesses have cosigned')
      transparency.checkpoint = bare
    },
    { witnessed: true },
  ),
]

/** An Ed25519 key that signs notes and is nobody's. */
async function strangerKey(power: Power) {
  const { key, sign } = await power.keysAs('user:stranger')
  const spki = Buffer.from(key.bundle.sig, 'base64url')
  return { publicKey: new Uint8Array(spki.subarray(-32)), sign }
}
