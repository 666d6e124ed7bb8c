import { afterAll, beforeAll, expect, it } from 'vitest'
import { giveLicense, takeChargeTurns } from '../../server/test/money/charge-world.ts'
import { fundCredit } from '../../server/test/operator.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Credit, budgets and domains at the command line. Catches: an amount that is read or shown wrong, a budget without a limit, one that is
// ended in passing, refusals without their exit codes; a record that is set at the cost of another, money missing in what happened.
// Seen red: fractions not filled up, small units not shown, an end that does not ask, records of other names left out, case of a name
// counted, movements of credit left out; ids where whoever is limited has a name, and budgets that only an id finds.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['agent', 'create', 'checkout-bot', '--yes'])
  await fundCredit(world.h, world.founder.orgId, 25_500_001n)
})
afterAll(() => world.close())

const refused = async (args: readonly string[], code: string, exitCode: number) => {
  const ended = await machine.call([...args, '--json'])
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended.error()
}

it('shows the credit and where it came from, to the last micro-unit', async () => {
  expect((await machine.call(['billing', 'balance'])).stdout).toMatch(/available +25\.500001 USD/)
  expect(await jsonOf(machine, ['billing', 'balance'])).toMatchObject({
    available: { amount: '25500001', currency: 'USD', scale: 6 },
  })
  const [only, ...others] = await jsonOf<{ type: string; amount: { amount: string } }[]>(machine, [
    'billing',
    'transactions',
  ])
  expect(only).toMatchObject({ type: 'funding', amount: { amount: '25500001' } })
  expect(others).toEqual([])
  expect((await machine.call(['billing', 'transactions'])).stdout).toContain('funding')
})

it('says what is missing for a purchase', async () => {
  const { ready, checks } = await jsonOf<{ ready: boolean; checks: { code: string; ok: boolean }[] }>(machine, [
    'billing',
    'readiness',
  ])
  expect(ready).toBe(checks.every(({ ok }) => ok))
  expect((await machine.call(['billing', 'readiness'])).stdout).toContain('✓ There is credit.')
})

interface Shown {
  readonly budgetId: string
  readonly status: string
  readonly activeWindows: readonly { readonly kind: string; readonly limit: { readonly amount: string } }[]
}

it('limits an agent by name, changes the limit, and ends it when asked twice', async () => {
  const made = await jsonOf<Shown>(machine, ['budget', 'create', 'checkout-bot', '--daily', '20', '--total', '100.5'])
  expect(made.activeWindows.map(({ kind, limit }) => `${kind} ${limit.amount}`)).toEqual([
    'daily 20000000',
    'total 100500000',
  ])
  expect((await machine.call(['budget', 'list'])).stdout).toMatch(/^agent checkout-bot +daily 0\.00 USD of 20\.00 USD/m)
  const changed = await jsonOf<Shown>(machine, ['budget', 'update', 'checkout-bot', '--daily', '50'])
  expect(changed.activeWindows.map(({ kind, limit }) => `${kind} ${limit.amount}`)).toEqual(['daily 50000000'])
  await refused(['budget', 'end', made.budgetId], 'confirmation_required', 2)
  const second = await jsonOf<Shown>(machine, ['budget', 'create', 'checkout-bot', '--total', '7'])
  const { details } = await refused(['budget', 'end', 'checkout-bot', '--yes'], 'ambiguous_name', 5)
  expect(details).toEqual({ candidates: expect.arrayContaining([made.budgetId, second.budgetId]) })
  expect(await jsonOf<Shown>(machine, ['budget', 'end', made.budgetId, '--yes'])).toMatchObject({ status: 'archived' })
  expect(await jsonOf(machine, ['budget', 'end', 'checkout-bot', '--yes'])).toMatchObject({ budgetId: second.budgetId })
  await refused(['budget', 'end', 'checkout-bot', '--yes'], 'budget_not_found', 5)
})

