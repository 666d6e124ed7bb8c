import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { CheckedSet } from '@strongroom/contract'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { type NameServer, startNameServer } from '../../../test/name-server.ts'
import { codeOf, foundOrg, refusal } from '../../../test/people.ts'
import { type PowerDnsServer, startPowerDns, whyNoPowerDns } from '../../../test/power-dns/power-dns.ts'
import { freePort } from '../../../test/process.ts'
import { type Config, readConfig } from '../../config.ts'
import { inOrg } from '../../context.ts'
import { makePowerDns } from './power-dns.ts'
import type { ZoneRecord } from './records.ts'

// What a resolver answers beside what is kept here. Catches: two ways of writing one value taken for two values, a value too many taken
// for the same, a name that is gone taken for a resolver that is silent, a check without an end, addresses inside told to whoever claims
// a name, control characters passed on.
// Seen red: case of names, long addresses, priorities, flags and pieces of text not brought into one form, a value too many taken for the
// same, NXDOMAIN taken for no answer, disabled records checked, no end and no most of sets, values and characters, an address inside told,
// control characters as they are, no limit of checks and one for all callers, a check in the audit log, a domain that is not managed.

const RECORDS = [
  { name: 'acme.dev', type: 'A', content: '93.184.216.34' },
  { name: 'acme.dev', type: 'A', content: '93.184.216.35' },
  { name: 'acme.dev', type: 'AAAA', content: '2606:2800:0220:0001:0248:1893:25C8:1946' },
  { name: 'acme.dev', type: 'MX', content: 'Mail.ACME.dev.', priority: 10 },
  { name: 'acme.dev', type: 'CAA', content: '0 ISSUE "letsencrypt.org"' },
  { name: 'acme.dev', type: 'TXT', content: `v=spf1 "quoted" \\ ü ${'x'.repeat(300)} -all` },
  { name: 'www.acme.dev', type: 'CNAME', content: 'ACME.dev' },
  { name: 'part.acme.dev', type: 'NS', content: 'ns.elsewhere.dev' },
  { name: '_sip._tcp.acme.dev', type: 'SRV', content: '5 5060 SIP.acme.dev.', priority: 1 },
] as const

const served = (records: readonly object[]): ZoneRecord[] =>
  records.map((record) => ({ ttl: 60, priority: null, disabled: false, comment: null, ...record }) as ZoneRecord)

const SERVED = served([
  ...RECORDS.slice(0, 2).toReversed(),
  { name: 'acme.dev', type: 'AAAA', content: '2606:2800:220:1:248:1893:25c8:1946' },
  { name: 'acme.dev', type: 'MX', content: 'mail.acme.dev', priority: 10 },
  { name: 'acme.dev', type: 'CAA', content: '0 issue "letsencrypt.org"' },
  RECORDS[5],
  { name: 'www.acme.dev', type: 'CNAME', content: 'acme.dev' },
  RECORDS[7],
  { name: '_sip._tcp.acme.dev', type: 'SRV', content: '5 5060 sip.acme.dev', priority: 1 },
])

interface World {
  readonly h: Harness
  readonly alice: FirstPerson
  readonly agent: TestAgent
}

async function startWorld(config: Partial<Config>, records: readonly object[] = RECORDS): Promise<World> {
  const h = await startHarness(config)
  const alice = await foundOrg(h)
  await alice.client.domains.add({ body: { domain: 'acme.dev', managed: true } })
  await alice.client.domains.setRecords({ params: { domain: 'acme.dev' }, body: { records: records as never } })
  return { h, alice, agent: await h.agent(alice, ['machine.domain.read']) }
}

type Query = Parameters<TestAgent['client']['domains']['check']>[0]['query']
const check = ({ client }: Pick<TestAgent, 'client'>, more: Partial<Query> = {}) =>
  client.domains.check({ query: { domain: 'acme.dev', ...more } })
const verdicts = ({ sets }: { readonly sets: readonly CheckedSet[] }): string[] =>
  sets.map(({ name, type, verdict, reason }) => [name, type, verdict, reason ?? ''].join(' ').trim())

