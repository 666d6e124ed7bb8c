import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64 } from '../../src/encoding/base64.ts'
import { concat, utf8 } from '../../src/encoding/bytes.ts'
import {
  addNoteSignatures,
  hasControlCharacter,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  parseNote,
  parseVkey,
  serialiseNote,
  signNote,
  verifyNote,
} from '../../src/log/note.ts'
import { signerOf } from './keys.ts'
import { refusal } from './refusal.ts'

// Section 5.3, C2SP signed notes. Seen red: split at the first blank line, a known key found by its id alone, bad signatures
// skipped instead of refused, a key id without its newline, the key id of a vkey not compared, each `ensure` switched off
// alone.

const TEXT = 'Nel mezzo del cammin di nostra vita\n\nmi ritrovai per una selva oscura\n'
const signer = await signerOf(0x51)
const stranger = await signerOf(0x52)
const key = makeVerifierKey('example.com/poem', NOTE_SIGNATURE, signer.publicKey)
const strange = makeVerifierKey('example.com/poem', NOTE_SIGNATURE, stranger.publicKey)
const note = await signNote(TEXT, key.name, signer)
const line = `\u2014 x ${toBase64(new Uint8Array(68))}\n`

describe('verifier keys', () => {
  it('are written and read back as one text', () => {
    expect(key.vkey).toMatch(/^example\.com\/poem\+[0-9a-f]{8}\+AQ?[A-Za-z0-9+/]+$/)
    expect(parseVkey(key.vkey)).toEqual(key)
    const cosigner = makeVerifierKey('w', NOTE_COSIGNATURE, signer.publicKey)
    expect(parseVkey(cosigner.vkey)).toEqual(cosigner)
  })

  it('have the id of the published vector', async () => {
    const { publicKey } = await signerOf(0x44)
    const { vkey } = makeVerifierKey('log.example.test/o/1', NOTE_SIGNATURE, publicKey)
    expect(vkey).toBe('log.example.test/o/1+b67723a3+AddZeTu8E6KBmoJ8dq22+6ikmu4Af0ny0JktmbglrSxI')
  })

  it('have an id that differs by name, by type and by key', () => {
    const ids = [
      key,
      strange,
      makeVerifierKey('b', NOTE_SIGNATURE, signer.publicKey),
      makeVerifierKey('b', NOTE_COSIGNATURE, signer.publicKey),
    ]
    expect(new Set(ids.map(({ keyId }) => toBase64(keyId))).size).toBe(4)
  })

  it('are refused in any other form', async () => {
    const [name = '', id = '', ...rest] = key.vkey.split('+')
    const encoded = rest.join('+')
    const bad = [
      '',
      name,
      `${name}+${id}`,
      `+${id}+${encoded}`,
      `${name} +${id}+${encoded}`,
      `a\u0085b+${id}+${encoded}`,
      `${name}+${id.toUpperCase()}x+${encoded}`,
      `${name}+${id === '00000000' ? '00000001' : '00000000'}+${encoded}`,
      `other+${id}+${encoded}`,
      `${key.vkey}=`,
      `${key.vkey}\n`,
      ` ${key.vkey}`,
      `${name}+${id}+${encoded.slice(0, -4)}`,
      `${name}+${id}+${encoded}AAAA`,
    ]
    for (const vkey of bad) expect(await refusal(() => parseVkey(vkey)), vkey).toBe('malformed')
  })

  it('of another algorithm are refused as a downgrade', async () => {
    const typed = concat(Uint8Array.of(2), signer.publicKey)
    expect(await refusal(() => parseVkey(`a+00000000+${toBase64(typed)}`))).toBe('alg_downgrade')
  })

  it('are refused with a name that is empty, has a space, a plus or a control character, or a key that is not 32 bytes', async () => {
    for (const name of [
      '',
      'a b',
      'a+b',
      'a\u00a0b',
      'a\u2003b',
      'a\u0085b',
      'a\tb',
      'a\nb',
      'a\u0000b',
      'a\u007fb',
      '\ud800',
      'a'.repeat(257),
    ]) {
      expect(await refusal(() => makeVerifierKey(name, NOTE_SIGNATURE, signer.publicKey)), JSON.stringify(name)).toBe(
        'malformed',
      )
    }
    expect(await refusal(() => makeVerifierKey('a', NOTE_SIGNATURE, new Uint8Array(31)))).toBe('malformed')
  })
})

