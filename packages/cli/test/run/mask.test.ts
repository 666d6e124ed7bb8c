import { expect, it } from 'vitest'
import { maskersOf } from '../../src/run/mask.ts'
import { checkMasking } from './masking.ts'

// Catches: a value that is cut into chunks and slips through, in any form; bytes beside a value that are lost, doubled or changed; a
// prompt that is held back for ever; a beginning of a value that is shown before it is known what follows.

const CASES = 20_000

it(`leaks no value in any form, and harms no other byte, in ${CASES} random chunkings`, () => {
  const { failures, cases } = checkMasking({ seed: 20_261_115, cases: CASES })
  expect(failures).toEqual([])
  expect(cases).toBe(CASES)
})

const masker = (...values: readonly string[]) =>
  maskersOf(() => values.map((value, i) => [`S${i}`, Buffer.from(value)] as const))()
const shown = (bytes: Buffer): string => bytes.toString()

it('shows a prompt at once that could be no beginning of a value', () => {
  const { write } = masker('sk_live_0123456789')
  expect(shown(write(Buffer.from('Password: ')))).toBe('Password: ')
})

it('holds back what could be the beginning of a value, and shows it after a silence only if that gives nothing away', () => {
  const short = masker('key_0123456789abcdef')
  expect(shown(short.write(Buffer.from('go on? ke')))).toBe('go on? ')
  expect(shown(short.settle())).toBe('ke')
  expect(shown(short.settle())).toBe('')
  // What was shown is not shown again, and the rest of the value is masked.
  expect(shown(short.write(Buffer.from('y_0123456789abcdef!')))).toBe('‹S0›!')
  const long = masker('key_0123456789abcdef')
  expect(shown(long.write(Buffer.from('go on? key_')))).toBe('go on? ')
  expect(shown(long.settle())).toBe('')
  expect(shown(long.write(Buffer.from(' no')))).toBe('key_ no')
})

it('shows what it had shown early once only, when something else follows', () => {
  const { write, settle, end } = masker('key_0123456789abcdef')
  write(Buffer.from('ke'))
  expect(shown(settle())).toBe('ke')
  expect(shown(write(Buffer.from('ep'))) + shown(end())).toBe('ep')
})

it('masks the longer of two values that begin alike, and the whole of one that holds another', () => {
  const { write, end } = masker('abcdef', 'abcdefgh')
  expect(shown(write(Buffer.from('abcdefg')))).toBe('')
  expect(shown(write(Buffer.from('h abcdefx'))) + shown(end())).toBe('‹S1› ‹S0›x')
})

it('leaves alone what is too short to be a secret', () => {
  const { write, end } = masker('abc')
  expect(shown(write(Buffer.from('abcabc'))) + shown(end())).toBe('abcabc')
})

it('takes new values into account from the next byte on', () => {
  let values: readonly (readonly [string, Uint8Array])[] = [['OLD', Buffer.from('old-secret')]]
  const { write, end } = maskersOf(() => values)()
  expect(shown(write(Buffer.from('new-secret ')))).toBe('new-secret ')
  values = [...values, ['NEW', Buffer.from('new-secret')]]
  expect(shown(write(Buffer.from('new-secret old-secret'))) + shown(end())).toBe('‹NEW› ‹OLD›')
})