describe('with a name server that others answer for', () => {
  let world: World
  let names: NameServer
  beforeAll(async () => {
    names = await startNameServer()
    world = await startWorld({ dnsResolvers: [names.address] }, [
      { name: 'acme.dev', type: 'A', content: '93.184.216.34' },
      { name: 'acme.dev', type: 'TXT', content: 'v=spf1 -all' },
      { name: 'gone.acme.dev', type: 'A', content: '93.184.216.34' },
    ])
  })
  afterAll(async () => {
    await world.h.close()
    names.close()
  })

  it('says what is the same, what differs and what is missing, whom it asked and when', async () => {
    const { agent } = world
    names.tell('acme.dev', ['93.184.216.34'])
    const answer = await check(agent, { domain: 'www.ACME.dev.' })
    expect(answer).toMatchObject({ domain: 'acme.dev', serial: 2, resolvers: [names.address], unchecked: 0 })
    expect(Math.abs(Date.parse(answer.checkedAt) - Date.now())).toBeLessThan(60_000)
    expect(verdicts(answer)).toEqual([
      'acme.dev A same',
      'acme.dev TXT missing NODATA',
      'gone.acme.dev A missing NXDOMAIN',
    ])
    names.tell('acme.dev', ['93.184.216.34', '93.184.216.36'])
    const [tooMany, ...others] = (await check(agent, { type: 'A', name: 'acme.dev' })).sets
    expect(tooMany).toMatchObject({ verdict: 'differs', expected: ['93.184.216.34'], foundTotal: 2 })
    expect(tooMany?.found.toSorted()).toEqual(['93.184.216.34', '93.184.216.36'])
    expect(others).toEqual([])
  })

  it('does not tell an address inside that nobody expected', async () => {
    names.tell('acme.dev', ['10.0.0.5', '93.184.216.36'])
    const [set] = (await check(world.agent, { type: 'A' })).sets
    expect(set?.verdict).toBe('differs')
    expect(set?.found.toSorted()).toEqual(['93.184.216.36', 'private address'])
  })

  it('changes nothing, and leaves no trace in the audit log', async () => {
    const { h, alice, agent } = world
    const state = () =>
      inOrg(h.deps, alice.orgId, (db) =>
        Promise.all([
          db.selectFrom('domain').selectAll().execute(),
          db.selectFrom('dns_record').selectAll().orderBy('position').execute(),
          db.selectFrom('audit_event').selectAll().execute(),
        ]),
      )
    const before = await state()
    await check(agent)
    expect(await state()).toEqual(before)
  })

  it('refuses as the records do, and does not exist for another organisation or without the permission', async () => {
    const { h, alice, agent } = world
    await alice.client.domains.add({ body: { domain: 'elsewhere.dev', managed: false } })
    expect(await codeOf(check(agent, { domain: 'localhost' }))).toBe('invalid_domain')
    expect(await codeOf(check(agent, { domain: 'nobody.dev' }))).toBe('domain_not_found')
    expect(await codeOf(check(agent, { domain: 'elsewhere.dev' }))).toBe('domain_not_managed')
    const asked = names.asked('acme.dev')
    const foreign = await h.agent(await h.org('other'), ['machine.domain.read'])
    expect(await refusal(check(foreign))).toMatchObject({ status: 404, code: 'domain_not_found' })
    const without = await h.agent(alice, ['machine.vault.read'])
    expect(await refusal(check(without))).toMatchObject({ status: 403, code: 'machine_permission_denied' })
    expect(names.asked('acme.dev')).toBe(asked)
  })

  it('is slowed down for one caller, and not for another', async () => {
    const { h, alice } = world
    const [eager, other] = [
      await h.agent(alice, ['machine.domain.read']),
      await h.agent(alice, ['machine.domain.read']),
    ]
    for (let i = 0; i < 10; i += 1) await check(eager, { type: 'A' })
    expect(await refusal(check(eager))).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 3 })
    await check(other)
    h.advance(3000)
    await check(eager)
  })

  it('asks about 200 sets and says how many are left', async () => {
    const { alice, agent } = world
    const records = Array.from({ length: 203 }, (_, i) => ({
      ...{ name: `n${i}.many.dev`, type: 'A' as const, content: '93.184.216.34' },
    }))
    await alice.client.domains.add({ body: { domain: 'many.dev', managed: true } })
    await alice.client.domains.setRecords({ params: { domain: 'many.dev' }, body: { records } })
    const { sets, unchecked } = await check(agent, { domain: 'many.dev' })
    expect([sets.length, unchecked]).toEqual([200, 3])
    expect(sets[199]).toMatchObject({ name: 'n199.many.dev', verdict: 'missing' })
  })
})

