import type { SigningPerson } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { nearest } from '../model/nearest.ts'

// The people of the organisation and those who were invited, by name, email or id.

export type User = Awaited<ReturnType<SigningPerson['client']['users']['list']>>['users'][number]
export type Invite = Awaited<ReturnType<SigningPerson['client']['invites']['list']>>['data'][number]

export interface Someone {
  readonly user: User | undefined
  readonly invite: Invite | undefined
}

export async function everybody({ client }: SigningPerson): Promise<readonly Someone[]> {
  const { users } = await client.users.list()
  const { data } = await client.invites.list()
  // The newest invite of each person counts.
  const invites = new Map([...data].reverse().map((invite) => [invite.userId, invite]))
  const known = users.map((user) => ({ user, invite: invites.get(user.userId) }))
  const others = [...invites.values()].filter(
    (invite) => isOpen(invite) && !users.some(({ userId }) => userId === invite.userId),
  )
  return [...known, ...others.map((invite) => ({ user: undefined, invite }))]
}

export const idOf = ({ user, invite }: Someone): string => user?.userId ?? invite?.userId ?? ''
export const emailOf = ({ user, invite }: Someone): string => user?.email ?? invite?.email ?? ''
export const nameOf = ({ user, invite }: Someone): string => user?.name ?? invite?.name ?? ''

/** Whether an invite can still lead somewhere. */
export const isOpen = ({ status }: Invite): boolean => status === 'open' || status === 'accepted'

export async function findPerson(admin: SigningPerson, asked: string): Promise<Someone> {
  const all = await everybody(admin)
  const bare = asked.replace(/^user:/, '').toLowerCase()
  const found = all.filter(
    (one) =>
      idOf(one) === bare ||
      emailOf(one).toLowerCase() === bare ||
      nameOf(one).toLowerCase() === bare ||
      one.invite?.inviteId === asked,
  )
  const [only] = found
  if (only && found.length === 1) return only
  if (found.length > 1)
    throw new CliError('ambiguous_name', `${found.length} people have the name ${asked}`, {
      fix: `use an email: ${found.map(emailOf).join(', ')}`,
      details: { candidates: found.map((one) => `user:${idOf(one)}`) },
    })
  const near = nearest(
    asked,
    all.flatMap((one) => [nameOf(one), emailOf(one)]),
  )
  throw new CliError('principal_not_found', `there is nobody called ${asked}`, {
    fix: near ? `did you mean ${near}?` : 'strongroom user list',
  })
}
