import type { EnvironmentBody, ItemBody } from '../answers.ts'
import { type Answer, type Attack, CannotAttack, changing, ENV, ITEM, need, replacing } from '../attack.ts'
import { bytesIn, envelopeOf, flipped, foreign, PARTS, withNonceOf } from '../envelopes.ts'
import { olderThan, otherVault } from '../material.ts'

// Ciphertexts of values, rows 21 to 29.

type Field = EnvironmentBody['data'][number]
const fieldAt = ({ data }: EnvironmentBody, i = 0): Field => need(data[i], 'a vault with several environment fields')

/** Two fields of one item. */
function siblings({ data }: EnvironmentBody): readonly [Field, Field] {
  for (const one of data) {
    const other = data.find(({ row }) => row.itemId === one.row.itemId && row.fieldId !== one.row.fieldId)
    if (other) return [one, other]
  }
  throw new CannotAttack('an item with two environment fields')
}

/** Fields of two items. */
function strangers({ data }: EnvironmentBody): readonly [Field, Field] {
  const [one] = data
  const other = data.find(({ row }) => row.itemId !== one?.row.itemId)
  return [need(one, 'environment fields'), need(other, 'environment fields of two items')]
}

function swap(one: Field, other: Field): void {
  const { value } = one
  one.value = other.value
  other.value = value
}

const onField = (
  line: Parameters<typeof changing>[1],
  change: (value: string, body: EnvironmentBody) => string,
): Attack =>
  changing<EnvironmentBody>(ENV, line, (body) => {
    const field = fieldAt(body)
    field.value = change(field.value, body)
  })

/** The honest text with a member said twice: what a parser keeps is the last one. */
function saidTwice(answer: Answer): Answer {
  const [one, other] = siblings(answer.body as EnvironmentBody)
  const said = `"value":${JSON.stringify(one.value)}`
  const raw = JSON.stringify(answer.body).replace(said, `${said},"value":${JSON.stringify(other.value)}`)
  return { ...answer, raw }
}

const GIGABYTE = 1_073_741_824

export const ENVELOPE_ATTACKS: readonly Attack[] = [
  ...Object.entries(PARTS).map(([part, at]) =>
    onField(['21', `flipped-${part}`, `one bit of the ${part} of a value`, 'CIPHERTEXT_AUTH', 'field_swap'], (value) =>
      flipped(value, at),
    ),
  ),
  changing<ItemBody>(
    ITEM,
    ['21', 'flipped-in-item', 'one bit of a value of an item', 'CIPHERTEXT_AUTH', 'field_swap'],
    ({ values }) => {
      const [fieldId, value] = need(Object.entries(values)[0], 'an item with a field')
      values[fieldId] = flipped(value, PARTS.ciphertext)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['22', 'fields-swapped', 'the values of two fields of one item exchanged', 'FIELD_BINDING', 'field_swap'],
    (body) => swap(...siblings(body)),
  ),
  changing<ItemBody>(
    ITEM,
    ['22', 'fields-swapped-in-item', 'the same in the answer about the item', 'FIELD_BINDING', 'field_swap'],
    ({ values }) => {
      const [one, other] = Object.keys(values)
      const [a, b] = [need(one, 'fields'), need(other, 'an item with two fields')]
      Object.assign(values, { [a]: values[b], [b]: values[a] })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['23', 'items-swapped', 'the values of fields of two items exchanged', 'FIELD_BINDING', 'field_swap'],
    (body) => swap(...strangers(body)),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['23', 'value-of-other-vault', 'a value of another vault', 'FIELD_BINDING', 'field_swap'],
    (body, power) => {
      fieldAt(body).value = fieldAt(otherVault(body, power, ENV)).value
    },
  ),
  onField(
    ['23', 'value-of-other-tenant', 'a value under a key of another organisation', 'FIELD_BINDING', 'field_swap'],
    foreign,
  ),
  changing<EnvironmentBody>(
    ENV,
    ['24', 'older-value', 'an older value of the same field', 'FIELD_ROLLBACK', 'field_swap'],
    (body, power) => {
      const older = new Map(olderThan(body, power, ENV).data.map(({ row, value }) => [row.fieldId, value]))
      const changed = body.data.find(({ row, value }) => older.has(row.fieldId) && older.get(row.fieldId) !== value)
      const field = need(changed, 'an answer recorded before a value was changed (--record)')
      field.value = older.get(field.row.fieldId) ?? ''
    },
  ),
  ...['v1.', 'v2.', 'v4.', ''].map((prefix) =>
    onField(
      [
        '25',
        `envelope-${prefix.replace('.', '') || 'without-version'}`,
        `a value in an envelope that begins with ${JSON.stringify(prefix)}`,
        'ENVELOPE_VERSION',
        'alg_downgrade',
      ],
      (value) => prefix + value.slice(3),
    ),
  ),
  onField(['25', 'envelope-suite', 'a value under another suite', 'ENVELOPE_VERSION', 'alg_downgrade'], (value) => {
    const bytes = bytesIn(value)
    bytes[1] = 2
    return envelopeOf(bytes)
  }),
  onField(['26', 'envelope-truncated', 'a value cut off', 'ENVELOPE_FORMAT', 'malformed'], (value) =>
    envelopeOf(bytesIn(value).subarray(0, -5)),
  ),
  onField(['26', 'envelope-trailing', 'a value with bytes after it', 'ENVELOPE_FORMAT', 'malformed'], (value) =>
    envelopeOf(Buffer.concat([bytesIn(value), Buffer.alloc(7)])),
  ),
  replacing(ENV, ['26', 'member-twice', 'JSON that says a value twice', 'ENVELOPE_FORMAT', 'field_swap'], saidTwice),
  onField(
    ['27', 'plaintext', 'plain text where a ciphertext is due', 'PLAINTEXT_REFUSED', 'alg_downgrade'],
    () => 'hunter2',
  ),
  replacing(
    ENV,
    ['28', 'gigabyte-claimed', 'an answer that claims to have a gigabyte', 'LIMIT', 'limit_exceeded'],
    (answer) => ({ ...answer, headers: { ...answer.headers, 'content-length': String(GIGABYTE) }, isEndless: true }),
  ),
  onField(['28', 'value-too-long', 'a value longer than any may be', 'LIMIT', 'malformed'], () =>
    envelopeOf(Buffer.alloc(400_000, 3)),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['29', 'nonce-reused', 'the nonce of one field in another of the same item', 'NONCE_REUSE', 'field_swap'],
    (body) => {
      const [one, other] = siblings(body)
      other.value = withNonceOf(other.value, one.value)
    },
  ),
]