describe('with a resolver that is not there', () => {
  it('says that nobody listens', async () => {
    const world = await startWorld({ dnsResolvers: [`127.0.0.1:${await freePort()}`] })
    const { sets } = await check(world.agent)
    expect(new Set(sets.map(({ verdict, reason }) => `${verdict} ${reason}`))).toEqual(
      new Set(['no_answer unreachable']),
    )
    await world.h.close()
  })

  it('ends in time where nothing is answered, however much there is to ask', async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1')
    await once(silent, 'listening')
    const records = Array.from({ length: 60 }, (_, i) => ({ name: `n${i}.acme.dev`, type: 'A', content: '1.1.1.1' }))
    const world = await startWorld({ dnsResolvers: [`127.0.0.1:${silent.address().port}`] }, records)
    const { sets } = await check(world.agent)
    expect(sets).toHaveLength(60)
    expect(new Set(sets.map(({ verdict, reason }) => `${verdict} ${reason}`))).toEqual(new Set(['no_answer timeout']))
    await world.h.close()
    silent.close()
  })

  it.each(['dns.example.com', '10.0.0.1:x', '10.0.0', '[::1'])('does not start with %s for a resolver', (text) => {
    expect(() => readConfig({ STRONGROOM_DNS_RESOLVER: `10.0.0.1, ${text}` }, [])).toThrow('STRONGROOM_DNS_RESOLVER')
  })

  it('has the resolvers it is given, or else the name servers of the server', () => {
    const NAME_SERVERS = { STRONGROOM_NAME_SERVERS: '10.1.0.53' }
    const resolversOf = (env: object) => readConfig({ ...env }, []).dnsResolvers
    expect(resolversOf({ ...NAME_SERVERS, STRONGROOM_DNS_RESOLVER: '1.1.1.1, [2606::1]:53' })).toEqual([
      '1.1.1.1',
      '[2606::1]:53',
    ])
    expect(resolversOf(NAME_SERVERS)).toEqual(['10.1.0.53'])
    expect(resolversOf({})).toEqual([])
  })
})

const reason = whyNoPowerDns()
if (reason) console.log(`skipped: checks of domains with PowerDNS: ${reason}`)

