// Whose id an invite was made for, as the server said it then: who accepts under another one is not the invitee. No secret.

const PLACE = 'made-invites'

function read(): Readonly<Record<string, string>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? '{}')
    return typeof kept === 'object' && kept !== null ? (kept as Record<string, string>) : {}
  } catch {
    return {}
  }
}

export const keepInvite = (inviteId: string, userId: string): void =>
  localStorage.setItem(PLACE, JSON.stringify({ ...read(), [inviteId]: userId }))

export const keptUserId = (inviteId: string): string | undefined => read()[inviteId]

export function forgetInvite(inviteId: string): void {
  const { [inviteId]: _, ...rest } = read()
  localStorage.setItem(PLACE, JSON.stringify(rest))
}
