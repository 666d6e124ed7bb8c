import type { JsonObject } from '@strongroom/protocol'
import type { EnvironmentBody, ItemBody, ItemsBody } from '../answers.ts'
import { type Attack, changing, ENV, ITEM, ITEMS, need, type Recorded } from '../attack.ts'
import { foreign } from '../envelopes.ts'
import { rewrite } from '../forgery.ts'

// What is not encrypted: labels, flags, names, lists. Rows 30 to 39.

const one = <T>(list: readonly T[], what = 'a vault with environment fields'): T => need(list[0], what)

const envRow = (
  line: Parameters<typeof changing>[1],
  change: (row: EnvironmentBody['data'][number]['row'], body: EnvironmentBody) => void,
): Attack => changing<EnvironmentBody>(ENV, line, (body) => change(one(body.data).row, body))
const itemRow = (line: Parameters<typeof changing>[1], change: (row: ItemsBody['data'][number]) => void): Attack =>
  changing<ItemsBody>(ITEMS, line, ({ data }) => change(one(data, 'a vault with items')))

const REFUSED_NAMES = {
  path: 'PATH',
  'ld-preload': 'LD_PRELOAD',
  'node-options': 'NODE_OPTIONS',
  newline: 'A\nB',
  equals: 'A=B',
} as const

/** The row of a field that an item has and the environment does not. */
const privateField = ({ data }: EnvironmentBody) => {
  const { row } = one(data)
  return { row: { ...row, fieldId: `${row.fieldId.slice(0, -4)}zzzz`, label: 'PLANTED' }, value: one(data).value }
}

export const METADATA_ATTACKS: readonly Attack[] = [
  envRow(['30', 'label-changed', 'the label of a field', 'CHECKPOINT_MISMATCH', 'env_mismatch'], (row) => {
    row.label = `${row.label}_2`
  }),
  changing<EnvironmentBody>(
    ENV,
    ['30', 'labels-exchanged', 'the labels of two fields', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    ({ data }) => {
      const [a, b] = [one(data).row, need(data[1], 'two environment fields').row]
      const { label } = a
      a.label = b.label
      b.label = label
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['30', 'label-changed-in-item', 'the label of a field in its item', 'CHECKPOINT_MISMATCH', 'bad_signature'],
    ({ detail }) => {
      const { fields } = JSON.parse(Buffer.from(detail.payload, 'base64').toString()) as { fields: JsonObject[] }
      rewrite(detail, { fields: fields.map((field) => ({ ...field, label: `${field.label}_2` })) })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['31', 'flag-removed', 'a field that is in the environment, left out of it', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    ({ data }) => {
      one(data)
      data.pop()
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['31', 'flag-set', 'a field that is not in the environment, put into it', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    (body) => {
      body.data.push(privateField(body))
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['31', 'flag-flipped-in-item', 'the flag of a field in its item', 'CHECKPOINT_MISMATCH', 'bad_signature'],
    ({ detail }) => {
      const { fields } = JSON.parse(Buffer.from(detail.payload, 'base64').toString()) as { fields: JsonObject[] }
      rewrite(detail, { fields: fields.map((field) => ({ ...field, env: field.env !== true })) })
    },
  ),
  itemRow(['32', 'website-changed', 'the website of an item', 'CHECKPOINT_MISMATCH', 'items_mismatch'], (row) => {
    row.website = 'https://evil.example'
  }),
  changing<ItemBody>(
    ITEM,
    [
      '32',
      'website-changed-in-item',
      'the website of an item in the answer about it',
      'CHECKPOINT_MISMATCH',
      'items_mismatch',
    ],
    ({ row }) => {
      row.website = 'https://evil.example'
    },
  ),
  itemRow(['33', 'name-changed', 'the name of an item', 'CHECKPOINT_MISMATCH', 'items_mismatch'], (row) => {
    row.name = `${row.name}!`
  }),
  changing<EnvironmentBody>(
    ENV,
    ['34', 'field-added', 'a field that nobody wrote', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    (body) => {
      const planted = privateField(body)
      body.data.push({ ...planted, value: foreign(planted.value) })
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['34', 'value-added-to-item', 'a value that the item does not name', 'CHECKPOINT_MISMATCH', 'field_swap'],
    ({ values }) => {
      values.fld_planted = one(Object.values(values), 'an item with a field')
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['35', 'field-dropped', 'a field left out', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    ({ data }) => {
      one(data)
      data.shift()
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['35', 'all-fields-dropped', 'every field left out', 'CHECKPOINT_MISMATCH', 'env_mismatch'],
    (body) => {
      one(body.data)
      body.data = []
    },
  ),
  changing<ItemsBody>(
    ITEMS,
    ['36', 'item-dropped', 'an item left out of the list', 'LIST_INCOMPLETE', 'items_mismatch'],
    ({ data }) => {
      one(data, 'a vault with items')
      data.shift()
    },
  ),
  changing<ItemsBody>(
    ITEMS,
    ['37', 'archived-as-live', 'an archived item shown as live', 'CHECKPOINT_STATE', 'items_mismatch'],
    ({ data }) => {
      const archived = need(
        data.find(({ status }) => status === 'archived'),
        'a vault with an archived item',
      )
      archived.status = 'active'
    },
  ),
  changing<ItemsBody>(
    ITEMS,
    [
      '38',
      'moved-item-back',
      'an item that was moved to another vault, in the list of the old one',
      'CHECKPOINT_SCOPE',
      'items_mismatch',
    ],
    (body, power) => {
      const older = power.recorded(ITEMS).map((recorded: Recorded) => recorded.body as ItemsBody)
      const known = new Set(body.data.map(({ itemId }) => itemId))
      const rows = older.filter(({ signed }) => signed.vaultId === body.signed.vaultId).flatMap(({ data }) => data)
      const gone = need(
        rows.find(({ itemId }) => !known.has(itemId)),
        'a list recorded before an item was moved away (--record)',
      )
      body.data.push(structuredClone(gone))
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['39', 'name-twice', 'two fields under one name', 'ENV_NAME_REFUSED', 'duplicate_label'],
    ({ data }) => {
      need(data[1], 'two environment fields').row.label = one(data).row.label
    },
  ),
  ...Object.entries(REFUSED_NAMES).map(([form, label]) =>
    envRow(
      [
        '39',
        `name-${form}`,
        `a field under the name ${JSON.stringify(label)}`,
        'ENV_NAME_REFUSED',
        form === 'newline' ? 'malformed' : 'env_mismatch',
      ],
      (row) => {
        row.label = label
      },
    ),
  ),
]