it('limits people, tenants and the organisation by name', async () => {
  const { email } = world.founder
  const person = await jsonOf<Shown>(machine, ['budget', 'create', `user:${email}`, '--daily', '3'])
  await jsonOf(machine, ['budget', 'create', 'org', '--monthly', '500'])
  const shown = (await machine.call(['budget', 'list'])).stdout
  expect(shown).toMatch(/^the organisation +monthly/m)
  expect(shown).toMatch(new RegExp(`^user ${email} +daily`, 'm'))
  expect(await jsonOf(machine, ['budget', 'end', `user:${email}`, '--yes'])).toMatchObject({
    budgetId: person.budgetId,
  })
  await jsonOf(machine, ['budget', 'end', 'org', '--yes'])
  await refused(['budget', 'create', 'tenant:Nowhere', '--daily', '1'], 'tenant_not_found', 5)
})

it('refuses what makes no sense, and changes nothing', async () => {
  const before = await jsonOf<Shown[]>(machine, ['budget', 'list'])
  await refused(['budget', 'create', 'checkout-bot'], 'usage', 2)
  await refused(['budget', 'create', 'checkout-bot', '--daily', 'much'], 'usage', 2)
  await refused(['budget', 'create', 'checkout-bot', '--daily', '1.0000001'], 'usage', 2)
  await refused(['budget', 'create', 'nobody', '--daily', '1'], 'agent_not_found', 5)
  await refused(['budget', 'create', 'tenant:ten_nowhere', '--daily', '1'], 'budget_subject_not_found', 5)
  await refused(['budget', 'update', 'bud_nowhere', '--daily', '1'], 'budget_not_found', 5)
  expect(await jsonOf<Shown[]>(machine, ['budget', 'list'])).toEqual(before)
})

it('reads the records of a domain, and says what is none', async () => {
  await world.founder.client.domains.add({ body: { domain: 'acme.dev', managed: true } })
  const records = [{ name: 'acme.dev', type: 'MX' as const, content: 'mail.acme.dev', priority: 10 }]
  await world.founder.client.domains.setRecords({ params: { domain: 'acme.dev' }, body: { records } })
  expect((await machine.call(['domain', 'records', 'acme.dev'])).stdout).toMatch(
    /acme\.dev +MX +3600 +10 mail\.acme\.dev/,
  )
  expect(await jsonOf(machine, ['domain', 'records', 'acme.dev', '--type', 'A'])).toMatchObject({ records: [] })
  await refused(['domain', 'records', 'nobody.dev'], 'domain_not_found', 5)
  await refused(['domain', 'records', 'localhost'], 'invalid_domain', 6)
})

interface Zone {
  readonly records: readonly { readonly name: string; readonly type: string; readonly content: string }[]
}
const lines = ({ records }: Zone): string[] => records.map(({ name, type, content }) => `${name} ${type} ${content}`)

it('adds a domain, sets and removes records one name at a time, and leaves the others as they are', async () => {
  expect(await jsonOf(machine, ['domain', 'add', 'shop.dev'])).toMatchObject({ domain: 'shop.dev', managed: true })
  const record = ['domain', 'record']
  await jsonOf(machine, [...record, 'set', 'shop.dev', 'MX', 'mail.shop.dev', '--priority', '10', '--ttl', '300'])
  const two = await jsonOf<Zone>(machine, [...record, 'set', 'www.shop.dev', 'A', '192.0.2.1', '192.0.2.2'])
  expect(lines(two).sort()).toEqual([
    'shop.dev MX mail.shop.dev',
    'www.shop.dev A 192.0.2.1',
    'www.shop.dev A 192.0.2.2',
  ])
  await refused([...record, 'set', 'www.shop.dev', 'A', '192.0.2.3'], 'confirmation_required', 2)
  await jsonOf(machine, [...record, 'set', 'WWW.shop.dev.', 'A', '192.0.2.3', '192.0.2.4', '--yes'])
  await jsonOf(machine, [...record, 'rm', 'www.shop.dev', 'A', '192.0.2.3', '--yes'])
  const shown = await machine.call([...record, 'list', 'shop.dev'])
  expect(shown.stdout).toMatch(/shop\.dev +MX +300 +10 mail\.shop\.dev/)
  expect(lines(await jsonOf<Zone>(machine, ['domain', 'records', 'shop.dev'])).sort()).toEqual([
    'shop.dev MX mail.shop.dev',
    'www.shop.dev A 192.0.2.4',
  ])
  await refused([...record, 'rm', 'www.shop.dev', 'TXT', '--yes'], 'record_not_found', 5)
  await refused([...record, 'set', 'www.shop.dev', 'A', 'no-address', '--yes'], 'invalid_record', 6)
  await refused([...record, 'set', 'www.shop.dev', 'SOA', 'x'], 'usage', 2)
  await refused([...record, 'set', 'www.elsewhere.dev', 'A', '192.0.2.1'], 'domain_not_found', 5)
  expect(lines(await jsonOf<Zone>(machine, ['domain', 'records', 'shop.dev']))).toHaveLength(2)
})

