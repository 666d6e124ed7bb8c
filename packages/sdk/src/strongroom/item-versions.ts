import * as engine from '../engine/item-versions.ts'
import type { ItemRead } from '../engine/items.ts'
import type { KeyedPlace } from './core.ts'
import { arrivingCheck, ensureOwnLabels } from './given-names.ts'
import { locate } from './item-reads.ts'
import type { ItemPlace, ItemVersion } from './items.ts'
import { ValidationError } from './public-errors.ts'

export async function versions(place: KeyedPlace, vault: string, item: string): Promise<readonly ItemVersion[]> {
  const { vaultId, itemId } = await locate(place, vault, item)
  const read = await engine.listVersions(place.actor, vaultId, itemId, place.options)
  return read.versions.map(({ detail, isSound }) => ({
    version: detail.itemVersion,
    name: detail.name,
    website: detail.website,
    status: detail.status,
    labels: detail.fields.map(({ label }) => label),
    at: new Date(detail.at),
    signerKeyId: detail.by,
    isReadable: isSound,
  }))
}

export async function version(place: KeyedPlace, vault: string, item: string, version: number): Promise<ItemRead> {
  const { vaultId, itemId } = await locate(place, vault, item)
  return engine.readVersion(place.actor, vaultId, itemId, version, place.options)
}

export async function restoreVersion(
  place: KeyedPlace,
  vault: string,
  item: string,
  version: number,
): Promise<ItemPlace> {
  const { vaultId, itemId } = await locate(place, vault, item)
  const more = { ...place.options, check: arrivingCheck(itemId), approve: ensureOwnLabels }
  const written = await engine.restoreVersion(place.actor, vaultId, itemId, version, more)
  if (!written)
    throw new ValidationError(
      {
        code: 'validation_failed',
        message: `the item is as it was in version ${version} already`,
        hint: 'Choose another version.',
      },
      422,
    )
  return { vaultId, itemId }
}
