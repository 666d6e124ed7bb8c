import { describe, expect, it } from 'vitest'
import { toBase64 } from '../../src/encoding/base64.ts'
import { concat, u64be, utf8 } from '../../src/encoding/bytes.ts'
import { cosign, makeCheckpoint, peekCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { leafHash } from '../../src/log/merkle.ts'
import {
  addNoteSignatures,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  parseNote,
  serialiseNote,
  signNote,
} from '../../src/log/note.ts'
import { signerOf } from './keys.ts'
import { refusal } from './refusal.ts'

// Section 5.3, C2SP checkpoints and cosignatures. Seen red: the origin not compared, a witness counted as the log, extension
// lines accepted, a cosignature over the bare note text, the halves of the time swapped, each `ensure` switched off alone.

const origin = 'log.example/5f1c'
const root = leafHash(utf8('leaf'))
const log = await signerOf(1)
const nextLog = await signerOf(2)
const witness = await signerOf(3)
const logKey = makeVerifierKey(origin, NOTE_SIGNATURE, log.publicKey)
const nextLogKey = makeVerifierKey(origin, NOTE_SIGNATURE, nextLog.publicKey)
const witnessKey = makeVerifierKey('w.example', NOTE_COSIGNATURE, witness.publicKey)
const trust = { origin, logKeys: [logKey.vkey], cosigners: { witnesses: [{ key: witnessKey }] } }
const note = await makeCheckpoint({ origin, size: 20_852_163, root }, log)
const NOW = 1_767_225_600

const cosigned = async (timestamp = NOW): Promise<string> =>
  addNoteSignatures(note, [await cosign(await verifyCheckpoint(note, trust), 'w.example', witness, timestamp)])

describe('a checkpoint', () => {
  it('has three lines, and is signed under the name of its origin', () => {
    expect(note.startsWith(`${origin}\n20852163\n${toBase64(root)}\n\n\u2014 ${origin} `)).toBe(true)
  })

  it('is accepted with its origin, size and root, whoever else signed it', async () => {
    const checkpoint = await verifyCheckpoint(note, trust)
    expect(checkpoint).toMatchObject({ origin, size: 20_852_163, root, note, logKeys: [logKey], cosignatures: [] })
    const crowd = addNoteSignatures(note, [
      { name: 'x', keyId: Uint8Array.of(1, 2, 3, 4), signature: new Uint8Array(2420) },
    ])
    expect(await verifyCheckpoint(crowd, trust)).toMatchObject({ size: 20_852_163, logKeys: [logKey] })
  })

  it('is accepted while the log changes its key, by either key or both', async () => {
    const next = await makeCheckpoint({ origin, size: 20_852_163, root }, nextLog)
    const both = addNoteSignatures(note, parseNote(next).signatures)
    const rotating = { origin, logKeys: [logKey.vkey, nextLogKey.vkey] }
    for (const signed of [note, next, both])
      expect(await refusal(() => verifyCheckpoint(signed, rotating))).toBe('accepted')
    expect((await verifyCheckpoint(both, rotating)).logKeys).toEqual([logKey, nextLogKey])
    expect(await refusal(() => verifyCheckpoint(next, trust))).toBe('log_key')
  })

  it('is refused without the signature of a pinned log key, even if a known witness signed', async () => {
    const { text, signatures } = parseNote(await cosigned())
    const witnessOnly = serialiseNote({ text, signatures: signatures.filter(({ name }) => name === 'w.example') })
    expect(await refusal(() => verifyCheckpoint(witnessOnly, trust))).toBe('log_key')
    expect(await refusal(() => verifyCheckpoint(note, { ...trust, logKeys: [] }))).toBe('log_key')
    expect(await refusal(() => verifyCheckpoint(note, { ...trust, logKeys: [nextLogKey.vkey] }))).toBe('log_key')
  })

  it('of another log is refused, even if the pinned key signed it', async () => {
    const text = `log.example/other\n1\n${toBase64(root)}\n`
    const foreign = await signNote(text, origin, log)
    expect(await refusal(() => verifyCheckpoint(foreign, trust))).toBe('log_key')
  })

  it('is refused under a pin that is not a signing key of this origin', async () => {
    const elsewhere = makeVerifierKey('log.example/other', NOTE_SIGNATURE, log.publicKey)
    expect(await refusal(() => verifyCheckpoint(note, { ...trust, logKeys: [logKey.vkey, elsewhere.vkey] }))).toBe(
      'log_key',
    )
    const timed = makeVerifierKey(origin, NOTE_COSIGNATURE, log.publicKey)
    expect(await refusal(() => verifyCheckpoint(note, { ...trust, logKeys: [logKey.vkey, timed.vkey] }))).toBe(
      'log_key',
    )
  })

  it('is refused if size or root were changed after signing', async () => {
    expect(await refusal(() => verifyCheckpoint(note.replace('20852163', '20852164'), trust))).toBe('bad_signature')
    const other = toBase64(leafHash(utf8('other')))
    expect(await refusal(() => verifyCheckpoint(note.replace(toBase64(root), other), trust))).toBe('bad_signature')
  })

  it('is refused in any other form, although the log signed it', async () => {
    const hash = toBase64(root)
    const bad = [
      `${origin}\n01\n${hash}\n`,
      `${origin}\n-1\n${hash}\n`,
      `${origin}\n+1\n${hash}\n`,
      `${origin}\n1.0\n${hash}\n`,
      `${origin}\n1e3\n${hash}\n`,
      `${origin}\n 1\n${hash}\n`,
      `${origin}\n\n${hash}\n`,
      `${origin}\n1\n${hash.slice(0, -1)}\n`,
      `${origin}\n1\n${hash.replace(/.=$/, 'B=')}\n`,
      `${origin}\n1\n${toBase64(root.subarray(1))}\n`,
      `${origin}\n1\n${hash}\nextension\n`,
      `${origin}\n1\n${hash}\n\n`,
      `${origin}\n1\n`,
      `\n${origin}\n1\n${hash}\n`,
    ]
    for (const text of bad) {
      const signed = await signNote(text, origin, log)
      expect(await refusal(() => verifyCheckpoint(signed, trust)), JSON.stringify(text)).toBe('malformed')
    }
    expect(await refusal(() => verifyCheckpoint(note.replaceAll('\n', '\r\n'), trust))).toBe('malformed')
  })

  it('counts up to 2^53-1 leaves', async () => {
    const most = await makeCheckpoint({ origin, size: 2 ** 53 - 1, root }, log)
    expect((await verifyCheckpoint(most, trust)).size).toBe(9_007_199_254_740_991)
    const more = await signNote(`${origin}\n9007199254740992\n${toBase64(root)}\n`, origin, log)
    expect(await refusal(() => peekCheckpoint(more))).toBe('limit_exceeded')
  })

  it('is not made with a size that is no count, a root that is no hash or an origin that is no name', async () => {
    for (const bad of [
      { origin, size: -1, root },
      { origin, size: 1.5, root },
      { origin, size: 2 ** 53, root },
    ]) {
      expect(await refusal(() => makeCheckpoint(bad, log))).toBe('malformed')
    }
    expect(await refusal(() => makeCheckpoint({ origin, size: 1, root: root.subarray(1) }, log))).toBe('malformed')
    for (const name of ['', 'a b', 'a+b', 'a\nb']) {
      expect(await refusal(() => makeCheckpoint({ origin: name, size: 1, root }, log))).toBe('malformed')
    }
  })
})

describe('a cosignature', () => {
  it('says which witness saw the checkpoint, and when', async () => {
    expect((await verifyCheckpoint(await cosigned(), trust)).cosignatures).toEqual([
      { key: witnessKey, timestamp: NOW },
    ])
    // Above 2^32 seconds, in the year 2106, the upper half of the eight bytes counts as well.
    expect((await verifyCheckpoint(await cosigned(2 ** 33 + 5), trust)).cosignatures).toEqual([
      { key: witnessKey, timestamp: 2 ** 33 + 5 },
    ])
  })

  it('is over the header, the time and the checkpoint, as C2SP has it', async () => {
    const { signature, keyId } = await cosign(await verifyCheckpoint(note, trust), 'w.example', witness, NOW)
    const message = utf8(`cosignature/v1\ntime ${NOW}\n${parseNote(note).text}`)
    expect(signature).toEqual(concat(u64be(NOW), await witness.sign(message)))
    expect(keyId).toEqual(witnessKey.keyId)
  })

  it('by a witness that is not of the policy is ignored', async () => {
    const { cosignatures } = await verifyCheckpoint(await cosigned(), { origin, logKeys: [logKey.vkey] })
    expect(cosignatures).toEqual([])
  })

  it('with another time, on another checkpoint, or without a time refuses the note', async () => {
    const { signatures, text } = parseNote(await cosigned())
    const own = signatures.find(({ name }) => name === 'w.example')
    const blob = own?.signature ?? new Uint8Array()
    const attempts = [
      concat(u64be(NOW + 1), blob.subarray(8)),
      concat(blob, Uint8Array.of(0)),
      blob.subarray(8),
      blob.subarray(0, 8),
      blob.subarray(0, 3),
      new Uint8Array(await witness.sign(utf8(text))),
      concat(u64be(NOW), new Uint8Array(await witness.sign(utf8(text)))),
    ]
    for (const signature of attempts) {
      const altered = addNoteSignatures(note, [
        { name: 'w.example', keyId: witnessKey.keyId, signature: concat(signature) },
      ])
      expect(await refusal(() => verifyCheckpoint(altered, trust))).toBe('bad_signature')
    }
    const other = await makeCheckpoint({ origin, size: 1, root }, log)
    const moved = addNoteSignatures(other, [{ name: 'w.example', keyId: witnessKey.keyId, signature: concat(blob) }])
    expect(await refusal(() => verifyCheckpoint(moved, trust))).toBe('bad_signature')
  })

  it('with a time beyond all clocks refuses the note, although the witness signed it', async () => {
    const message = utf8(`cosignature/v1\ntime ${2 ** 53}\n${parseNote(note).text}`)
    const time = concat(Uint8Array.of(0, 32), new Uint8Array(6))
    const signature = concat(time, new Uint8Array(await witness.sign(message)))
    const altered = addNoteSignatures(note, [{ name: 'w.example', keyId: witnessKey.keyId, signature }])
    expect(await refusal(() => verifyCheckpoint(altered, trust))).toBe('bad_signature')
  })

  it('takes the place of the older one when the witness cosigns again', async () => {
    const again = await cosign(await verifyCheckpoint(note, trust), 'w.example', witness, NOW + 60)
    const renewed = await verifyCheckpoint(addNoteSignatures(await cosigned(), [again]), trust)
    expect(renewed.cosignatures).toEqual([{ key: witnessKey, timestamp: NOW + 60 }])
  })
})
