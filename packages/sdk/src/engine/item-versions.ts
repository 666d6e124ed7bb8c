import {
  type Envelope,
  type FieldValue,
  type ItemDetailPayload,
  ProtocolError,
  type ProvenDetail,
  type VerifiedField,
  type VerifiedHead,
  verifyFormer,
  verifyWayBack,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless } from './answers.ts'
import { fieldNow } from './field-now.ts'
import type { FieldChange, ItemChange, NamedOptions, NewField, PlanContext } from './item-changes.ts'
import { checkItem, type ItemRead, type OpenField, openFields, readItem, valuesIn } from './items.ts'
import type { Receipt } from './receipt.ts'
import { readVerified, roundOf } from './verified.ts'
import { changeItems, type Written } from './write-items.ts'

// What an item was (docs/reference/protocol.md 6.6), and how it becomes that again.

export interface ItemVersion {
  readonly detail: ItemDetailPayload
  /** False where a key signed it that was found to be compromised since: nobody can tell who wrote it. */
  readonly isSound: boolean
}

export interface VersionsRead {
  readonly itemId: string
  /** The newest first: the current one, and those before it that the server still keeps. */
  readonly versions: readonly ItemVersion[]
  readonly receipt: Receipt
}

const formerIn = (answer: unknown): readonly Envelope[] =>
  listOf(membersOf(answer, 'answer').former, 'former') as readonly Envelope[]

/** Who wrote which version, and when, without values. */
export function listVersions(
  actor: Actor,
  vaultId: string,
  itemId: string,
  options: CallerOptions = {},
): Promise<VersionsRead> {
  return readVerified(
    actor,
    {
      vaultId,
      ask: (call) => actor.client.items.versions({ params: { vaultId, itemId } }, call),
      check: async (answer, pins) => {
        const { item, head, receipt } = await checkItem(actor, { vaultId, itemId }, answer, pins)
        const versions: ItemVersion[] = [{ detail: item.document.payload, isSound: true }]
        for (const proven of verifyWayBack(item, formerIn(answer)))
          versions.push({ detail: proven.payload, isSound: await isSound(head, proven) })
        return { rounds: [roundOf(head)], result: { itemId, versions, receipt } }
      },
    },
    options,
  )
}

async function isSound(head: VerifiedHead, proven: ProvenDetail): Promise<boolean> {
  try {
    await verifyFormer(head, proven)
    return true
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'signer_compromised') return false
    throw error
  }
}

interface SealedVersion {
  readonly detail: ItemDetailPayload
  readonly fields: readonly VerifiedField[]
  readonly values: ReadonlyMap<string, string>
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** One version with its values. Either every field opens or nothing is returned. */
export async function readVersion(
  actor: Actor,
  vaultId: string,
  itemId: string,
  itemVersion: number,
  options: CallerOptions = {},
): Promise<ItemRead> {
  const { detail, fields, values, head, receipt } = await readVerified<SealedVersion>(
    actor,
    {
      vaultId,
      ask: (call) => actor.client.items.version({ params: { vaultId, itemId, itemVersion } }, call),
      check: async (answer, pins) => {
        const { item, head, receipt } = await checkItem(actor, { vaultId, itemId }, answer, pins)
        const way = verifyWayBack(item, formerIn(answer))
        const isAsked = item.row.itemVersion - way.length === itemVersion
        refuseUnless(isAsked, 'detail_mismatch', 'the answer is about another version', { itemId, itemVersion })
        const [last] = way.slice(-1)
        const { document, fields } = last ? await verifyFormer(head, last) : item
        const result = {
          detail: document.payload,
          fields,
          values: valuesIn(answer, itemId, fields),
          head,
          receipt: { ...receipt, signer: document.payload.by },
        }
        return { rounds: [roundOf(head)], result }
      },
    },
    options,
  )
  const { name, website, status, assets } = detail
  const opened = await openFields(actor, head, fields, values, options)
  return { itemId, itemVersion, name, website, status, assets, fields: opened, head, receipt }
}

/** Writes what a version had as the next one; undefined where the item has it already. Attachments and the status stay. */
export async function restoreVersion(
  actor: Actor,
  vaultId: string,
  itemId: string,
  itemVersion: number,
  { check, ...options }: NamedOptions = {},
): Promise<Written | undefined> {
  const then = await readVersion(actor, vaultId, itemId, itemVersion, options)
  const now = await readItem(actor, vaultId, itemId, options)
  const change = changeTo(then, now)
  const named = check && then.name !== now.name && { check: (context: PlanContext) => check(context, then.name) }
  return change && changeItems(actor, vaultId, { edit: [change] }, { ...options, ...named })
}

const sameValue = (a: FieldValue, b: FieldValue): boolean =>
  a.type === b.type && a.value.length === b.value.length && a.value.every((byte, i) => byte === b.value[i])

const sameField = (a: OpenField, b: OpenField): boolean =>
  a.label === b.label && a.env === b.env && sameValue(a.value, b.value)

function changeTo(then: ItemRead, now: ItemRead): ItemChange | undefined {
  const add: NewField[] = []
  const edit: FieldChange[] = []
  const kept = new Set<string>()
  for (const field of then.fields) {
    const { label, env, value } = field
    const current = fieldNow(field, then.fields, now.fields)
    // A place that was given up is not used again: the field comes back under an id of its own.
    if (!current) add.push({ label, env, value })
    else if (!sameField(field, current)) edit.push({ fieldId: current.fieldId, label, env, value })
    if (current) kept.add(current.fieldId)
  }
  const remove = now.fields.map(({ fieldId }) => fieldId).filter((fieldId) => !kept.has(fieldId))
  const { name, website } = then
  const isNamedSo = name === now.name && website === now.website
  if (isNamedSo && add.length + edit.length + remove.length === 0) return undefined
  return { itemId: now.itemId, name, website, add, edit, remove }
}