describe('the form of notes', () => {
  it('keeps blank lines of the text: the last one parts it from the signatures', () => {
    expect(parseNote(note)).toMatchObject({ text: TEXT, signatures: [{ name: key.name, keyId: key.keyId }] })
    expect(serialiseNote(parseNote(note))).toBe(note)
  })

  it('is the same after parsing and writing, for any text', async () => {
    const text = fc.string({ unit: 'grapheme' }).filter((line) => !hasControlCharacter(line, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), async (lines) => {
        const body = `${lines.join('\n')}\n`
        if (body.startsWith('\n')) return
        const signed = await signNote(body, key.name, signer)
        expect((await verifyNote(signed, [key])).text).toBe(body)
      }),
      { numRuns: 50 },
    )
  })

  it('is refused without text, without signatures, without the last newline, and with a carriage return or control character', async () => {
    const bad = [
      '',
      '\n',
      '\n\n',
      TEXT,
      `\n${line}`,
      `\n\n${line}`,
      `a\n${line}`,
      'a\n\n',
      'a\n\n\n',
      `a\n\n${line.slice(0, -1)}`,
      `a\n\n${line}\n`,
      `a\r\n\n${line}`,
      `a\n\r\n${line}`,
      `a\t\n\n${line}`,
      `a\u0000\n\n${line}`,
      `a\u007f\n\n${line}`,
      `\ud800\n\n${line}`,
    ]
    for (const candidate of bad)
      expect(await refusal(() => parseNote(candidate)), JSON.stringify(candidate)).toBe('malformed')
  })

  it('is refused with a signature line of any other form, even by an unknown key', async () => {
    const blob = toBase64(new Uint8Array(68))
    const bad = [
      `- x ${blob}`,
      `\u2014x ${blob}`,
      `\u2014 ${blob}`,
      `\u2014  x ${blob}`,
      `\u2014 x  ${blob}`,
      `\u2014 x ${blob} `,
      `\u2014 x ${blob.slice(0, -1)}`,
      `\u2014 x+y ${blob}`,
      `\u2014 x\u2003y ${blob}`,
      `\u2014 x AAAAAA==`,
      `\u2014 x`,
      'hello',
    ]
    for (const candidate of bad)
      expect(await refusal(() => parseNote(`a\n\n${candidate}\n`)), candidate).toBe('malformed')
    expect(await refusal(() => parseNote(`a\n\n${line}`))).toBe('accepted')
  })

  it('is limited to 64 KiB of UTF-8 and 100 signatures', async () => {
    expect(await refusal(() => parseNote(`a\n\n${line.repeat(100)}`))).toBe('accepted')
    expect(await refusal(() => parseNote(`a\n\n${line.repeat(101)}`))).toBe('limit_exceeded')
    const room = 65_536 - utf8(`\n\n${line}`).length
    expect(await refusal(() => parseNote(`${'a'.repeat(room)}\n\n${line}`))).toBe('accepted')
    expect(await refusal(() => parseNote(`${'a'.repeat(room + 1)}\n\n${line}`))).toBe('limit_exceeded')
    expect(await refusal(() => parseNote(`${'é'.repeat(room - 10)}\n\n${line}`))).toBe('limit_exceeded')
  })
})

describe('signatures on notes', () => {
  it('verify for the known key, and others are ignored', async () => {
    const both = addNoteSignatures(note, parseNote(await signNote(TEXT, strange.name, stranger)).signatures)
    expect((await verifyNote(both, [key])).signers).toEqual([key])
    expect((await verifyNote(both, [strange])).signers).toEqual([strange])
    expect((await verifyNote(both, [key, strange])).signers).toEqual([key, strange])
  })

  it('by unknown keys only refuse the note, also if they share the name or the id with a known one', async () => {
    expect(await refusal(() => verifyNote(note, []))).toBe('unknown_signer')
    expect(await refusal(() => verifyNote(note, [strange]))).toBe('unknown_signer')
    const { text, signatures } = parseNote(note)
    const renamed = serialiseNote({ text, signatures: signatures.map((one) => ({ ...one, name: 'other' })) })
    expect(await refusal(() => verifyNote(renamed, [key]))).toBe('unknown_signer')
  })

  it('that fail for a known key refuse the note, even beside one that holds', async () => {
    expect(await refusal(() => verifyNote(note.replace('selva', 'salva'), [key]))).toBe('bad_signature')
    const bad = { name: strange.name, keyId: strange.keyId, signature: new Uint8Array(64) }
    expect(await refusal(() => verifyNote(addNoteSignatures(note, [bad]), [key, strange]))).toBe('bad_signature')
    expect(await refusal(() => verifyNote(addNoteSignatures(note, [bad]), [key]))).toBe('accepted')
    const short = { ...bad, signature: new Uint8Array(63) }
    expect(await refusal(() => verifyNote(addNoteSignatures(note, [short]), [key, strange]))).toBe('bad_signature')
  })

  it('replace an older one by the same name and key when added', async () => {
    const added = addNoteSignatures(note, parseNote(note).signatures)
    expect(added).toBe(note)
    expect(
      await refusal(() => addNoteSignatures(note, [{ name: 'a b', keyId: key.keyId, signature: new Uint8Array(64) }])),
    ).toBe('malformed')
  })

  it('are not made on a text that would be read differently', async () => {
    expect(await refusal(() => signNote('no newline', key.name, signer))).toBe('malformed')
    expect(await refusal(() => signNote('', key.name, signer))).toBe('malformed')
    // Its last line would be taken for a signature, and the text for shorter than what was signed.
    expect(await refusal(() => signNote(`a\n\n${line.slice(0, -1)}`, key.name, signer))).toBe('malformed')
    expect(await refusal(() => signNote('a\r\n', key.name, signer))).toBe('malformed')
  })
})
