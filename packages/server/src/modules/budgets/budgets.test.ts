import { type Budget, type BudgetRule, money } from '@strongroom/contract'
import type { FirstPerson } from '@strongroom/sdk'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { budgetPlays, playBudgets } from '../../../test/money/budget-model.ts'
import { plantBudget } from '../../../test/money/plant-budget.ts'
import { codeOf, foundOrg, refusal } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { budgetDifferences, refund, reserve, type Subject, settle } from './reserve.ts'

// Catches: more than a window's limit promised to many at once, a budget that one level forgets, spending that is counted in another
// window than it was promised in, a threshold told twice, a budget that is seen or set by whoever may not, one of somebody who is gone that
// nobody can end.
// Seen red: windows not locked (the race), a refund that counts twice, a threshold told again, anybody who sets what they see, a tenant
// above that is forgotten. The second book: a settlement that a rolling window does not learn of, months that begin too late, a threshold
// told twice, a refund that counts twice; and in `npm run test:money` a rolling window that is longer by its first instant. Time zones: the
// abbreviations of JavaScript taken; those of a budget not kept. Moments: the pattern left out, and one that takes the edges of time in any zone. Subjects that are gone: looked for before a change; told to
// everybody. Ends: one that is over taken, at creation and at a change; one that the budget had refused when it is over.

let h: Harness
let alice: FirstPerson
let agent: TestAgent
let manager: TestAgent
let neighbour: TestAgent
let foreign: TestAgent
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  const all = ['machine.budget.all']
  agent = await h.agent(alice, all)
  manager = await h.agent(alice, all, ['TENANT_BUDGET_MANAGER'])
  const { tenantId } = await alice.client.tenants.create({ body: { name: 'next door', parentId: alice.tenantId } })
  neighbour = await h.agent({ orgId: alice.orgId, tenantId }, all, ['TENANT_BUDGET_MANAGER'])
  foreign = await h.agent(await h.org('other'), all, ['TENANT_BUDGET_MANAGER'])
})
afterAll(() => h.close())

type Caller = Pick<TestAgent, 'client'>
const limit = (kind: BudgetRule['kind'], amount: bigint, more: Partial<BudgetRule> = {}): BudgetRule => ({
  kind,
  limit: money(amount),
  ...more,
})
interface More {
  readonly by?: Caller
  readonly enforcement?: 'hard' | 'notify'
  readonly perTransactionLimit?: ReturnType<typeof money>
  readonly thresholds?: number[]
  readonly countFrom?: 'creation' | 'window_start'
}
const make = ({ type, id }: Subject, windows: BudgetRule[], { by = alice, ...more }: More = {}): Promise<Budget> =>
  by.client.budgets.create({ body: { subjectType: type, subjectId: id, windows, ...more } })

let owners = 0
const nextOwner = (): string => {
  owners += 1
  return `purchase:${owners}`
}
const inBook = <T>(work: (db: Parameters<typeof reserve>[0]) => Promise<T>): Promise<T> =>
  inOrg(h.deps, alice.orgId, work)
const hold = (subjects: readonly Subject[], amount: bigint, owner = nextOwner(), at = h.deps.now()) =>
  inBook((db) => reserve(db, alice.orgId, { owner, amount, subjects }, at)).then((reached) => ({ owner, reached }))
const someone = (type: Subject['type'] = 'agent'): Subject => ({ type, id: h.deps.newId('agt') })
/** A budget of somebody who is nobody else, put there by hand. */
async function budgetOf(windows: BudgetRule[], more: More = {}): Promise<{ subject: Subject; budget: Budget }> {
  const { agentId } = await h.agent(alice, [])
  const subject: Subject = { type: 'agent', id: agentId }
  return { subject, budget: await make(subject, windows, more) }
}
const read = async (id: string, { client }: Caller = alice): Promise<Budget | undefined> =>
  (await client.budgets.list()).data.find(({ budgetId }) => budgetId === id)
const used = async (id: string): Promise<readonly string[]> =>
  ((await read(id))?.activeWindows ?? []).map(({ reserved, spent }) => `${reserved.amount}+${spent.amount}`)
const differences = () => inBook((db) => budgetDifferences(db, alice.orgId))

