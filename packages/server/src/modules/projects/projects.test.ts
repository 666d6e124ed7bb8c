import { documentHash, ensureProjectVaults, openEnvironment, valueText } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal } from '../../../test/people.ts'
import {
  makeProject,
  nextSet,
  type ProjectContent,
  projectDocs,
  readProject,
  verifySigned,
} from '../../../test/project-writer.ts'
import { edit, makeVault, trustOf, type Writer, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches, each seen red: a bundle of two moments (atOneMoment left out), a part of an environment (missing vaults not counted),
// the environment of an archived project, a project shown or listed to somebody its access list does not name, a change by a
// reader, documents that somebody else has signed, vaults the caller does not read taken in, a slug given twice (the log not
// locked first), other content changed by archiving, an admin who could not sign.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let stranger: TestAgent
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  stranger = await h.agent(alice, ['machine.all'])
})
afterAll(() => h.close())

/** Everything of projects that a refused change must leave alone. */
const stored = () =>
  inOrg(h.deps, alice.orgId, async (db) => {
    const all: unknown[] = []
    for (const table of ['project', 'project_access', 'log_leaf'] as const)
      all.push((await db.selectFrom(table).selectAll().execute()).map((row) => JSON.stringify(row)).sort())
    return JSON.stringify(all)
  })

type Caller = Pick<TestAgent, 'client'>
const update = async (who: Caller, id: string, change: Partial<ProjectContent>, by: Writer = alice) =>
  who.client.projects.update({ params: { id }, body: { docs: [await nextSet(by, id, change, alice)] } })
const archive = async (id: string) =>
  alice.client.projects.archive({ params: { id }, body: { docs: [await nextSet(alice, id, { status: 'archived' })] } })
const letRead = (id: string) =>
  alice.client.projects.setPermissions({
    params: { id },
    body: {
      entries: [
        { principal: alice.identity.key.principal, role: 'ADMIN' },
        { principal: bot.identity.key.principal, role: 'READ' },
      ],
    },
  })

it('makes a project and answers, by its id and by its slug, with what proves it', async () => {
  const vaultId = await makeVault(alice)
  const { projectId, docs } = await projectDocs(alice, 'shop', { vaults: [vaultId] })
  const made = await alice.client.projects.create({ body: { docs } })
  expect(made.project).toMatchObject({ projectId, slug: 'shop', role: 'ADMIN', vaults: [vaultId], projectVersion: 1 })
  expect((await verifySigned(alice, made.signed, projectId)).payload.vaults).toEqual([vaultId])
  for (const id of [projectId, 'shop']) {
    const { project, signed } = await alice.client.projects.get({ params: { id } })
    expect(project).toEqual(made.project)
    expect((await verifySigned(alice, signed, projectId)).payload).toMatchObject({ slug: 'shop', status: 'active' })
  }
})

it('lists to each exactly the projects whose access list names them, page by page, also in another organisation', async () => {
  const ids = [await makeProject(alice, 'list-a'), await makeProject(alice, 'list-b')]
  await letRead(ids[0] as string)
  const foreign = await h.agent(await h.org('other'), ['machine.all'])
  const listed = async ({ client }: Caller) => (await client.projects.list()).data.map(({ projectId }) => projectId)
  expect(await listed(alice)).toEqual(expect.arrayContaining(ids))
  expect(await listed(bot)).toEqual([ids[0]])
  expect(await bot.client.projects.list({ query: { page: 1, limit: 1 } })).toMatchObject({
    data: [{ projectId: ids[0], role: 'READ' }],
    meta: { total: 1, page: 1, limit: 1, totalPages: 1 },
  })
  for (const who of [stranger, foreign]) {
    expect(await who.client.projects.list({ query: { page: 1 } })).toMatchObject({ data: [], meta: { total: 0 } })
    for (const id of [...ids, 'list-a', `p${'a'.repeat(32)}`, 'nowhere'])
      expect(
        new Set(
          await outcomes([
            who.client.projects.get({ params: { id } }),
            who.client.projects.permissions({ params: { id } }),
            who.client.projects.environment({ params: { projectId: id } }),
          ]),
        ),
      ).toEqual(new Set(['project_not_found']))
  }
})

it('shows what is signed of a project, by its hash, to nobody whom its access list does not name', async () => {
  const { projectId, docs } = await projectDocs(alice, 'quiet')
  await alice.client.projects.create({ body: { docs } })
  const found = (who: Caller) =>
    outcomes(docs.map((doc) => who.client.transparency.document({ params: { hash: documentHash(doc) } })))
  expect([await found(alice), await found(bot)]).toEqual([
    ['ok', 'ok'],
    ['document_not_found', 'document_not_found'],
  ])
  await letRead(projectId)
  expect(await found(bot)).toEqual(['ok', 'ok'])
  expect(await found(stranger)).toEqual(['document_not_found', 'document_not_found'])
})

