import { shellLine } from '@strongroom/contract'
import type { InviteOptions } from '@strongroom/sdk'
import { ensureShowable, shownOnce } from '../admin/shown-once.ts'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { emailOf, everybody, findPerson, idOf, isOpen, nameOf, type Someone } from '../people/find.ts'
import { findTenant, tenantNames } from '../people/tenants.ts'

const shapes = () => import('../schemas/user.ts')
const PERSON = arg.one('name, email or id of a person')

/** As `user roles` takes them. */
const rolesOf = ({ user }: Someone, tenant: (id: string) => string): readonly string[] => [
  ...(user?.orgRoles ?? []),
  ...(user?.tenantRoles ?? []).map(({ tenantId, role }) => `${tenant(tenantId)}:${role}`),
]

const dataOf = (one: Someone) => ({
  userId: idOf(one),
  name: nameOf(one),
  email: emailOf(one),
  status: one.user?.status ?? 'invited',
  orgRoles: one.user?.orgRoles ?? [],
  tenantRoles: one.user?.tenantRoles ?? [],
  invite:
    one.invite === undefined || !isOpen(one.invite)
      ? null
      : { inviteId: one.invite.inviteId, status: one.invite.status, expiresAt: one.invite.expiresAt },
})

const shownStatus = (one: Someone): string =>
  one.invite?.status === 'accepted' ? 'waits for your signature' : dataOf(one).status

const list = command({
  summary: 'the people of the organisation, and who is invited',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom user list', does: 'names, emails, roles' }],
  next: 'strongroom user invite EMAIL --name NAME',
  output: async () => (await shapes()).usersShape,
  run: async (cli) => {
    const shown = await everybody(await cli.person())
    const tenant = await tenantNames(cli)
    const text = table(
      shown,
      [
        { title: 'NAME', of: nameOf },
        { title: 'EMAIL', of: emailOf },
        { title: 'STATUS', of: shownStatus },
        { title: 'ROLES', of: (one) => rolesOf(one, tenant).join(' ') || undefined },
        { title: 'ID', of: (one) => `user:${idOf(one)}` },
      ],
      cli.style,
    )
    const waits = shown.find(({ invite }) => invite?.status === 'accepted')
    return {
      data: shown.map(dataOf),
      meta: { total: shown.length },
      text,
      next: waits ? shellLine`strongroom user endorse ${emailOf(waits)}` : 'strongroom user invite EMAIL --name NAME',
    }
  },
})

/** The inviter's own where none is named. */
async function tenantFor(cli: Cli, asked: string | undefined): Promise<string> {
  if (asked !== undefined) return findTenant(cli, asked)
  const { client, userId } = await cli.person()
  return (await client.users.get({ params: { id: userId } })).tenantId
}

