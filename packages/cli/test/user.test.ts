import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { acceptInvite, endorseInvite, makeUserInvite } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// People, from the invite to the removal. Catches: a link in a file of ours or on the screen of a coding agent, a person removed in passing,
// roles that whoever holds none can give, an invitee who cannot come in, a removal that nobody can finish once it was interrupted.
// Seen red: a tenant that is not found by its name; the link kept with the invite, the link shown in agent mode, a removal that does not ask, every invitee taken for known, an id
// that is on no list not looked for in the log.

const PASSPHRASE = 'purple otter canal lantern'
let world: World
let machine: Machine
let bob: Machine
const at = (name: string): string => join(machine.home, name)
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  bob = world.machine()
  bob.file('passphrase', `${PASSPHRASE}\n`)
  await machine.call(['set', 'prod/stripe/KEY', '--create-vault'], { input: 'shared' })
})
afterAll(() => world.close())

const asBob = () => ({ STRONGROOM_PASSPHRASE_FILE: join(bob.home, 'passphrase') })

const refused = async (
  args: readonly string[],
  code: string,
  exitCode: number,
  env: Record<string, string> = {},
  who: Machine = machine,
) => {
  const ended = await who.call([...args, '--json'], { env })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended
}

interface Person {
  readonly email: string
  readonly status: string
  readonly orgRoles: readonly string[]
  readonly invite: { readonly status: string } | null
}
const people = () => jsonOf<Person[]>(machine, ['user', 'list'])
const bobNow = async () => (await people()).find(({ email }) => email === 'bob@northwind.test')

it('invites with a link that goes into a private file, shown to no coding agent and kept nowhere', async () => {
  const invite = ['user', 'invite', 'bob@northwind.test', '--name', 'Bob Ray']
  const hidden = await refused(invite, 'plaintext_refused_for_agent', 4, { STRONGROOM_AGENT_MODE: '1' })
  expect(hidden.stderr).not.toContain('vin1.')
  await refused(['user', 'invite', 'bob'], 'usage', 2)
  await refused([...invite, '--tenant', 'nowhere'], 'tenant_not_found', 5)
  expect(await people()).toHaveLength(1)
  const made = await jsonOf<{ inviteId: string }>(machine, [...invite, '--out', 'bob.link'])
  expect(made).toMatchObject({ email: 'bob@northwind.test', file: at('bob.link') })
  expect(statSync(at('bob.link')).mode & 0o777).toBe(0o600)
  const link = readFileSync(at('bob.link'), 'utf8')
  expect(link).toMatch(new RegExp(`^${world.url}/join#vin1\\.[A-Za-z0-9_-]+\n$`))
  const kept = at('.local/share/strongroom/invites')
  const [, secret = ''] = link.trim().split('#vin1.')
  expect(secret).not.toBe('')
  for (const name of readdirSync(kept))
    for (const part of ['vin1.', secret]) expect(readFileSync(join(kept, name), 'utf8')).not.toContain(part)
  expect(await bobNow()).toMatchObject({ status: 'invited', invite: { status: 'open' } })
  await refused(['user', 'endorse', 'bob@northwind.test'], 'invite_not_accepted', 6)
})

it('brings a person in: they join, the inviter signs, they sign in and read what is shared with them', async () => {
  bob.file('link', readFileSync(at('bob.link'), 'utf8'))
  const join = ['init', '--invite', 'link', '--passphrase-file', 'passphrase', '--kit', 'kit.txt']
  expect(await jsonOf(bob, join)).toMatchObject({ status: 'joined' })
  const listed = await machine.call(['user', 'list'])
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout).toMatch(/Bob Ray +bob@northwind\.test +waits for your signature/)
  expect((await bob.call(['whoami', '--json'], { env: asBob() })).error().exitCode).toBe(3)
  expect(await jsonOf(machine, ['user', 'endorse', 'Bob Ray'])).toMatchObject({ status: 'active' })
  await refused(['user', 'endorse', 'bob@northwind.test'], 'invite_not_accepted', 6)
  expect(await bobNow()).toMatchObject({ status: 'active', invite: null })
  await jsonOf(machine, ['vault', 'share', 'prod', '--with', 'bob@northwind.test'])
  const read = await bob.call(['read', 'prod/stripe/KEY'], { env: asBob() })
  expect(read).toMatchObject({ code: 0, stdout: 'shared' })
})

