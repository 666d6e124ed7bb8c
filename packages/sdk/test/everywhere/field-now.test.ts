import { expect, it } from 'vitest'
import { fieldNow } from '../../src/engine/field-now.ts'

// Which field one of a former version is now; what restores a version and what shows one ask the same. Seen red: a label that goes
// before the id, and a field that was there then and is taken for another because of its new label.

const field = (fieldId: string, label: string) => ({ fieldId, label })

it('is the field itself, also under another label, and else the one that came back under its label', () => {
  const then = [field('a', 'URL'), field('b', 'pin')]
  const now = [field('c', 'URL'), field('a', 'ADDRESS'), field('d', 'pin')]
  expect(then.map((one) => fieldNow(one, then, now)?.fieldId)).toEqual(['a', 'd'])
})

it('is none where the label went to a field that was there before', () => {
  const then = [field('a', 'URL'), field('b', 'pin')]
  expect(fieldNow(field('a', 'URL'), then, [field('b', 'URL')])).toBeUndefined()
})
