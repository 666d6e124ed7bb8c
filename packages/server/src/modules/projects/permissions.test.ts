import { type Envelope, keyRevoke, makeDocument } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal } from '../../../test/people.ts'
import { adminsDocs, makeProject, nextSet, readProject, verifySigned } from '../../../test/project-writer.ts'
import type { Writer } from '../../../test/vault-writer.ts'

// Catches, each seen red: other ADMINs without a signature (admins not compared), a list that is not the signed one, an own
// entry lost in passing (ensureStays left out), an older list over a newer one (If-Match unread), two editors at once (the log not
// locked first), a list by somebody who is no ADMIN, an ADMIN who could not sign (a new one, the only
// one; one of before was looked for), somebody on the list who is nobody here (not looked for;
// those who have left known; those who are listed already looked for).

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

type Role = 'READ' | 'WRITE' | 'ADMIN'
type Caller = Pick<TestAgent, 'client'>
interface Entry {
  principal: string
  role: Role
}
const entry = ({ identity }: Writer, role: Role): Entry => ({ principal: identity.key.principal, role })
const byPrincipal = (entries: Entry[]) => [...entries].sort((a, b) => (a.principal < b.principal ? -1 : 1))
const set = (
  who: Caller,
  id: string,
  entries: Entry[],
  { docs, allowSelfRemoval }: { docs?: Envelope[]; allowSelfRemoval?: boolean } = {},
) =>
  who.client.projects.setPermissions({
    params: { id },
    query: { ...(allowSelfRemoval !== undefined && { allowSelfRemoval }) },
    body: { entries, ...(docs && { docs }) },
  })
const read = ({ client }: Caller, id: string) => client.projects.permissions({ params: { id } })
const principals = (...writers: Writer[]) => writers.map(({ identity }) => identity.key.principal)

it('shows a project to whoever is put on its list, and no longer to whoever is taken off it', async () => {
  const id = await makeProject(alice, 'list')
  expect((await read(alice, id)).data).toEqual([entry(alice, 'ADMIN')])
  const both = [entry(alice, 'ADMIN'), entry(bot, 'READ')]
  expect((await set(alice, id, both)).data).toEqual(byPrincipal(both))
  expect((await readProject(bot, id)).project.role).toBe('READ')
  const { data, signed } = await read(bot, id)
  expect(data).toEqual(byPrincipal(both))
  expect((await verifySigned(bot, signed, id)).payload.projectVersion).toBe(1)
  await set(alice, id, [entry(alice, 'ADMIN')])
  expect(await codeOf(read(bot, id))).toBe('project_not_found')
})

it('changes ADMINs only by their signed document, to which the list must be equal', async () => {
  const id = await makeProject(alice, 'admins')
  const both = [entry(alice, 'ADMIN'), entry(bot, 'ADMIN')]
  const before = await read(alice, id)
  expect(await refusal(set(alice, id, both))).toMatchObject({
    status: 422,
    code: 'invalid_document',
    details: { rule: 'admins_not_signed' },
  })
  const docs = await adminsDocs(alice, id, principals(alice, bot))
  expect(await refusal(set(alice, id, [entry(alice, 'ADMIN'), entry(bot, 'WRITE')], { docs }))).toMatchObject({
    code: 'invalid_document',
    details: { rule: 'acl_mismatch' },
  })
  const [admins] = docs as [Envelope, Envelope]
  const renaming = [admins, await nextSet(alice, id, { name: 'in passing' })]
  expect(await codeOf(set(alice, id, both, { docs: renaming }))).toBe('invalid_document')
  const unable = await adminsDocs(alice, id, [...principals(alice), `agent:${stranger.agentId}`])
  const withStranger = [entry(alice, 'ADMIN'), { principal: `agent:${stranger.agentId}`, role: 'ADMIN' as const }]
  expect(await codeOf(set(alice, id, withStranger, { docs: unable }))).toBe('invalid_document')
  expect((await read(alice, id)).etag).toBe(before.etag)
  expect((await readProject(alice, id)).project.projectVersion).toBe(1)

  const { signed } = await set(alice, id, both, { docs })
  expect((await verifySigned(alice, signed, id)).payload.projectVersion).toBe(2)
  const mine = await nextSet(bot, id, { name: 'by the new admin' })
  const { project } = await bot.client.projects.update({ params: { id }, body: { docs: [mine] } })
  expect(project).toMatchObject({ name: 'by the new admin', role: 'ADMIN' })
  expect((await readProject(alice, id)).verified.payload.name).toBe('by the new admin')
})

it('refuses a list without ADMIN, without the caller, with a principal twice, or from somebody who is no ADMIN', async () => {
  const id = await makeProject(alice, 'refusals')
  await set(alice, id, [entry(alice, 'ADMIN'), entry(bot, 'WRITE')])
  const { etag } = await read(alice, id)
  const put = (who: Caller, entries: Entry[]) => codeOf(set(who, id, entries))
  expect(await put(alice, [entry(alice, 'WRITE')])).toBe('last_admin')
  expect(await put(alice, [])).toBe('last_admin')
  expect(await put(alice, [entry(bot, 'ADMIN')])).toBe('self_lockout')
  expect(await put(alice, [entry(alice, 'ADMIN'), entry(alice, 'READ')])).toBe('validation_failed')
  expect(await put(bot, [entry(alice, 'ADMIN'), entry(bot, 'WRITE')])).toBe('project_access_denied')
  expect(await put(stranger, [entry(alice, 'ADMIN')])).toBe('project_not_found')
  const own = await adminsDocs(alice, id, principals(alice, bot))
  expect(await codeOf(set(bot, id, [entry(alice, 'ADMIN'), entry(bot, 'ADMIN')], { docs: own }))).toBe(
    'project_access_denied',
  )
  expect((await read(alice, id)).etag).toBe(etag)
})

