import { type CheckedCommit, type Commit, documentHash, type Transition } from '@strongroom/protocol'
import type { GrownLog } from '../../log/append.ts'
import type { LockedLog } from '../../log/log-store.ts'
import { formerRows } from './former-store.ts'

// What a plain commit leaves, in the form that write_next_versions (migrations 0028 and 0067) takes.

export interface Logged {
  readonly applied: Transition
  readonly grown: GrownLog
  readonly note: string
  readonly at: number
}

const hex = (bytes: Uint8Array | undefined): string | null => (bytes ? Buffer.from(bytes).toString('hex') : null)

export const leafRows = ({ size }: LockedLog, { grown: { leaf, grown, nodes, mapRoot }, note, at }: Logged) => ({
  index: size,
  at,
  note,
  mapRoot,
  leaf: Buffer.from(leaf.bytes).toString('base64'),
  tree: grown.nodes.map(({ level, index, hash }) => [level, index, hex(hash)]),
  paths: nodes.map(({ path, hash, leaf }) => [path, hex(hash), hex(leaf?.key), hex(leaf?.value)]),
  frontier: grown.frontier.hashes.map((hash) => Buffer.from(hash).toString('base64')),
})

/** Only changed fields come with a value, and only they are written. */
export function itemRows({ items }: CheckedCommit, { docs, values }: Commit) {
  const details = new Map(docs.map((envelope) => [documentHash(envelope), envelope]))
  const all = items.flatMap(({ detail }) => detail.fields.map((field) => ({ ...field, itemId: detail.itemId })))
  return {
    ...formerRows({ items }),
    items: items.map(({ detail: { itemId, itemVersion, name, website, status, fields }, hash }) => ({
      itemId,
      itemVersion,
      name,
      website,
      status,
      fieldCount: fields.length,
      detailHash: hash,
      detail: details.get(hash),
    })),
    fieldIds: all.map(({ fieldId }) => fieldId),
    fields: all
      .filter(({ fieldId }) => Object.hasOwn(values, fieldId))
      .map((field) => ({ ...field, value: values[field.fieldId] })),
  }
}
