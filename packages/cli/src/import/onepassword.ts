import { isUtf8 } from 'node:buffer'
import type { NewField } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import {
  EMPTY,
  type Found,
  type FoundFile,
  type FoundItem,
  fieldFrom,
  fileFrom,
  type LeftOut,
  nameFrom,
  websiteFrom,
} from './source.ts'

// 1Password's .1pux: a ZIP with `export.data`, which is JSON, and files beside it.

type Value = Readonly<Record<string, unknown>>
/** A file, which is in the ZIP under `files/` by its id and name. */
interface Document {
  readonly fileName?: string
  readonly documentId?: string
}
interface Section {
  readonly fields?: readonly { readonly title?: string; readonly id?: string; readonly value?: Value }[]
}
interface OnePasswordItem {
  readonly state?: string
  readonly overview?: {
    readonly title?: string
    readonly url?: string
    readonly urls?: readonly { readonly url?: string }[] | null
    readonly tags?: readonly string[] | null
  }
  readonly details?: {
    readonly loginFields?: readonly { readonly designation?: string; readonly name?: string; readonly value?: string }[]
    readonly notesPlain?: string
    readonly password?: string
    readonly sections?: readonly Section[]
    readonly passwordHistory?: readonly unknown[] | null
    readonly documentAttributes?: Document | null
  }
}
interface Export {
  readonly accounts?: readonly {
    readonly vaults?: readonly {
      readonly attrs?: { readonly name?: string }
      readonly items?: readonly OnePasswordItem[]
    }[]
  }[]
}

/** A value is a record with one member that names its kind. */
function textOf(value: Value | undefined): string | undefined {
  const [[kind, content] = []] = Object.entries(value ?? {})
  if (typeof content === 'string') return content
  if (typeof content === 'number')
    return kind === 'date' ? new Date(content * 1000).toISOString().slice(0, 10) : String(content)
  if (kind === 'email') return (content as { email_address?: string }).email_address
  if (kind === 'sshKey') return (content as { privateKey?: string }).privateKey
  return content === undefined || content === null ? undefined : JSON.stringify(content)
}

function fieldsOf({ details = {}, overview = {} }: OnePasswordItem): readonly NewField[] {
  const { loginFields = [], notesPlain, password, sections = [] } = details
  return [
    ...loginFields.flatMap(({ designation, name, value }) => fieldFrom(designation || name || 'field', value)),
    ...fieldFrom('password', password),
    ...sections.flatMap(({ fields = [] }) =>
      fields
        .filter(({ value }) => !documentIn(value))
        .flatMap(({ title, id, value }) => fieldFrom(nameFrom(title, id ?? 'field'), textOf(value))),
    ),
    ...fieldFrom('notes', notesPlain),
    ...fieldFrom('tags', overview.tags?.join(', ')),
  ]
}

const documentIn = (value: Value | undefined): Document | undefined => value?.file as Document | undefined

const documentsOf = ({ details = {} }: OnePasswordItem): readonly Document[] => [
  ...(details.documentAttributes ? [details.documentAttributes] : []),
  ...(details.sections ?? []).flatMap(({ fields = [] }) => fields.flatMap(({ value }) => documentIn(value) ?? [])),
]

interface Opened {
  readonly accounts: NonNullable<Export['accounts']>
  fileOf(document: Document): FoundFile | undefined
}

const AGAIN = 'export again in the desktop app: File, Export, 1PUX'

async function open(bytes: Uint8Array): Promise<Opened> {
  const { unzipSync } = await import('fflate')
  try {
    const { 'export.data': data, ...files } = unzipSync(bytes)
    if (data) {
      if (!isUtf8(data)) throw new CliError('import_unreadable', 'export.data in it is not UTF-8', { fix: AGAIN })
      const { accounts = [] } = JSON.parse(Buffer.from(data).toString('utf8')) as Export
      return { accounts, fileOf: (document) => fileIn(files, document) }
    }
  } catch (error) {
    if (error instanceof CliError) throw error
  }
  throw new CliError('import_unreadable', 'this is not a .1pux export of 1Password', { fix: AGAIN })
}

function fileIn(
  files: Readonly<Record<string, Uint8Array>>,
  { fileName, documentId }: Document,
): FoundFile | undefined {
  const [, content] = Object.entries(files).find(([path]) => path.startsWith(`files/${documentId}__`)) ?? []
  return content && fileFrom(fileName ?? 'file', content)
}

/** An item, and what of it has no place here. */
function taken(
  item: OnePasswordItem,
  fileOf: Opened['fileOf'],
): Omit<FoundItem, 'from'> & { readonly without: string[] } {
  const { overview = {}, details = {} } = item
  const { fields: others, ...website } = websiteFrom([overview.url, ...(overview.urls ?? []).map(({ url }) => url)])
  const documents = documentsOf(item).map((document) => [document, fileOf(document)] as const)
  return {
    name: nameFrom(overview.title, 'without a name'),
    ...website,
    fields: [...fieldsOf(item), ...others],
    files: documents.flatMap(([, file]) => file ?? []),
    without: [
      ...documents.flatMap(([{ fileName }, file]) =>
        file ? [] : [`its file ${fileName}, which is not in the export`],
      ),
      ...(details.passwordHistory?.length ? ['its earlier passwords'] : []),
    ],
  }
}

export async function readOnePassword(bytes: Uint8Array): Promise<Found> {
  const { accounts, fileOf } = await open(bytes)
  const items: FoundItem[] = []
  const leftOut: LeftOut[] = []
  for (const { attrs, items: held = [] } of accounts.flatMap(({ vaults = [] }) => vaults))
    for (const one of held) {
      const { without, ...item } = taken(one, fileOf)
      const { name, fields, files = [] } = item
      if (one.state === 'archived') leftOut.push({ name, reason: 'archived' })
      else {
        leftOut.push(...without.map((reason) => ({ name, reason })))
        if (fields.length + files.length > 0) items.push({ from: nameFrom(attrs?.name, '1Password'), ...item })
        else if (without.length === 0) leftOut.push({ name, reason: EMPTY })
      }
    }
  return { items, leftOut }
}
