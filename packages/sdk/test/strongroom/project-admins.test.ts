import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AccessEntry } from '../../src/strongroom/permissions.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// The access list of a project as a lying server tells it. Catches: an accomplice who gets into the signed admins with somebody else's change,
// an admin who is dropped from them because the server left them out, an ADMIN shown whom nobody signed, an honest list that is refused.
// Seen red: the list of the server taken for the one in force; a list shown without comparing; an answer to a change not compared.

let world: World
let alice: Strongroom
beforeAll(async () => {
  world = await startWorld()
  alice = world.alice
  reader = { principal: (await world.agent('deployNext')).principal, role: 'READ' }
})
afterAll(() => world.close())

const own = (): AccessEntry => ({ principal: `user:${world.founder.userId}`, role: 'ADMIN' })
const mallory: AccessEntry = { principal: 'user:usr_mallory', role: 'ADMIN' }
let reader: AccessEntry

/** A list with this change, in answers to requests of this method. */
const lying =
  (method: 'GET' | 'PUT', change: (entries: readonly AccessEntry[]) => readonly AccessEntry[]) =>
  (asked: string, answer: unknown): unknown => {
    if (!asked.startsWith(method) || !asked.includes('/permissions')) return undefined
    const { data } = answer as { readonly data: readonly AccessEntry[] }
    return { ...(answer as object), data: change(data) }
  }

/** Every way to read or change a list. */
const uses = (client: Strongroom, project: string): readonly (() => PromiseLike<unknown>)[] => [
  () => client.permissions.list({ project }),
  () => client.permissions.grant({ project }, reader),
  () => client.permissions.grant({ project }, { ...reader, role: 'ADMIN' }),
  () => client.permissions.revoke({ project }, reader.principal),
  () => client.permissions.replace({ project }, [own(), reader]),
]

it('refuses a list with an ADMIN whom nobody signed, and sends nothing', async () => {
  const { id } = await alice.projects.create({ name: unique('joined') })
  const { client, wire } = world.device()
  wire.tamper = lying('GET', (entries) => [...entries, mallory])
  for (const use of uses(client, id))
    expect(await errorOf(use())).toMatchObject({ code: 'acl_mismatch', name: 'IntegrityError' })
  expect(wire.asked.filter((asked) => !asked.startsWith('GET'))).toEqual([])
  expect(await alice.permissions.list({ project: id })).toEqual([own()])
  expect(await alice.projects.get(id)).toMatchObject({ version: 1 })
  expect(await client.transparency.trust.alarms()).toContainEqual(expect.objectContaining({ code: 'acl_mismatch' }))
})

it('refuses a list that leaves a signed ADMIN out, or shows them with less, and sends nothing', async () => {
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const { id } = await alice.projects.create({ name: unique('dropped') })
  await alice.permissions.grant({ project: id }, { principal: bot.principal, role: 'ADMIN' })
  const isBot = ({ principal }: AccessEntry) => principal === bot.principal
  for (const change of [
    (entries: readonly AccessEntry[]) => entries.filter((entry) => !isBot(entry)),
    (entries: readonly AccessEntry[]) =>
      entries.map((entry) => (isBot(entry) ? { ...entry, role: 'WRITE' as const } : entry)),
  ]) {
    const { client, wire } = world.device()
    wire.tamper = lying('GET', change)
    for (const use of uses(client, id)) expect(await errorOf(use())).toMatchObject({ code: 'acl_mismatch' })
    expect(wire.asked.filter((asked) => !asked.startsWith('GET'))).toEqual([])
  }
  expect(await bot.client.projects.update(id, { name: 'still an admin' })).toMatchObject({ name: 'still an admin' })
})

it('refuses an answer to a change with an ADMIN whom nobody signed', async () => {
  const { id } = await alice.projects.create({ name: unique('answered') })
  const { client, wire } = world.device()
  wire.tamper = lying('PUT', (entries) => [...entries, mallory])
  expect(await errorOf(client.permissions.grant({ project: id }, reader))).toMatchObject({ code: 'acl_mismatch' })
  expect(await alice.permissions.list({ project: id })).toEqual(expect.arrayContaining([own(), reader]))
})

it('refuses the list of another project', async () => {
  const [asked, other] = [
    await alice.projects.create({ name: unique('asked') }),
    await alice.projects.create({ name: unique('other') }),
  ]
  const { client, wire } = world.device()
  const answer = await client.request({ method: 'GET', path: `/project/${other.id}/permissions` })
  wire.tamper = (path) => (path.startsWith('GET /project/') ? answer : undefined)
  for (const project of [asked.id, asked.slug])
    for (const use of uses(client, project)) expect(await errorOf(use())).toMatchObject({ code: 'project_mismatch' })
  expect(wire.asked.filter((path) => !path.startsWith('GET'))).toEqual([])
})

it('adds and takes away admins by name and by id, and takes readers as the server says them', async () => {
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const { id, slug } = await alice.projects.create({ name: unique('honest') })
  const admin: AccessEntry = { principal: bot.principal, role: 'ADMIN' }
  expect(await alice.permissions.grant({ project: slug }, admin)).toEqual(expect.arrayContaining([own(), admin]))
  expect(await bot.client.permissions.grant({ project: id }, reader)).toHaveLength(3)
  const { client, wire } = world.device()
  const invented: AccessEntry = { principal: 'user:usr_invented', role: 'WRITE' }
  wire.tamper = lying('GET', (entries) => [...entries, invented])
  expect(await client.permissions.list({ project: slug })).toContainEqual(invented)
  expect(await alice.permissions.revoke({ project: id }, own().principal, { allowSelfRemoval: true })).toEqual(
    expect.arrayContaining([admin, reader]),
  )
  expect(await bot.client.permissions.list({ project: id })).toHaveLength(2)
})

it('still changes a list with an admin who was archived, since the chain names them until somebody signs otherwise', async () => {
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const { id } = await alice.projects.create({ name: unique('archived') })
  await alice.permissions.grant({ project: id }, { principal: bot.principal, role: 'ADMIN' })
  await alice.agents.archive(bot.agent.agentId)
  expect(await alice.permissions.list({ project: id })).toHaveLength(2)
  expect(await alice.permissions.grant({ project: id }, reader)).toHaveLength(3)
  expect(await alice.permissions.revoke({ project: id }, bot.principal)).toHaveLength(2)
})