it('takes nobody onto the list who is nobody here, and keeps who has left until they are taken off', async () => {
  const id = await makeProject(alice, 'strangers')
  const foreign = await h.agent(await h.org('elsewhere'), ['machine.all'])
  const gone = await h.agent(alice, ['machine.all'])
  const reader = (principal: string): Entry => ({ principal, role: 'READ' })
  const leaver = reader(`agent:${gone.agentId}`)
  await set(alice, id, [entry(alice, 'ADMIN'), leaver])
  const archived = await h.agent(alice, ['machine.all'])
  for (const params of [{ id: gone.agentId }, { id: archived.agentId }]) await alice.client.agents.archive({ params })
  const { etag } = await read(alice, id)
  const nobodies = [`user:usr_nobody`, `agent:${foreign.agentId}`, `agent:${archived.agentId}`].sort()
  for (const role of ['READ', 'WRITE'] as const) {
    const wanted = [entry(alice, 'ADMIN'), leaver, entry(bot, role), ...nobodies.map(reader)]
    expect(await refusal(set(alice, id, wanted))).toMatchObject({
      ...{ status: 404, code: 'agent_not_found', details: { principals: nobodies } },
    })
  }
  expect(await codeOf(set(alice, id, [entry(alice, 'ADMIN'), reader('user:usr_nobody')]))).toBe('user_not_found')
  expect((await read(alice, id)).etag).toBe(etag)
  const kept = [entry(alice, 'ADMIN'), leaver, entry(bot, 'READ')]
  expect((await set(alice, id, kept)).data).toEqual(byPrincipal(kept))
  await set(alice, id, [entry(alice, 'ADMIN'), entry(bot, 'READ')])
  expect(await codeOf(set(alice, id, kept))).toBe('agent_not_found')
})

it('lets an ADMIN leave who says so and leaves another behind', async () => {
  const id = await makeProject(alice, 'leaving')
  const docs = await adminsDocs(alice, id, principals(bot))
  expect(await codeOf(set(alice, id, [entry(bot, 'ADMIN')], { docs }))).toBe('self_lockout')
  const left = await set(alice, id, [entry(bot, 'ADMIN')], { docs, allowSelfRemoval: true })
  expect(left.data).toEqual([entry(bot, 'ADMIN')])
  expect(await codeOf(read(alice, id))).toBe('project_not_found')
  expect((await readProject(bot, id)).project.role).toBe('ADMIN')
})

it('lets ADMINs go on beside one whose key has ended, and leaves no project to such a one alone', async () => {
  const id = await makeProject(alice, 'ended')
  const former = await agentWriter(h, alice, 'hybrid')
  const both = [entry(alice, 'ADMIN'), entry(former, 'ADMIN')]
  await set(alice, id, both, { docs: await adminsDocs(alice, id, principals(alice, former)) })
  const members = { org: alice.orgId, at: Date.now(), kid: former.identity.kid, reason: 'removed' as const }
  await alice.client.userKeys.revoke({ body: { event: await makeDocument(keyRevoke, members, [alice.identity]) } })
  const all = [...both, entry(bot, 'ADMIN')]
  const docs = await adminsDocs(alice, id, principals(alice, former, bot))
  expect((await set(alice, id, all, { docs })).data).toEqual(byPrincipal(all))
  const { etag } = await read(alice, id)
  const alone = await adminsDocs(alice, id, principals(former))
  expect(
    await refusal(set(alice, id, [entry(former, 'ADMIN')], { docs: alone, allowSelfRemoval: true })),
  ).toMatchObject({ code: 'invalid_document', details: { rule: 'admin_without_key', principals: principals(former) } })
  expect((await read(alice, id)).etag).toBe(etag)
})

const put = (id: string, ifMatch: string, entries: Entry[]) =>
  fetch(`${h.url}/api/v1/machine/project/${id}/permissions`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${alice.accessToken}`, 'content-type': 'application/json', 'if-match': ifMatch },
    body: JSON.stringify({ entries }),
  })

it('keeps sixteen editors of one list apart by its etag', async () => {
  const id = await makeProject(alice, 'etag')
  const { etag } = await read(alice, id)
  const lists = Array.from({ length: 16 }, (_, i) => [
    entry(alice, 'ADMIN'),
    ...(i % 2 === 0 ? [entry(bot, 'READ')] : [entry(bot, 'WRITE')]),
  ])
  const answers = await Promise.all(lists.map((entries) => put(id, etag, entries)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const refused = answers.filter(({ status }) => status === 409)
  expect(refused).toHaveLength(15)
  expect(await refused[0]?.json()).toMatchObject({ error: { code: 'etag_mismatch' } })
  const after = await read(alice, id)
  expect(after.etag).not.toBe(etag)
  expect(answers.find(({ status }) => status === 200)?.headers.get('etag')).toBe(after.etag)
  expect((await put(id, after.etag, [entry(alice, 'ADMIN')])).status).toBe(200)
})

it('logs one of sixteen changes of the ADMINs, and keeps list and signature equal', async () => {
  const id = await makeProject(alice, 'racing')
  const docs = await adminsDocs(alice, id, principals(alice, bot))
  const both = [entry(alice, 'ADMIN'), entry(bot, 'ADMIN')]
  const ended = await outcomes(Array.from({ length: 16 }, () => set(alice, id, both, { docs })))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'project_conflict']))
  const { signed, verified } = await readProject(alice, id)
  expect(signed.adminsChain).toHaveLength(1)
  expect(verified.payload.projectVersion).toBe(2)
  expect((await read(alice, id)).data).toEqual(byPrincipal(both))
})
