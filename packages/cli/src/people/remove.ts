import { shellLine } from '@strongroom/contract'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { emailOf, findPerson, idOf, type Someone } from './find.ts'

/** Removes somebody for good, or takes back the invite of somebody who never came. */
export async function removePerson(cli: Cli, asked: string): Promise<Result> {
  const person = await personIn(cli, asked)
  if (!person) return endLeftKeys(cli, asked)
  if (person.user?.status !== 'active' && person.invite) return revokeInvite(cli, person, person.invite.inviteId)
  const [userId, email] = [idOf(person), emailOf(person)]
  await confirm(cli, `Remove ${email} (user:${userId}) for good?`)
  await removeWithKeys(cli, userId)
  return {
    data: { userId, email, was: 'active' },
    text: `${cli.style.good('✓')} ${safeText(email)} is removed, and their keys have ended`,
    next: 'strongroom key due',
  }
}

const ID = /^user:([A-Za-z0-9_-]{4,64})$/

/** Undefined for an id that is on no list: its owner may have been removed before their keys had ended. */
async function personIn(cli: Cli, asked: string): Promise<Someone | undefined> {
  try {
    return await findPerson(await cli.person(), asked)
  } catch (error) {
    if (error instanceof CliError && error.code === 'principal_not_found' && ID.test(asked)) return undefined
    throw error
  }
}

async function endLeftKeys(cli: Cli, principal: string): Promise<Result> {
  const [, userId = ''] = ID.exec(principal) ?? []
  await confirm(cli, `${principal} is on no list. End for good the keys that the log has for them?`)
  await removeWithKeys(cli, userId)
  return {
    data: { userId, email: null, was: 'removed' },
    text: `${cli.style.good('✓')} the keys of ${principal} have ended`,
    next: 'strongroom key due',
  }
}

async function removeWithKeys(cli: Cli, userId: string): Promise<void> {
  const { removeUser } = await import('@strongroom/sdk')
  try {
    await removeUser(await cli.person(), userId, await cli.strongroom(), { signal: cli.signal })
  } catch (error) {
    // Once the server has removed them, neither name nor email finds them any more.
    cli.say(shellLine`what is left of it can be done with: strongroom user remove ${`user:${userId}`}`)
    throw error
  }
}

async function revokeInvite(cli: Cli, person: Someone, inviteId: string): Promise<Result> {
  const { client } = await cli.person()
  await confirm(cli, `Take back the invite of ${emailOf(person)}?`)
  await client.invites.revoke({ params: { id: inviteId } })
  const { forgetInvite } = await import('./invite-memory.ts')
  await forgetInvite(cli.paths, inviteId)
  return {
    data: { userId: idOf(person), email: emailOf(person), was: 'invited' },
    text: `${cli.style.good('✓')} the invite of ${safeText(emailOf(person))} is worth nothing any more`,
  }
}
