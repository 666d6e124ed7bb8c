import { shellLine } from '@strongroom/contract'
import type { Attachment } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { nearest } from '../model/nearest.ts'
import { fieldOrItem, isField, typedPlace } from '../place/reference.ts'

// `vault/item/name` of a file. Names are for people: two files of an item may have the same, and then their ids tell them apart.

function placeIn(text: string): ReturnType<typeof fieldOrItem> | undefined {
  try {
    return fieldOrItem(text)
  } catch {
    return undefined
  }
}

export interface FilePlace {
  readonly vault: string
  readonly item: string
  readonly name: string | undefined
}

/** `fix` is the next step for who has written something else. */
export function filePlace(text: string, fix = 'such as prod/tls or prod/tls/server.pem'): FilePlace {
  const place = placeIn(text)
  if (!place) throw new CliError('usage', 'a file is in an item: vault/item, or vault/item/name', { fix })
  return { vault: place.vault, item: place.item, name: isField(place) ? place.field : undefined }
}

/** A place that names a file. */
export function wholePlace(text: string): FilePlace & { readonly name: string } {
  const { name, ...place } = filePlace(text)
  if (name !== undefined) return { ...place, name }
  throw new CliError('usage', 'a file is named by vault/item/name', { fix: 'such as prod/tls/server.pem' })
}

export const shownPlace = ({ vault, item, name }: FilePlace): string =>
  [vault, item, ...(name === undefined ? [] : [name])].join('/')

export async function filesOf(cli: Cli, { vault, item }: FilePlace): Promise<readonly Attachment[]> {
  const strongroom = await cli.strongroom()
  return strongroom.attachments.list(vault, item, { signal: cli.signal })
}

/** By name or id. */
export async function findFile(cli: Cli, place: FilePlace & { readonly name: string }): Promise<Attachment> {
  const all = await filesOf(cli, place)
  const found = all.filter(({ name, assetId }) => name === place.name || assetId === place.name)
  const [only] = found
  if (only && found.length === 1) return only
  if (found.length > 1)
    throw new CliError('ambiguous_name', `${found.length} files of ${place.item} have this name`, {
      fix: `use an id: ${found.map(({ assetId }) => assetId).join(', ')}`,
      details: { candidates: found.map(({ assetId }) => assetId) },
    })
  const near = nearest(
    place.name,
    all.map(({ name }) => name),
  )
  throw new CliError('file_not_found', `${place.vault}/${place.item} has no file ${place.name}`, {
    fix: near ? `did you mean ${near}?` : shellLine`strongroom file list ${typedPlace(place.vault, place.item)}`,
  })
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const

export function sizeOf(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 2 ** (10 * step)
  return `${step === 0 ? amount : amount.toFixed(1)} ${UNITS[step]}`
}

export const dataOf = ({ assetId, itemId, name, mediaType, size, version, signerKeyId }: Attachment) => ({
  assetId,
  itemId,
  name,
  mediaType,
  size,
  version,
  signerKeyId,
})
