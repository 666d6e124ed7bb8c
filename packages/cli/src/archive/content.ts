import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Attachment, Strongroom } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { shownPlace } from '../files/place.ts'
import type { Found, FoundFile } from '../import/source.ts'
import { type OpenedArchive, openArchive, unpacked } from './sealed-archive.ts'

// What an archive holds: vaults with their items, values and attachments, nothing of keys or access. Its content is the length of the
// list (four bytes), the list as gzipped JSON, and then every attachment one after the other, in the order of the list.

interface ArchivedFile {
  readonly name: string
  readonly mediaType: string
  readonly size: number
}

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
    /** Absent in an archive of before. */
    readonly files?: readonly ArchivedFile[]
  }[]
}

const FORMATS = ['strongroom-export-1', 'strongroom-export-2'] as const

export interface ArchiveContent {
  readonly format: (typeof FORMATS)[number]
  readonly exportedAt: string
  readonly vaults: readonly ArchivedVault[]
}

interface Reading {
  readonly signal: AbortSignal
  onProgress(done: number, total: number, vault: string): void
}

export interface WholeVault {
  readonly vaultId: string
  readonly vault: ArchivedVault
  /** In the order of the items, with where each of them is. */
  readonly attachments: readonly (Attachment & { readonly place: string })[]
}

/** Every value of a vault, each verified before it was opened, and what is attached. */
export async function readVaultWhole(
  strongroom: Strongroom,
  vault: string,
  { signal, onProgress }: Reading,
): Promise<WholeVault> {
  const { name, classification, vaultId } = await strongroom.vaults.get(vault, { signal })
  const listed = await strongroom.items.list(vaultId, { signal })
  const items: ArchivedVault['items'][number][] = []
  const attachments: WholeVault['attachments'][number][] = []
  for (const { itemId } of listed) {
    const item = await strongroom.items.get(vaultId, itemId, { signal })
    const files = await strongroom.attachments.list(vaultId, itemId, { signal })
    items.push({
      name: item.name,
      website: item.website,
      fields: item.fields.map(({ label, isEnvironmentVariable, secret }) => ({
        label,
        isEnvironmentVariable,
        value: Buffer.from(secret.bytes()).toString('base64'),
      })),
      files: files.map(({ name: file, mediaType, size }) => ({ name: file, mediaType, size })),
    })
    for (const file of files)
      attachments.push({ ...file, place: shownPlace({ vault: name, item: item.name, name: file.name }) })
    onProgress(items.length, listed.length, name)
  }
  return { vaultId, vault: { name, classification, items }, attachments }
}

/** The content of an archive, as it is fetched. Ends in an error where an attachment is not what was listed a moment ago. */
export async function* contentOf(
  strongroom: Strongroom,
  whole: readonly WholeVault[],
  exportedAt: string,
  { signal, onFile }: { readonly signal: AbortSignal; onFile(place: string): void },
): AsyncGenerator<Uint8Array, void, undefined> {
  const content: ArchiveContent = { format: 'strongroom-export-2', exportedAt, vaults: whole.map(({ vault }) => vault) }
  const list = gzipSync(JSON.stringify(content))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  yield length
  yield list
  for (const { vaultId, attachments } of whole)
    for (const { assetId, size, place } of attachments) {
      onFile(place)
      const { stream } = await strongroom.attachments.download(vaultId, assetId, { signal })
      let got = 0
      for await (const chunk of stream) {
        got += chunk.length
        yield chunk
      }
      if (got !== size)
        throw new CliError('changed_meanwhile', `${place} was changed while it was read`, { fix: 'export again' })
    }
}

const isContent = (content: unknown): content is ArchiveContent =>
  typeof content === 'object' && content !== null && FORMATS.includes((content as ArchiveContent).format)

async function listIn(archive: OpenedArchive, isFormer: boolean): Promise<{ content: ArchiveContent; end: number }> {
  const part = async (from: number, size: number): Promise<Buffer> => {
    const parts: Uint8Array[] = []
    for await (const one of archive.read(from, size)) parts.push(one)
    return Buffer.concat(parts)
  }
  const from = isFormer ? 0 : 4
  const size = isFormer ? archive.size : (await part(0, Math.min(4, archive.size))).readUInt32BE()
  if (from + size > archive.size) throw new CliError('import_unreadable', 'the archive is shorter than its list says')
  const content = unpacked(await part(from, size))
  if (!isContent(content)) throw new CliError('import_unreadable', 'the archive is of another version')
  return { content, end: from + size }
}

/** Where a file begins, with its hash: whatever is in the archive was read to its end before anything of it is used. */
async function fileAt(archive: OpenedArchive, { name, mediaType, size }: ArchivedFile, at: number): Promise<FoundFile> {
  if (!Number.isSafeInteger(size) || size < 0 || at + size > archive.size)
    throw new CliError('import_unreadable', 'the archive is shorter than its list says')
  const hash = createHash('sha256')
  for await (const part of archive.read(at, size)) hash.update(part)
  return { name, mediaType, size, sha256: hash.digest('hex'), open: () => archive.read(at, size) }
}

/** An archive as something to import. Its files are read from it as long as it is open. */
export async function itemsOfArchive(path: string, passphrase: string): Promise<Found> {
  const archive = await openArchive(path, passphrase)
  try {
    const { content, end } = await listIn(archive, archive.isFormer)
    const items: Found['items'][number][] = []
    let at = end
    for (const { name: from, items: own } of content.vaults)
      for (const { name, website, fields: held, files: listed = [] } of own) {
        const fields = held.map(({ value, ...field }) => ({
          ...field,
          value: new Uint8Array(Buffer.from(value, 'base64')),
        }))
        const files: FoundFile[] = []
        for (const file of listed) {
          files.push(await fileAt(archive, file, at))
          at += file.size
        }
        items.push({ from, name, website, fields, files })
      }
    if (at !== archive.size) throw new CliError('import_unreadable', 'the archive is not as long as its list says')
    return { items, leftOut: [], close: archive.close }
  } catch (error) {
    await archive.close()
    throw error
  }
}
