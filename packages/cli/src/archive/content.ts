import type { Strongroom } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { shownPlace } from '../files/place.ts'
import type { Found } from '../import/source.ts'

// What an archive holds: vaults with their items and values, nothing of keys or access, and no attachments.

export interface ArchivedVault {
  readonly name: string
  readonly classification: string
  readonly items: readonly {
    readonly name: string
    readonly website: string
    /** Values in base64: they may be bytes. */
    readonly fields: readonly {
      readonly label: string
      readonly value: string
      readonly isEnvironmentVariable: boolean
    }[]
  }[]
}

export interface ArchiveContent {
  readonly format: 'strongroom-export-1'
  readonly exportedAt: string
  readonly vaults: readonly ArchivedVault[]
}

interface Reading {
  readonly signal: AbortSignal
  onProgress(done: number, total: number, vault: string): void
}

export interface WholeVault {
  readonly vault: ArchivedVault
  /** `vault/item/name` of each attachment: an archive has no place for them. */
  readonly attachments: readonly string[]
}

/** Every value of a vault, each verified before it was opened. */
export async function readVaultWhole(
  strongroom: Strongroom,
  vault: string,
  { signal, onProgress }: Reading,
): Promise<WholeVault> {
  const { name, classification, vaultId } = await strongroom.vaults.get(vault, { signal })
  const listed = await strongroom.items.list(vaultId, { signal })
  const items: ArchivedVault['items'][number][] = []
  const attachments: string[] = []
  for (const { itemId } of listed) {
    const item = await strongroom.items.get(vaultId, itemId, { signal })
    items.push({
      name: item.name,
      website: item.website,
      fields: item.fields.map(({ label, isEnvironmentVariable, secret }) => ({
        label,
        isEnvironmentVariable,
        value: Buffer.from(secret.bytes()).toString('base64'),
      })),
    })
    const files = await strongroom.attachments.list(vaultId, itemId, { signal })
    attachments.push(...files.map((file) => shownPlace({ vault: name, item: item.name, name: file.name })))
    onProgress(items.length, listed.length, name)
  }
  return { vault: { name, classification, items }, attachments }
}

const isContent = (content: unknown): content is ArchiveContent =>
  typeof content === 'object' && content !== null && (content as ArchiveContent).format === 'strongroom-export-1'

/** An archive as something to import. */
export function itemsOfArchive(content: unknown): Found {
  if (!isContent(content)) throw new CliError('import_unreadable', 'the archive is of another version')
  return {
    items: content.vaults.flatMap(({ name: from, items }) =>
      items.map(({ name, website, fields }) => ({
        from,
        name,
        website,
        fields: fields.map(({ value, ...field }) => ({
          ...field,
          value: new Uint8Array(Buffer.from(value, 'base64')),
        })),
      })),
    ),
    leftOut: [],
  }
}
