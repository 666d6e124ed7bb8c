import type { NewField } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { EMPTY, type Found, fieldFrom, type LeftOut, nameFrom, websiteFrom } from './source.ts'

// The unencrypted JSON export of Bitwarden. What it has of an item that has no place here is named.

interface Login {
  readonly username?: string | null
  readonly password?: string | null
  readonly totp?: string | null
  readonly uris?: readonly { readonly uri?: string | null }[] | null
  readonly fido2Credentials?: readonly unknown[] | null
}
interface BitwardenItem {
  readonly name?: string | null
  readonly folderId?: string | null
  readonly collectionIds?: readonly string[] | null
  readonly notes?: string | null
  readonly login?: Login | null
  readonly card?: Readonly<Record<string, string | null>> | null
  readonly identity?: Readonly<Record<string, string | null>> | null
  readonly sshKey?: Readonly<Record<string, string | null>> | null
  readonly fields?: readonly { readonly name?: string | null; readonly value?: string | null }[] | null
  readonly passwordHistory?: readonly unknown[] | null
}
interface Export {
  readonly encrypted?: boolean
  readonly folders?: readonly { readonly id: string; readonly name: string }[]
  readonly collections?: readonly { readonly id: string; readonly name: string }[]
  readonly items?: readonly BitwardenItem[]
}

const OTHERWISE = 'Bitwarden'

function read(text: string): Export {
  try {
    const parsed = JSON.parse(text) as Export
    if (typeof parsed === 'object' && parsed !== null && (Array.isArray(parsed.items) || parsed.encrypted))
      return parsed
  } catch {
    // Said below.
  }
  throw new CliError('import_unreadable', 'this is not a JSON export of Bitwarden', {
    fix: 'export again as "File format: .json"',
  })
}

function fieldsOf({ login, card, identity, sshKey, fields, notes }: BitwardenItem): readonly NewField[] {
  const sets = [card, identity, sshKey].flatMap((set) => Object.entries(set ?? {}))
  return [
    ...fieldFrom('username', login?.username),
    ...fieldFrom('password', login?.password),
    ...fieldFrom('totp', login?.totp),
    ...sets.flatMap(([label, value]) => fieldFrom(label, value)),
    ...(fields ?? []).flatMap(({ name, value }) => fieldFrom(nameFrom(name, 'field'), value)),
    ...fieldFrom('notes', notes),
  ]
}

export function readBitwarden(text: string): Found {
  const { encrypted, items = [], folders = [], collections = [] } = read(text)
  if (encrypted)
    throw new CliError('import_unreadable', 'this export is encrypted with a key of Bitwarden', {
      fix: 'export again without encryption, import, then delete the file',
    })
  const places = new Map([...folders, ...collections].map(({ id, name }) => [id, nameFrom(name, OTHERWISE)]))
  const found = items.map((item) => {
    const place = item.collectionIds?.[0] ?? item.folderId ?? ''
    const { fields: others, ...website } = websiteFrom(item.login?.uris?.map(({ uri }) => uri) ?? [])
    return {
      from: places.get(place) ?? OTHERWISE,
      name: nameFrom(item.name, 'without a name'),
      ...website,
      fields: [...fieldsOf(item), ...others],
    }
  })
  return {
    items: found.filter(({ fields }) => fields.length > 0),
    leftOut: [
      ...found.filter(({ fields }) => fields.length === 0).map(({ name }) => ({ name, reason: EMPTY })),
      ...items.flatMap(withoutPlace),
    ],
  }
}

function withoutPlace({ name, login, passwordHistory }: BitwardenItem): readonly LeftOut[] {
  const said = nameFrom(name, 'without a name')
  return [
    ...(login?.fido2Credentials?.length ? [{ name: said, reason: 'its passkeys' }] : []),
    ...(passwordHistory?.length ? [{ name: said, reason: 'its earlier passwords' }] : []),
  ]
}