it('shows and changes roles; nobody gives what they do not hold, and nobody changes their own way up', async () => {
  const who = 'bob@northwind.test'
  expect(await jsonOf(machine, ['user', 'roles', who])).toMatchObject({ orgRoles: [] })
  await refused(['user', 'roles', who, '--org', 'EMPEROR'], 'usage', 2)
  await refused(['user', 'roles', who, '--org', 'ORG_ADMIN'], 'role_required', 4, asBob(), bob)
  expect(await jsonOf(machine, ['user', 'roles', who, '--org', 'org_admin'])).toMatchObject({ orgRoles: ['ORG_ADMIN'] })
  const role = `${world.founder.tenantId}:TENANT_MEMBER`
  expect(await jsonOf(machine, ['user', 'roles', who, '--tenant', role])).toMatchObject({
    orgRoles: ['ORG_ADMIN'],
    tenantRoles: [{ role: 'TENANT_MEMBER' }],
  })
  const byName = ['user', 'roles', who, '--tenant', 'main:TENANT_ADMIN']
  expect(await jsonOf(machine, byName)).toMatchObject({ tenantRoles: [{ role: 'TENANT_ADMIN' }] })
  expect((await machine.call(['user', 'roles', who])).stdout).toContain('main:TENANT_ADMIN')
  const listed = (await machine.call(['user', 'list'])).stdout
  expect([listed.includes('main:TENANT_ADMIN'), listed.includes('ten_')]).toEqual([true, false])
  await refused(['user', 'roles', who, '--tenant', 'nowhere:TENANT_ADMIN'], 'tenant_not_found', 5)
  expect(await jsonOf(machine, ['user', 'roles', who, '--none'])).toMatchObject({ orgRoles: [] })
})

it('removes a person after asking, whose keys end, and takes back an invite', async () => {
  await refused(['user', 'remove', 'bob@northwind.test'], 'confirmation_required', 2)
  expect(await bobNow()).toMatchObject({ status: 'active' })
  const removed = await jsonOf(machine, ['user', 'remove', 'bob@northwind.test', '--yes'])
  expect(removed).toMatchObject({ was: 'active' })
  expect((await bob.call(['read', 'prod/stripe/KEY'], { env: asBob() })).stdout).toBe('')
  expect(await bobNow()).toBeUndefined()
  expect((await machine.call(['key', 'due'])).stdout).toMatch(/^prod .*strongroom vault rotate prod$/m)
  await refused(['user', 'remove', 'bob@northwind.test', '--yes'], 'principal_not_found', 5)
  await jsonOf(machine, ['user', 'invite', 'eve@northwind.test', '--out', 'eve.link'])
  expect(await jsonOf(machine, ['user', 'remove', 'eve@northwind.test', '--yes'])).toMatchObject({ was: 'invited' })
  expect((await people()).map(({ email }) => email)).toEqual([world.founder.email])
})

it('goes on with a removal that was interrupted, by the id that it says', async () => {
  const { founder, url: baseUrl } = world
  const email = 'finn@northwind.test'
  const made = await makeUserInvite(founder, { email, name: 'Finn', tenantId: founder.tenantId })
  const { identity } = await acceptInvite({ baseUrl, link: made.link, passphrase: PASSPHRASE })
  await endorseInvite(founder, made)
  const last = await machine.call(['user', 'remove', founder.email, '--yes'])
  expect(last.stderr).toContain(`strongroom user remove user:${founder.userId}`)

  await founder.client.users.remove({ params: { id: made.userId } })
  await refused(['user', 'remove', email, '--yes'], 'principal_not_found', 5)
  const again = ['user', 'remove', `user:${made.userId}`]
  await refused(again, 'confirmation_required', 2)
  expect(await jsonOf(machine, [...again, '--yes'])).toEqual({ userId: made.userId, email: null, was: 'removed' })
  const { stdout } = await machine.call(['key', 'list', `user:${made.userId}`, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ keyId: identity.kid, status: 'removed' }] })
  await refused([...again, '--yes'], 'user_not_found', 5)
})