it('keeps a slug for one active project, frees it by archiving, and changes nothing afterwards', async () => {
  const first = await makeProject(alice, 'once')
  const second = await projectDocs(alice, 'once')
  expect(await refusal(alice.client.projects.create({ body: { docs: second.docs } }))).toMatchObject({
    status: 409,
    code: 'slug_taken',
  })
  const other = await makeProject(alice, 'twice')
  expect(await codeOf(update(alice, other, { slug: 'once' }))).toBe('slug_taken')
  expect((await archive(first)).project).toMatchObject({ status: 'archived', projectVersion: 2 })
  await alice.client.projects.create({ body: { docs: second.docs } })
  expect((await alice.client.projects.get({ params: { id: 'once' } })).project.projectId).toBe(second.projectId)
  expect((await readProject(alice, first)).verified.payload.status).toBe('archived')
  expect(await codeOf(update(alice, first, { name: 'late', status: 'active' }))).toBe('project_archived')
  expect(await codeOf(alice.client.projects.environment({ params: { projectId: first } }))).toBe('project_not_found')
})

it('gives one of sixteen creations the slug, with more callers than connections', async () => {
  const made = await Promise.all(Array.from({ length: 16 }, () => projectDocs(alice, 'race')))
  const ended = await outcomes(made.map(({ docs }) => alice.client.projects.create({ body: { docs } })))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'slug_taken']))
})

it('lets one of sixteen changes of one version win, and tells the others what to sign on top of', async () => {
  const projectId = await makeProject(alice, 'busy')
  const sets = await Promise.all(Array.from({ length: 16 }, (_, i) => nextSet(alice, projectId, { name: `name ${i}` })))
  const calls = sets.map((set) => alice.client.projects.update({ params: { id: projectId }, body: { docs: [set] } }))
  const ended = await outcomes(calls)
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'project_conflict']))
  const late = alice.client.projects.update({ params: { id: projectId }, body: { docs: [sets[0] as never] } })
  const { details } = await refusal(late)
  const { current, projectVersion } = details as { current: never; projectVersion: number }
  expect(projectVersion).toBe(2)
  expect((await verifySigned(alice, current, projectId)).payload.projectVersion).toBe(2)
})

it('takes in only vaults that the caller reads, and keeps those that are in it already', async () => {
  const mine = await makeVault(alice)
  const theirs = await makeVault(bot)
  const absent = `v${'a'.repeat(32)}`
  const projectId = await makeProject(alice, 'vaults', { vaults: [mine] })
  const before = await stored()
  const bodies = []
  for (const vaultId of [theirs, absent]) {
    bodies.push(await refusal(update(alice, projectId, { vaults: [mine, vaultId] })))
    const { docs } = await projectDocs(alice, 'vaults-2', { vaults: [vaultId] })
    expect(await codeOf(alice.client.projects.create({ body: { docs } }))).toBe('vault_not_found')
  }
  expect(bodies[0]).toMatchObject({ status: 404, code: 'vault_not_found', details: undefined })
  expect(bodies[1]).toEqual(bodies[0])
  expect(await stored()).toBe(before)
  const shared = await makeVault(bot, { with: [{ identity: alice.identity, role: 'read' }] })
  await update(alice, projectId, { vaults: [mine, shared] })
  await inOrg(h.deps, alice.orgId, (db) =>
    sql`update vault_access set role = null where vault_id = ${shared} and principal = ${alice.identity.key.principal}`.execute(
      db,
    ),
  )
  expect((await update(alice, projectId, { name: 'kept' })).project.vaults).toEqual([mine, shared].sort())
})

it('refuses what a route does not take, what a reader brings, and what somebody else has signed; nothing changes', async () => {
  const projectId = await makeProject(alice, 'strict')
  const other = await makeProject(alice, 'strict-2')
  await letRead(projectId)
  const { docs } = await projectDocs(alice, 'strict-3')
  const [create, set] = docs as [never, never]
  const mine = await nextSet(alice, projectId, { name: 'changed' })
  const before = await stored()
  const put = (who: Caller, id: string, doc: typeof mine) =>
    who.client.projects.update({ params: { id }, body: { docs: [doc] } })
  const make = (who: Caller, ...given: never[]) => who.client.projects.create({ body: { docs: given } })
  expect(await codeOf(put(bot, projectId, await nextSet(bot, projectId, {}, alice)))).toBe('project_access_denied')
  expect(await codeOf(put(stranger, projectId, mine))).toBe('project_not_found')
  expect(await codeOf(put(alice, other, mine))).toBe('invalid_document')
  expect(await codeOf(put(alice, projectId, await nextSet(bot, projectId, {}, alice)))).toBe('signer_not_authorised')
  expect(await codeOf(put(alice, projectId, create))).toBe('invalid_document')
  expect(await codeOf(make(alice, set, set))).toBe('invalid_document')
  for (const odd of [{ payloadType: 'application/json' }, { payload: 'e30' }, { payload: '' }])
    expect(await codeOf(make(alice, create, { ...(set as object), ...odd } as never))).toBe('invalid_document')
  expect(await codeOf(make(bot, create, set))).toBe('signer_not_authorised')
  expect(await codeOf(update(alice, projectId, { status: 'archived' }))).toBe('invalid_document')
  const renaming = await nextSet(alice, projectId, { status: 'archived', name: 'in passing' })
  expect(await codeOf(alice.client.projects.archive({ params: { id: projectId }, body: { docs: [renaming] } }))).toBe(
    'invalid_document',
  )
  for (const slug of ['', 'Upper', '-a', 'a/b', `p${'a'.repeat(32)}`, `${'a'.repeat(63)}-`])
    expect(await codeOf(update(alice, projectId, { slug }))).toBe('invalid_document')
  expect(await codeOf(update(alice, projectId, { name: '' }))).toBe('invalid_document')
  const unable = await projectDocs(alice, 'strict-4', { admins: [`agent:${stranger.agentId}`] })
  expect(await refusal(alice.client.projects.create({ body: { docs: unable.docs } }))).toMatchObject({
    code: 'invalid_document',
    details: { rule: 'admin_without_key', principals: [`agent:${stranger.agentId}`] },
  })
  expect(await stored()).toBe(before)
})