it('lists the domains and removes one when asked twice', async () => {
  await jsonOf(machine, ['domain', 'add', 'known.dev', '--elsewhere'])
  expect((await machine.call(['domain', 'list'])).stdout).toMatch(/known\.dev +elsewhere/)
  await refused(['domain', 'add', 'known.dev'], 'domain_taken', 6)
  await refused(['domain', 'remove', 'known.dev'], 'confirmation_required', 2)
  await jsonOf(machine, ['domain', 'remove', 'known.dev', '--yes'])
  const left = await jsonOf<{ domain: string }[]>(machine, ['domain', 'list'])
  expect(left.map(({ domain }) => domain)).not.toContain('known.dev')
  await refused(['domain', 'remove', 'known.dev', '--yes'], 'domain_not_found', 5)
})

interface Happened {
  readonly kind: string
  readonly at: string
  readonly what: string
  readonly who: string
  readonly vault: string
  readonly subject: string
  readonly name: string
}

it('shows budgets and movements of credit among what happened, and nothing of them for one vault', async () => {
  await jsonOf(machine, ['vault', 'create', 'happening'])
  const all = await jsonOf<Happened[]>(machine, ['activity', '--since', '1h'])
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['vault', 'money']))
  const times = all.map(({ at }) => at)
  expect(times).toEqual([...times].sort().reverse())
  const money = await jsonOf<Happened[]>(machine, ['activity', '--kind', 'money'])
  expect(money.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['budget.create', 'domain.add', 'credit.funding 25.500001 USD']),
  )
  const budget = money.find(({ what }) => what === 'budget.create')
  expect(budget).toMatchObject({ who: 'Alice@Example.com', subject: expect.stringMatching(/^bud_/) })
  expect(budget?.name).toMatch(/^budget of (?:the organisation|agent \S+)$/)
  const one = await jsonOf<Happened[]>(machine, ['activity', 'happening'])
  expect(one.map(({ kind, vault }) => `${kind} ${vault}`)).toEqual(one.map(() => 'vault happening'))
  expect((await machine.call(['activity', '--kind', 'money'])).stdout).toContain('credit.funding 25.500001 USD')
  await refused(['activity', '--kind', 'money', '--follow'], 'usage', 2)
})

interface Charged {
  readonly status: string
  readonly total: { readonly amount: string }
  readonly licenses: readonly { readonly name: string; readonly lines?: readonly { readonly kind: string }[] }[]
}

it('shows what licences cost in a month, by licence and by day', async () => {
  const { orgId, tenantId } = world.founder
  const startsAt = world.h.deps.now()
  for (const amount of [3_000_000n, 1_500_000n])
    await giveLicense(world.h, { orgId, tenantId, buyer: 'agent:x', startsAt, endsAt: null, amount })
  await takeChargeTurns(world.h)
  const month = await jsonOf<Charged>(machine, ['billing', 'charges'])
  expect([month.status, month.total.amount, month.licenses.length]).toEqual(['open', '4500000', 2])
  const days = await jsonOf<Charged>(machine, ['billing', 'charges', '--lines', '--license', 'mail-pro'])
  expect(days.licenses.flatMap(({ lines = [] }) => lines.map(({ kind }) => kind))).toEqual(['setup', 'setup'])
  const none = await jsonOf<Charged>(machine, ['billing', 'charges', '--license', 'another'])
  expect([none.licenses, none.total.amount]).toEqual([[], '0'])
  const shown = await machine.call(['billing', 'charges'])
  expect(shown.stdout).toMatch(/Mail +lic_\S+ +3\.00 USD/)
  expect(shown.stderr).toContain('(open): 4.50 USD')
  await refused(['billing', 'charges', '--month', '2026-13'], 'usage', 2)
})
