import { addSignatures, documentHash, type JsonObject, vaultName } from '@strongroom/protocol'
import { asDocument, asEnvelope, type EnvironmentBody, type ItemBody, type ItemsBody, stateIn } from '../answers.ts'
import { type Attack, changing, ENV, ITEM, ITEMS, type More, need, replacing } from '../attack.ts'
import { foreign } from '../envelopes.ts'
import { logFalsely } from '../log.ts'
import { olderThan } from '../material.ts'

// Signed heads and items, and the way round a route that is denied. Rows 40 to 44.

const refusal = (code: string): JsonObject => ({
  error: { code, message: 'there is no such route', requestId: 'evil' },
})
const missingRoute = { status: 404, body: refusal('route_not_found') }

const ROUND: More = { deed: 'fallback', also: { route: ENV, alter: (answer) => ({ ...answer, ...missingRoute }) } }

export const HEAD_ATTACKS: readonly Attack[] = [
  changing<EnvironmentBody>(
    ENV,
    ['40', 'head-unsigned', 'the head without its signature', 'CHECKPOINT_UNSIGNED', 'missing_signature'],
    ({ signed }) => {
      signed.head.signatures = []
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['40', 'detail-unsigned', 'an item without its signature', 'CHECKPOINT_UNSIGNED', 'missing_signature'],
    ({ detail }) => {
      detail.signatures = []
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['41', 'head-by-stranger', 'the head signed by somebody unknown', 'CHECKPOINT_SIGNER', 'unknown_signer'],
    async ({ signed }, power) => {
      const stranger = await power.keysAs('user:stranger')
      signed.head = asDocument(await addSignatures({ ...asEnvelope(signed.head), signatures: [] }, [stranger]))
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['41', 'detail-by-stranger', 'an item signed by somebody unknown', 'CHECKPOINT_SIGNER', 'unknown_signer'],
    async (body, power) => {
      const stranger = await power.keysAs('user:stranger')
      body.detail = asDocument(await addSignatures({ ...asEnvelope(body.detail), signatures: [] }, [stranger]))
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['42', 'detail-of-other-item', 'what another item says, with its values', 'CHECKPOINT_ITEM', 'detail_mismatch'],
    (body, power) => {
      const others = power.recorded(ITEM).map(({ body: other }) => other as ItemBody)
      const found = others.find(
        ({ row, signed }) => row.itemId !== body.row.itemId && signed.vaultId === body.signed.vaultId,
      )
      const { detail, values } = need(found, 'an answer recorded about another item (--record)')
      Object.assign(body, structuredClone({ detail, values }))
    },
  ),
  changing<ItemBody>(
    ITEM,
    ['42', 'other-item', 'another item altogether, with its own proof', 'CHECKPOINT_ITEM', 'item_swap'],
    (body, power) => {
      const others = power.recorded(ITEM).map(({ body: other }) => other as ItemBody)
      const found = others.findLast(
        ({ row, signed }) => row.itemId !== body.row.itemId && signed.head.payload === body.signed.head.payload,
      )
      const { row, proof, detail, values } = need(found, 'an answer recorded about another item (--record)')
      Object.assign(body, structuredClone({ row, proof, detail, values }))
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['43', 'older-head', 'an older head under the newest log', 'CHECKPOINT_ROLLBACK', 'head_mismatch'],
    (body, power) => {
      const { signed, data } = olderThan(body, power, ENV)
      body.signed.head = signed.head
      body.data = data
    },
    { second: true },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '43',
      'older-state-logged',
      'the vault set back to an older, authentic state by a leaf of the log',
      'CHECKPOINT_ROLLBACK',
      'vault_rollback',
    ],
    async (body, power) => {
      const { signed, data, wrappedKeys } = olderThan(body, power, ENV)
      const name = vaultName(body.signed.vaultId)
      const older = need(stateIn(signed.transparency, name), 'an older answer')
      const head = asEnvelope(signed.head)
      need(documentHash(head) !== documentHash(asEnvelope(body.signed.head)), 'an older head')
      const { acl, adminsChain } = signed
      Object.assign(body.signed, { head: signed.head, acl, adminsChain })
      Object.assign(body, { data, wrappedKeys })
      await logFalsely(power, body.signed.transparency, { docs: [head], states: { [name]: older } })
    },
    { second: true },
  ),
  replacing(
    ENV,
    [
      '44',
      'route-denied',
      'the server says that it has no such route; the way round must give the same',
      'FALLBACK_DIVERGED',
      'same',
    ],
    (answer) => ({ ...answer, ...missingRoute }),
  ),
  replacing(
    ITEM,
    [
      '44',
      'value-changed-on-the-way-round',
      'the same, and a value changed on the way round',
      'FALLBACK_DIVERGED',
      'field_swap',
    ],
    (answer) => {
      const { values } = answer.body as ItemBody
      const [fieldId, value] = need(Object.entries(values)[0], 'an item with a field')
      values[fieldId] = foreign(value)
      return answer
    },
    ROUND,
  ),
  replacing(
    ITEMS,
    [
      '44',
      'list-shortened-on-the-way-round',
      'the same, and a field left out of the list',
      'FALLBACK_DIVERGED',
      'env_mismatch',
    ],
    (answer) => {
      const body = answer.body as ItemsBody
      need(body.environment[0], 'a vault with environment fields')
      body.environment.shift()
      return answer
    },
    ROUND,
  ),
]