it('promises to two hundred who ask at once exactly what there is room for, on whatever level that is', async () => {
  for (const level of ['org', 'tenant', 'user', 'agent'] as const) {
    const levels: Subject[] = (['org', 'tenant', 'user', 'agent'] as const).map((type) => someone(type))
    const narrow = levels.find(({ type }) => type === level) as Subject
    for (const subject of levels) await plant(subject, subject === narrow ? 100n : 100_000n)
    const asked = await Promise.allSettled(Array.from({ length: 200 }, () => hold(levels, 10n)))
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    for (const one of asked)
      if (one.status === 'rejected')
        expect(one.reason).toMatchObject({ code: 'budget_exceeded', details: { subjectType: level, remaining: '0' } })
  }
  expect(await differences()).toEqual([])
})

/** Of a subject that does not exist. */
const plant = (subject: Subject, limit: bigint): Promise<void> =>
  inBook((db) =>
    plantBudget(db, {
      ...{ orgId: alice.orgId, budgetId: h.deps.newId('bud'), subject, rules: [{ kind: 'total', limit }] },
      at: h.deps.now(),
    }),
  )

it('agrees with a second book after any sequence of promises, settlements and refunds', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(budgetPlays, (play) => playBudgets(h, play)),
    { numRuns: 60, endOnFailure: true },
  )
})