describe.skipIf(reason !== undefined)('with PowerDNS', () => {
  let powerDns: PowerDnsServer
  let world: World
  const serve = (records: readonly ZoneRecord[]) =>
    makePowerDns(powerDns.config).replace('acme.dev', records, () => undefined)
  const without = (type: string) => SERVED.filter((record) => record.type !== type)

  beforeAll(async () => {
    powerDns = await startPowerDns()
    await powerDns.makeZone('acme.dev')
    world = await startWorld({ dnsResolvers: [powerDns.address] })
  })
  // Enough for the caller to be let in again.
  beforeEach(() => world.h.advance(30_000))
  afterAll(async () => {
    await world.h.close()
    await powerDns.stop()
  })

  it('finds every type the same, however it is written', async () => {
    await serve(SERVED)
    const answer = await check(world.agent)
    // A delegation: who is asked for it refers to another.
    const others = answer.sets.filter(({ type }) => type !== 'NS')
    expect(others.map(({ type, verdict }) => `${type} ${verdict}`)).toEqual([
      ...['A same', 'AAAA same', 'MX same', 'CAA same', 'TXT same', 'CNAME same', 'SRV same'],
    ])
    expect(answer.sets.find(({ type }) => type === 'SRV')).toMatchObject({
      expected: ['1 5 5060 sip.acme.dev'],
      found: ['1 5 5060 sip.acme.dev'],
    })
  })

  it.each([
    ['A', '93.184.216.34', null, '93.184.216.34'],
    ['AAAA', '2606:2800::1', null, '2606:2800::1'],
    ['MX', 'mail.acme.dev', 20, '20 mail.acme.dev'],
    ['CAA', '128 issue "letsencrypt.org"', null, '128 issue "letsencrypt.org"'],
    ['TXT', 'V=SPF1', null, 'V=SPF1'],
    ['TXT', '\u001b[31mred\u202e\r\n', null, '\\u001b[31mred\\u202e\\u000d\\u000a'],
    ['TXT', 'y'.repeat(600), null, `${'y'.repeat(500)}…`],
  ])('finds that %s differs where %j is served', async (type, content, priority, shown) => {
    await serve([...without(type), ...served([{ name: 'acme.dev', type, content, priority }])])
    const [set] = (await check(world.agent, { type: type as 'A' })).sets
    expect(set).toMatchObject({ verdict: 'differs', found: [shown], foundTotal: 1, reason: null })
  })

  it('shows a few of very many', async () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ name: 'acme.dev', type: 'A', content: `93.184.217.${i}` }))
    await serve([...without('A'), ...served(many)])
    const [set] = (await check(world.agent, { type: 'A' })).sets
    expect([set?.verdict, set?.found.length, set?.foundTotal]).toEqual(['differs', 16, 40])
  })

  it('finds missing what was taken out, with its name or without', async () => {
    await serve(SERVED.filter(({ type }) => type !== 'MX' && type !== 'CNAME'))
    expect(verdicts(await check(world.agent, { type: 'MX' }))).toEqual(['acme.dev MX missing NODATA'])
    expect(verdicts(await check(world.agent, { type: 'CNAME' }))).toEqual(['www.acme.dev CNAME missing NXDOMAIN'])
  })

  it('says where a name server does not answer for a domain', async () => {
    const { alice, agent } = world
    const records = [{ name: 'strange.dev', type: 'A' as const, content: '93.184.216.34' }]
    await alice.client.domains.add({ body: { domain: 'strange.dev', managed: true } })
    await alice.client.domains.setRecords({ params: { domain: 'strange.dev' }, body: { records } })
    expect(verdicts(await check(agent, { domain: 'strange.dev' }))).toEqual(['strange.dev A no_answer REFUSED'])
  })

  it('takes what is expected from PowerDNS where records lie there, but for those that are disabled', async () => {
    const own = await startWorld({ powerDns: powerDns.config, dnsResolvers: [powerDns.address] }, [])
    await serve([
      ...SERVED.filter(({ name }) => !name.startsWith('part.')),
      ...served([{ name: 'off.acme.dev', type: 'A', content: '93.184.216.34', disabled: true }]),
      ...served([{ name: 'acme.dev', type: 'A', content: '93.184.216.39', disabled: true }]),
    ])
    const answer = await check(own.agent)
    expect(answer.sets.filter(({ verdict }) => verdict !== 'same')).toEqual([])
    expect(answer.sets.map(({ type }) => type).toSorted()).toEqual([
      ...['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'],
    ])
    const wrongKey = await startHarness({ powerDns: { ...powerDns.config, key: 'another' } })
    const bob = await foundOrg(wrongKey)
    await bob.client.domains.add({ body: { domain: 'acme.dev', managed: true } })
    const agent = await wrongKey.agent(bob, ['machine.domain.read'])
    expect(await refusal(check(agent))).toMatchObject({ status: 503, code: 'dns_unavailable' })
    for (const { h } of [own, { h: wrongKey }]) await h.close()
  })
})
