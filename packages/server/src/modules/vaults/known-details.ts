import type { ItemBase } from '@strongroom/protocol'
import { makeRecent } from '../../db/recent.ts'

// The details of items that were written lately. A hash names exactly one detail, so what is kept under it is right for ever; which hash is
// current is said by the content of the vault.

const MAX_FIELDS = 50_000

const details = makeRecent<ItemBase>(MAX_FIELDS, ({ detail }) => detail.fields.length + 1)

export const knownDetail = (orgId: string, hash: string): ItemBase | undefined => details.get(`${orgId} ${hash}`)

export const keepDetail = (orgId: string, item: ItemBase): void => details.set(`${orgId} ${item.hash}`, item)
