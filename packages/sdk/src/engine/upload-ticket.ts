import { type AttachmentDraft, ProtocolError } from '@strongroom/protocol'

// What a caller keeps to go on with an upload that was interrupted, in this process or in another. It is written before the first
// byte is sent and never changes: what has arrived is asked of the server. It needs no keeping secret. The content key in it is
// wrapped under the vault key, and the name is sealed under the content key: whoever has no access to the vault learns from it what
// the server knows anyway. Encrypting the same content again under the same content key gives the same bytes, so the parts that
// have arrived stay what they are.

export interface UploadTicket {
  readonly org: string
  readonly vaultId: string
  readonly itemId: string
  readonly assetId: string
  readonly assetVersion: number
  readonly uploadId: string
  readonly draft: AttachmentDraft
  /** Of the content, where it was known. */
  readonly size?: number | undefined
}

const PREFIX = 'srup1.'
const TEXTS = ['org', 'vaultId', 'itemId', 'assetId', 'uploadId', 'cek', 'meta'] as const
const NUMBERS = ['assetVersion', 'dekVersion'] as const

export function formatUploadTicket({ draft, ...rest }: UploadTicket): string {
  const text = JSON.stringify({ ...rest, ...draft })
  return `${PREFIX}${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

export function parseUploadTicket(ticket: string): UploadTicket {
  const members = readMembers(ticket)
  const isWhole =
    TEXTS.every((name) => typeof members[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(members[name])) &&
    (members.size === undefined || Number.isSafeInteger(members.size))
  if (!isWhole) throw unreadable()
  const { cek, meta, dekVersion, ...rest } = members as Omit<UploadTicket, 'draft'> & AttachmentDraft
  return { ...rest, draft: { cek, meta, dekVersion } }
}

const unreadable = (): ProtocolError => new ProtocolError('malformed', 'a ticket of an upload cannot be read')

function readMembers(ticket: string): Readonly<Record<string, unknown>> {
  if (!ticket.startsWith(PREFIX)) throw unreadable()
  try {
    const text = atob(ticket.slice(PREFIX.length).trim().replaceAll('-', '+').replaceAll('_', '/'))
    const members: unknown = JSON.parse(text)
    if (typeof members === 'object' && members !== null) return members as Readonly<Record<string, unknown>>
  } catch {
    throw unreadable()
  }
  throw unreadable()
}
