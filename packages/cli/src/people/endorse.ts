import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { emailOf, findPerson } from './find.ts'
import { forgetInvite, keptInvite } from './invite-memory.ts'

/** Signs the key of somebody who accepted, after verifying that it was made with the link of this invite. */
export async function endorsePerson(cli: Cli, asked: string): Promise<Result> {
  const { endorseInvite } = await import('@strongroom/sdk')
  const admin = await cli.person()
  const person = await findPerson(admin, asked)
  const { invite } = person
  if (invite?.status !== 'accepted')
    throw new CliError('invite_not_accepted', `${emailOf(person)} has not accepted an invite that waits`, {
      fix: invite?.status === 'open' ? 'they run: strongroom init --invite FILE' : 'strongroom user list',
    })
  const kept = await keptInvite(cli.paths, invite.inviteId)
  const strongroom = await cli.strongroom()
  // Somebody who has keys in the log already is nobody's invitee.
  const isKnown = async (principal: string): Promise<boolean> =>
    (await strongroom.transparency.keys(principal, { signal: cli.signal })).length > 0
  await endorseInvite(admin, kept ?? invite, isKnown)
  await forgetInvite(cli.paths, invite.inviteId)
  const { userId, email } = invite
  return {
    data: { userId, email, inviteId: invite.inviteId, status: 'active' },
    text: `${cli.style.good('✓')} ${safeText(email)} is one of you: their key is in the log, signed by you`,
    next: shellLine`strongroom vault share VAULT --with ${email}`,
  }
}