it('counts in the window where it was promised: what was not spent is free there, a refund comes back there', async () => {
  const { subject, budget } = await budgetOf([limit('daily', 100n), limit('total', 150n)])
  const yesterday = new Date(h.deps.now().getTime() - 86_400_000)
  const { owner } = await hold([subject], 80n, nextOwner(), yesterday)
  expect(await used(budget.budgetId)).toEqual(['0+0', '80+0'])
  await expect(hold([subject], 30n, nextOwner(), yesterday)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await expect(hold([subject], 71n)).rejects.toMatchObject({ code: 'budget_exceeded' })
  const end = (spent: bigint) => inBook((db) => settle(db, alice.orgId, owner, spent, h.deps.now()))
  await end(60n)
  await end(60n)
  await expect(end(61n)).rejects.toThrow('cannot be settled')
  expect(await used(budget.budgetId)).toEqual(['0+0', '0+60'])
  // Of yesterday 40 are free again, and all of today.
  await hold([subject], 40n, nextOwner(), yesterday)
  await hold([subject], 50n)
  expect(await used(budget.budgetId)).toEqual(['50+0', '90+60'])
  const giveBack = (name: string, amount: bigint) =>
    inBook((db) => refund(db, alice.orgId, { owner, name, amount }, h.deps.now()))
  for (let i = 0; i < 3; i++) await giveBack('refund:1', 25n)
  expect(await used(budget.budgetId)).toEqual(['50+0', '90+35'])
  await expect(giveBack('refund:2', 36n)).rejects.toThrow('more is given back')
  await hold([subject], 25n, nextOwner(), yesterday)
  await expect(hold([subject], 1n, nextOwner(), yesterday)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(await differences()).toEqual([])
})

it('frees what comes to nothing, and takes the same owner for the same promise', async () => {
  const { subject, budget } = await budgetOf([limit('monthly', 100n, { anchorDay: 31 })])
  const { owner } = await hold([subject], 100n)
  expect((await hold([subject], 100n, owner)).reached).toEqual([])
  await expect(hold([subject], 90n, owner)).rejects.toThrow('has reserved before')
  await inBook((db) => settle(db, alice.orgId, owner, 0n, h.deps.now()))
  expect(await used(budget.budgetId)).toEqual(['0+0'])
})

it('looks back over a rolling window from every moment', async () => {
  const { subject, budget } = await budgetOf([limit('rolling', 100n, { duration: 'PT24H' })])
  const at = (hours: number): Date => new Date(h.deps.now().getTime() + hours * 3_600_000)
  await hold([subject], 60n, nextOwner(), at(0))
  await hold([subject], 40n, nextOwner(), at(5))
  await expect(hold([subject], 1n, nextOwner(), at(23))).rejects.toMatchObject({ code: 'budget_exceeded' })
  await hold([subject], 60n, nextOwner(), at(24))
  await expect(hold([subject], 1n, nextOwner(), at(28))).rejects.toMatchObject({ code: 'budget_exceeded' })
  await hold([subject], 40n, nextOwner(), at(29))
  expect((await read(budget.budgetId))?.activeWindows).toMatchObject([
    { kind: 'rolling', endsAt: null, resetsAt: null },
  ])
})

it('tells each threshold of a window once, whoever of many reaches it', async () => {
  const { subject, budget } = await budgetOf([limit('total', 100n)], { thresholds: [100, 50] })
  const holds = await Promise.all(Array.from({ length: 10 }, () => hold([subject], 10n)))
  const told = holds.flatMap(({ reached }) => reached.map(({ threshold }) => threshold))
  expect(told.sort((a, b) => a - b)).toEqual([50, 100])
  expect((await read(budget.budgetId))?.activeWindows[0]?.thresholdsReached).toEqual([50, 100])
})

it('never blocks where it only notifies, and refuses what is too much at once', async () => {
  const soft = await budgetOf([limit('daily', 10n)], { enforcement: 'notify' })
  await hold([soft.subject], 25n)
  expect((await read(soft.budget.budgetId))?.activeWindows[0]).toMatchObject({ remaining: money(0n) })
  const hard = await budgetOf([limit('daily', 100n)], { perTransactionLimit: money(20n) })
  await expect(hold([hard.subject], 21n)).rejects.toMatchObject({ code: 'budget_transaction_limit' })
  await hold([hard.subject], 20n)
})

it('counts from its creation, or from the start of its windows where that is asked for', async () => {
  const { subject, budget } = await budgetOf([limit('daily', 100n)])
  const { owner } = await hold([subject], 70n)
  const fromNow = await make(subject, [limit('daily', 100n)])
  const fromStart = await make(subject, [limit('daily', 100n), limit('rolling', 90n, { duration: 'P1D' })], {
    countFrom: 'window_start',
  })
  expect(await used(fromNow.budgetId)).toEqual(['0+0'])
  expect(await used(fromStart.budgetId)).toEqual(['70+0', '70+0'])
  await inBook((db) => settle(db, alice.orgId, owner, 50n, h.deps.now()))
  expect(await used(fromStart.budgetId)).toEqual(['0+50', '0+50'])
  expect(await used(budget.budgetId)).toEqual(['0+50'])
  expect(await differences()).toEqual([])
})

it('is changed at once: a lower limit leaves nothing, what is held stays held, a window keeps its count', async () => {
  const { subject, budget } = await budgetOf([limit('daily', 100n), limit('total', 500n)])
  const { owner } = await hold([subject], 80n)
  const params = { id: budget.budgetId }
  const lower = await alice.client.budgets.update({
    params,
    body: { version: 1, windows: [limit('total', 500n), limit('daily', 50n), limit('weekly', 10n)] },
  })
  expect(lower.version).toBe(2)
  expect(lower.activeWindows).toMatchObject([
    { kind: 'daily', reserved: money(80n), remaining: money(0n) },
    { kind: 'total', reserved: money(80n) },
    { kind: 'weekly', reserved: money(0n), remaining: money(10n) },
  ])
  expect(await codeOf(alice.client.budgets.update({ params, body: { version: 1, name: 'late' } }))).toBe(
    'budget_conflict',
  )
  await inBook((db) => settle(db, alice.orgId, owner, 80n, h.deps.now()))
  const archived = await alice.client.budgets.update({
    params,
    body: { status: 'archived', windows: [limit('daily', 50n)] },
  })
  expect(archived).toMatchObject({ status: 'archived', activeWindows: [{ kind: 'daily', spent: money(80n) }] })
  await hold([subject], 1000n)
})

it('is seen by whom it applies to and by who manages it, and does not exist for others', async () => {
  const own = await make({ type: 'agent', id: agent.agentId }, [limit('daily', 5n)])
  const ofTenant = await make({ type: 'tenant', id: alice.tenantId }, [limit('daily', 5n)], { by: manager })
  const ofOrg = await make({ type: 'org', id: alice.orgId }, [limit('daily', 5n)])
  const seen = async (caller: Caller): Promise<readonly boolean[]> =>
    Promise.all([own, ofTenant, ofOrg].map(async ({ budgetId }) => (await read(budgetId, caller)) !== undefined))
  expect(await seen(alice)).toEqual([true, true, true])
  expect(await seen(agent)).toEqual([true, true, true])
  expect(await seen(manager)).toEqual([true, true, true])
  // A tenant below: what applies to the tenant above applies to it.
  expect(await seen(neighbour)).toEqual([false, true, true])
  expect(await seen(foreign)).toEqual([false, false, false])
  expect(await foreign.client.budgets.list({ query: { page: 1 } })).toMatchObject({ data: [], meta: { total: 0 } })
})

it('is set by who manages the subject alone; nothing changes otherwise', async () => {
  const budget = await make({ type: 'agent', id: agent.agentId }, [limit('daily', 5n)])
  const before = JSON.stringify(await read(budget.budgetId))
  const change = ({ client }: Caller) =>
    client.budgets.update({ params: { id: budget.budgetId }, body: { windows: [limit('daily', 5000n)] } })
  expect(await refusal(change(agent))).toMatchObject({ status: 403, code: 'role_required' })
  expect(await refusal(change(neighbour))).toMatchObject({ status: 404, code: 'budget_not_found' })
  expect(await refusal(change(foreign))).toEqual(await refusal(change(neighbour)))
  const mine = { type: 'agent', id: agent.agentId } as const
  const org = { type: 'org', id: alice.orgId } as const
  expect(await codeOf(make(mine, [limit('daily', 1n)], { by: agent }))).toBe('role_required')
  expect(await codeOf(make(org, [limit('daily', 1n)], { by: manager }))).toBe('role_required')
  for (const by of [neighbour, foreign])
    expect(await codeOf(make(mine, [limit('daily', 1n)], { by }))).toBe('budget_subject_not_found')
  expect(await codeOf(make({ type: 'agent', id: 'agt_0000000000000000000000' }, [limit('daily', 1n)]))).toBe(
    'budget_subject_not_found',
  )
  expect(JSON.stringify(await read(budget.budgetId))).toBe(before)
  expect((await change(manager)).activeWindows[0]?.limit).toEqual(money(5000n))
})

it.each([
  ['an anchor on a week', limit('weekly', 1n, { anchorDay: 3 }), 'anchorDay'],
  ['a rolling window without a length', limit('rolling', 1n), 'duration'],
  ['a rolling window of minutes', limit('rolling', 1n, { duration: 'PT0H' }), 'duration'],
  ['a rolling window of a year', limit('rolling', 1n, { duration: 'P365D' }), 'duration'],
  ['no time zone', limit('daily', 1n, { timezone: 'Mars/Olympus' }), 'timezone'],
  ['an offset', limit('daily', 1n, { timezone: '+02:00' }), 'timezone'],
  ['a zone that PostgreSQL does not have', limit('daily', 1n, { timezone: 'AET' }), 'timezone'],
  ['a zone without summer time in PostgreSQL', limit('weekly', 1n, { timezone: 'CET' }), 'timezone'],
  ['a zone that is two', limit('monthly', 1n, { timezone: 'IST' }), 'timezone'],
  [
    'an end before its start',
    limit('total', 1n, { startsAt: '2026-02-01T00:00:00Z', endsAt: '2026-01-01T00:00:00Z' }),
    'endsAt',
  ],
  ['an end that is over', limit('total', 1n, { endsAt: '2026-01-01T00:00:00Z' }), 'endsAt'],
] as const)('refuses %s and says where', async (_, window, member) => {
  const refused = await refusal(make({ type: 'agent', id: agent.agentId }, [limit('daily', 1n), window]))
  expect(refused).toMatchObject({ status: 422, code: 'budget_window_invalid', details: { window: 1, member } })
})

it('is given no window that is over, and keeps one that it had when that is over', async () => {
  const at = (minutes: number): string => new Date(h.deps.now().getTime() + minutes * 60_000).toISOString()
  const ending = limit('total', 100n, { endsAt: at(20) })
  const { budget } = await budgetOf([ending])
  const change = (windows: BudgetRule[]) =>
    alice.client.budgets.update({ params: { id: budget.budgetId }, body: { windows } })
  const before = JSON.stringify(await read(budget.budgetId))
  for (const endsAt of [at(-1), at(0)])
    expect(await refusal(change([ending, limit('total', 5n, { endsAt })]))).toMatchObject({
      ...{ status: 422, code: 'budget_window_invalid', details: { window: 1, member: 'endsAt' } },
    })
  expect(JSON.stringify(await read(budget.budgetId))).toBe(before)
  // Shorter than a session may be idle.
  h.advance(20 * 60_000)
  expect((await change([ending, limit('daily', 5n)])).activeWindows).toMatchObject([{ kind: 'daily' }])
})

it('is ended by who manages the organisation when its subject is gone, and told to nobody else', async () => {
  const { subject, budget } = await budgetOf([limit('total', 10n)])
  await alice.client.agents.archive({ params: { id: subject.id } })
  const end = ({ client }: Caller) =>
    client.budgets.update({ params: { id: budget.budgetId }, body: { status: 'archived' } })
  for (const by of [manager, neighbour, agent, foreign])
    expect(['budget_subject_not_found', 'budget_not_found']).toContain(await codeOf(end(by)))
  expect((await read(budget.budgetId))?.status).toBe('active')
  expect((await end(alice)).status).toBe('archived')
  const told = await inBook((db) =>
    db
      .selectFrom('outbox_event')
      .select(['principal', 'tenant_id'])
      .where('type', '=', 'budget.updated')
      .orderBy('seq')
      .execute(),
  )
  // The tenant is for who manages its budgets; nobody else there hears of it.
  expect(told.at(-1)).toEqual({ principal: `agent:${subject.id}`, tenant_id: alice.tenantId })
  expect(await codeOf(make(subject, [limit('total', 10n)]))).toBe('budget_subject_not_found')
})

it('takes every time zone that the server names, and UTC', async () => {
  const { subject, budget } = await budgetOf([limit('daily', 1n)])
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'Asia/Kolkata', 'US/Eastern', 'Etc/GMT+5']
  const params = { id: budget.budgetId }
  // As many windows as a budget may have.
  for (let i = 0; i < zones.length; i += 8) {
    const windows = zones.slice(i, i + 8).map((timezone) => limit('daily', 1n, { timezone }))
    await alice.client.budgets.update({ params, body: { windows } })
  }
  await expect(hold([subject], 2n)).rejects.toMatchObject({ code: 'budget_exceeded' })
})

it('keeps a time zone that a budget has had from before, and gives no other budget such a one', async () => {
  const { subject, budget } = await budgetOf([limit('daily', 100n)])
  await inBook((db) =>
    db.updateTable('budget_rule').set({ time_zone: 'CET' }).where('budget_id', '=', budget.budgetId).execute(),
  )
  await hold([subject], 60n)
  const windows = [limit('daily', 50n, { timezone: 'CET' })]
  const changed = await alice.client.budgets.update({ params: { id: budget.budgetId }, body: { windows } })
  expect(changed.activeWindows).toMatchObject([{ timezone: 'CET', limit: money(50n), reserved: money(60n) }])
  const before = (await alice.client.budgets.list()).data.length
  expect(await codeOf(make(subject, windows))).toBe('budget_window_invalid')
  expect((await alice.client.budgets.list()).data.length).toBe(before)
})

it.each([
  ...['2030-06-30T23:59:60Z', '2030-02-30T00:00:00Z', '2030-01-01T00:00:00Z[Europe/Berlin]'],
  ...['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00', '1970-01-01T00:00:00+01:00', '0001-01-01T00:00:00Z'],
])('takes no moment that is none, or that has no place in an answer: %s', async (moment) => {
  const subject: Subject = { type: 'agent', id: agent.agentId }
  for (const member of ['startsAt', 'endsAt'])
    expect(await codeOf(make(subject, [limit('total', 1n, { [member]: moment })]))).toBe('validation_failed')
})

it('takes the first and the last moment there is, and shows them', async () => {
  const subject: Subject = { type: 'agent', id: agent.agentId }
  const ends = { startsAt: '1970-01-01T00:00:00.000Z', endsAt: '9999-12-31T23:59:59.999Z' }
  const { budgetId } = await make(subject, [limit('total', 1n, ends)])
  const { data } = await alice.client.budgets.list()
  expect(data.find((one) => one.budgetId === budgetId)?.activeWindows).toMatchObject([ends])
})
