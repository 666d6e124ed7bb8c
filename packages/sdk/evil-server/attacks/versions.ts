import type { Document, ItemBody, VersionBody } from '../answers.ts'
import { type Attack, changing, ITEM, need, VERSION } from '../attack.ts'
import { rewrite } from '../forgery.ts'

// What an item was: rows 1, 2, 5 and 6 of docs/reference/protocol.md 10.

const asked = ({ former }: VersionBody): Document => need(former.at(-1), 'an item with an earlier version')

export const VERSION_ATTACKS: readonly Attack[] = [
  changing<VersionBody>(
    VERSION,
    [
      'P1',
      'version-with-values-of-another',
      'the values of an item now for those it had',
      'FIELD_BINDING',
      'field_swap',
    ],
    async (body, { asked: { params }, ask }) => {
      asked(body)
      const now = (await ask(`/vault/${params.vaultId}/items/${params.itemId}`)) as ItemBody
      body.values = now.values
    },
  ),
  changing<VersionBody>(
    VERSION,
    ['P2', 'version-of-another-item', 'another item for what an item was', 'DETAIL', 'detail_mismatch'],
    (body, { asked: { params }, recorded }) => {
      asked(body)
      const others = recorded(ITEM).map((one) => one.body as ItemBody)
      const other = need(
        others.find(({ row }) => row.itemId !== params.itemId),
        'an answer about another item',
      )
      body.former.splice(-1, 1, other.detail)
    },
  ),
  changing<VersionBody>(
    VERSION,
    ['P5', 'version-rewritten', 'another name for what an item was called', 'DETAIL', 'detail_mismatch'],
    (body) => rewrite(asked(body), { name: 'something else' }),
  ),
  changing<VersionBody>(
    VERSION,
    ['P6', 'version-newer-than-asked', 'the item as it is for what it was', 'DETAIL', 'detail_mismatch'],
    async (body, { asked: { params }, ask }) => {
      asked(body)
      body.former = []
      body.values = ((await ask(`/vault/${params.vaultId}/items/${params.itemId}`)) as ItemBody).values
    },
  ),
]