const environment = async (reader: Writer, projectId: string) => {
  const answer = await reader.client.projects.environment({ params: { projectId } })
  const project = await verifySigned(reader, answer.signed, answer.project.projectId)
  ensureProjectVaults(
    project,
    answer.vaults.map(({ vaultId }) => vaultId),
  )
  const values: Record<string, string> = {}
  for (const { vaultId, data, signed, wrappedKeys } of answer.vaults) {
    const candidate = { ...signed, wrappedKeys, fields: data }
    const opened = await openEnvironment(candidate, vaultId, trustOf(reader), reader.identity)
    for (const { row, value } of opened.fields) values[row.label] = valueText(value)
  }
  const signed = [answer.signed, ...answer.vaults.map((vault) => vault.signed)]
  const notes = new Set(signed.map(({ transparency }) => (transparency as { checkpoint: string }).checkpoint))
  return { values, moments: notes.size, answer }
}

const twoVaults = async (slug: string) => {
  const share = { with: [{ identity: bot.identity, role: 'read' as const }] }
  const vaults = [await makeVault(alice, share), await makeVault(alice, share)]
  for (const [i, vaultId] of vaults.entries())
    await writeItems(alice, vaultId, [edit(`itm_${slug}${i}`, { [`KEY_${i}`]: `value ${i}`, note: 'n' })])
  const projectId = await makeProject(alice, slug, { vaults })
  await letRead(projectId)
  return { vaults, projectId }
}

it('gives a reader the environment of exactly the vaults of the project, of one moment, and records it', async () => {
  const { projectId, vaults } = await twoVaults('bundle')
  for (const id of [projectId, 'bundle']) {
    const { values, moments } = await environment(bot, id)
    expect(values).toEqual({ KEY_0: 'value 0', KEY_1: 'value 1' })
    expect(moments).toBe(1)
  }
  const { data } = await alice.client.monitoring.auditEvents({})
  const read = data.filter(({ actor }) => actor.id === bot.identity.key.principal)
  const targetsOf = (action: string) =>
    read.filter((event) => event.action === action).flatMap(({ targets }) => targets.map(({ id }) => id))
  expect(new Set(targetsOf('project.environment.read'))).toEqual(new Set([projectId]))
  expect(new Set(targetsOf('vault.environment.read'))).toEqual(new Set(vaults))
})

it('gives no part of an environment: it says how many vaults are missing', async () => {
  const { projectId, vaults } = await twoVaults('partly')
  const more = [await makeVault(alice), await makeVault(alice)]
  await update(alice, projectId, { vaults: [...vaults, ...more] })
  expect(await refusal(bot.client.projects.environment({ params: { projectId } }))).toMatchObject({
    status: 403,
    code: 'project_access_incomplete',
    details: { missing: 2 },
  })
  const keyless = await h.agent(alice, ['machine.project.all', 'machine.vault.read'])
  expect(await codeOf(keyless.client.projects.environment({ params: { projectId } }))).toBe('machine_permission_denied')
})

it('answers with the project and its vaults of one moment, also when the project changes meanwhile', async () => {
  const { projectId, vaults } = await twoVaults('moment')
  const more = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  const set = await nextSet(alice, projectId, { vaults: [...vaults, more] })
  const reading = await inOrg(h.deps, alice.orgId, async (db) => {
    await sql`lock table vault_field in access exclusive mode`.execute(db)
    const started = environment(bot, projectId)
    const isWaiting = async (): Promise<boolean> =>
      (await sql`select from pg_locks where not granted`.execute(db)).rows.length > 0
    while (!(await isWaiting()));
    await alice.client.projects.update({ params: { id: projectId }, body: { docs: [set] } })
    return { started }
  })
  const { answer, moments } = await reading.started
  expect(answer.project).toMatchObject({ projectVersion: 1, vaults: [...vaults].sort() })
  expect(moments).toBe(1)
  expect((await readProject(alice, projectId)).project.projectVersion).toBe(2)
})

it('answers a repeated request with what it answered first', async () => {
  const { docs } = await projectDocs(alice, 'again')
  const send = () => alice.client.projects.create({ body: { docs } }, { idempotencyKey: 'project-again' })
  const first = await send()
  expect(await send()).toEqual(first)
})