const invite = command({
  summary: 'invite a person: a link that the server never sees',
  about:
    'The link is a secret for the invitee alone: whoever has it can become that person. Give it over a channel of your own. When they have accepted, `strongroom user endorse` verifies that the key was made with this link, and signs it. Use the machine you invite from.',
  args: { email: arg.one('their email') },
  flags: {
    name: flag.text('their name; the email if not given', 'NAME'),
    tenant: flag.text('name or id of their tenant; yours if not given', 'TENANT'),
    cap: flag.many('what their key may sign in the directory: agent-manager, dir-admin', 'CAP'),
    expires: flag.duration('how long the link is good; 7d if not given', '7d'),
    out: flag.text('write the link to a file, readable by you alone', 'FILE', { completes: 'file' }),
  },
  examples: [
    { run: 'strongroom user invite bob@northwind.test --name "Bob Ray" --out bob.link', does: 'give the file to Bob' },
  ],
  next: 'strongroom init --invite FILE   on their machine',
  output: async () => (await shapes()).invitedShape,
  run: async (cli, { args, flags }) => {
    ensureShowable(cli, flags.out)
    if (!/^[^\s@]+@[^\s@]+$/.test(args.email))
      throw new CliError('usage', 'the email is no address', { fix: 'write it like bob@example.com' })
    const { makeUserInvite } = await import('@strongroom/sdk')
    const { keepInvite } = await import('../people/invite-memory.ts')
    const admin = await cli.person()
    const caps = [...new Set(['member', ...flags.cap])].sort() as NonNullable<InviteOptions['caps']>
    const made = await makeUserInvite(admin, {
      email: args.email,
      name: flags.name ?? args.email,
      tenantId: await tenantFor(cli, flags.tenant),
      caps,
      ...(flags.expires !== undefined && { expiresInMs: flags.expires }),
    })
    const { inviteId, userId } = made
    await keepInvite(cli.paths, { inviteId, userId, email: args.email })
    const { profile } = await cli.credential()
    const secret = `${(serverOf(cli) ?? profile?.server ?? '').replace(/\/+$/, '')}/join#${made.link}`
    const shown = await shownOnce(cli, { name: 'link', secret, out: flags.out })
    cli.say(`whoever has this link can become ${safeText(args.email)}; it is shown once`)
    return {
      data: { inviteId, userId, email: args.email, ...shown },
      text: 'link' in shown ? shown.link : shown.file,
      next: shellLine`strongroom user endorse ${args.email}   once they have accepted`,
    }
  },
})

const endorse = command({
  summary: 'sign the key of somebody who accepted your invite',
  about:
    'Verifies that whoever accepted had the link, and that the key is theirs; the server cannot put another one in its place. Only who made the invite can do this.',
  args: { person: PERSON },
  flags: {},
  examples: [{ run: 'strongroom user endorse bob@northwind.test', does: 'from then on they can sign in' }],
  next: 'strongroom vault share VAULT --with EMAIL',
  output: async () => (await shapes()).endorsedShape,
  run: async (cli, { args }) => (await import('../people/endorse.ts')).endorsePerson(cli, args.person),
})

const remove = command({
  summary: 'remove a person for good, or take back an invite',
  about:
    'Sessions, API keys and roles end, and you sign that their keys have ended. What they could decrypt they may have kept: `strongroom access exposure` lists it, `strongroom key due` says which vaults want a new key. Which keys are theirs is read in the log. If it was interrupted, name them by id, as user:ID, and it goes on.',
  args: { person: PERSON },
  flags: {},
  examples: [{ run: 'strongroom user remove bob@northwind.test', does: 'asks first' }],
  next: 'strongroom key due',
  output: async () => (await shapes()).removedUserShape,
  run: async (cli, { args }) => (await import('../people/remove.ts')).removePerson(cli, args.person),
})

const roles = command({
  summary: 'the roles of a person, in the organisation and in tenants',
  args: { person: PERSON },
  flags: {
    org: flag.many('a role in the organisation; those given replace all: ORG_ADMIN …', 'ROLE'),
    tenant: flag.many('a role in a tenant; those given replace all direct ones', 'TENANT:ROLE'),
    none: flag.on('take all roles in the organisation away'),
  },
  examples: [
    { run: 'strongroom user roles bob@northwind.test', does: 'what they hold' },
    { run: 'strongroom user roles bob@northwind.test --org ORG_ADMIN', does: 'nobody gives what they do not hold' },
  ],
  next: 'strongroom user list',
  output: async () => (await shapes()).userShape,
  run: async (cli, { args, flags }) => {
    const { changeRoles } = await import('../people/roles.ts')
    const admin = await cli.person()
    const person = await findPerson(admin, args.person)
    const user = await changeRoles(cli, person, flags)
    const one = { user, invite: undefined }
    const held = rolesOf(one, await tenantNames(cli))
    if (held.length === 0) cli.say(`${nameOf(one)} has no roles`)
    return { data: dataOf(one), ...(held.length > 0 && { text: held.join('\n') }) }
  },
})

export const user: Group = {
  summary: 'people: invited, endorsed, removed; each with keys of their own',
  verbs: { list, invite, endorse, roles, remove },
}
