import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Paths } from '../place/paths.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

// Whose id an invite was made for, as the server said it then: who accepts under another one is not the invitee. No secret.

export interface MadeInvite {
  readonly inviteId: string
  readonly userId: string
  readonly email: string
}

const fileOf = ({ trust }: Paths, inviteId: string): string =>
  join(dirname(trust), 'invites', `${inviteId.replace(/[^A-Za-z0-9_-]/g, '')}.json`)

export const keepInvite = (paths: Paths, invite: MadeInvite): Promise<void> =>
  writePrivate(fileOf(paths, invite.inviteId), `${JSON.stringify(invite)}\n`)

export async function keptInvite(paths: Paths, inviteId: string): Promise<MadeInvite | undefined> {
  const text = await readIfThere(fileOf(paths, inviteId))
  return text === undefined ? undefined : (JSON.parse(text) as MadeInvite)
}

export const forgetInvite = (paths: Paths, inviteId: string): Promise<void> =>
  rm(fileOf(paths, inviteId), { force: true })
