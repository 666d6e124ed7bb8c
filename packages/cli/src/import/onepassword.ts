import type { NewField } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { EMPTY, type Found, type FoundItem, fieldFrom, type LeftOut, nameFrom } from './source.ts'

// 1Password's .1pux: a ZIP with `export.data`, which is JSON, and files beside it.

type Value = Readonly<Record<string, unknown>>
interface Section {
  readonly fields?: readonly { readonly title?: string; readonly id?: string; readonly value?: Value }[]
}
interface OnePasswordItem {
  readonly state?: string
  readonly overview?: { readonly title?: string; readonly url?: string }
  readonly details?: {
    readonly loginFields?: readonly { readonly designation?: string; readonly name?: string; readonly value?: string }[]
    readonly notesPlain?: string
    readonly password?: string
    readonly sections?: readonly Section[]
    readonly documentAttributes?: { readonly fileName?: string }
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

function fieldsOf({ details = {} }: OnePasswordItem): readonly NewField[] {
  const { loginFields = [], notesPlain, password, sections = [] } = details
  return [
    ...loginFields.flatMap(({ designation, name, value }) => fieldFrom(designation || name || 'field', value)),
    ...fieldFrom('password', password),
    ...sections.flatMap(({ fields = [] }) =>
      fields.flatMap(({ title, id, value }) => fieldFrom(nameFrom(title, id ?? 'field'), textOf(value))),
    ),
    ...fieldFrom('notes', notesPlain),
  ]
}

async function readExport(bytes: Uint8Array): Promise<Export> {
  const { unzipSync, strFromU8 } = await import('fflate')
  try {
    const { 'export.data': data } = unzipSync(bytes, { filter: ({ name }) => name === 'export.data' })
    if (data) return JSON.parse(strFromU8(data)) as Export
  } catch {
    // Said below.
  }
  throw new CliError('import_unreadable', 'this is not a .1pux export of 1Password', {
    fix: 'export again in the desktop app: File, Export, 1PUX',
  })
}

export async function readOnePassword(bytes: Uint8Array): Promise<Found> {
  const { accounts = [] } = await readExport(bytes)
  const items: FoundItem[] = []
  const leftOut: LeftOut[] = []
  for (const { attrs, items: held = [] } of accounts.flatMap(({ vaults = [] }) => vaults))
    for (const item of held) {
      const name = nameFrom(item.overview?.title, 'without a name')
      const fields = fieldsOf(item)
      const file = item.details?.documentAttributes?.fileName
      if (item.state === 'archived') leftOut.push({ name, reason: 'archived' })
      else if (file !== undefined) leftOut.push({ name, reason: 'a document: put it there with strongroom file put' })
      else if (fields.length === 0) leftOut.push({ name, reason: EMPTY })
      else {
        const website = item.overview?.url
        items.push({
          from: nameFrom(attrs?.name, '1Password'),
          name,
          ...(website && { website: nameFrom(website, '') }),
          fields,
        })
      }
    }
  return { items, leftOut }
}
