import { Value } from 'typebox/value'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NameServer, startNameServer } from '../../server/test/name-server.ts'
import { commandAt } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// `domain check` against a name server that answers as it is told. Catches: a script that takes a difference for success, a table that
// does not say what was found, or who was asked. Seen red: exit code 0 for a difference, reasons and the resolver left out.

let world: World
let machine: Machine
let names: NameServer
beforeAll(async () => {
  names = await startNameServer()
  world = await startWorld({ dnsResolvers: [names.address] })
  machine = await world.founderMachine()
  const { domains } = world.founder.client
  await domains.add({ body: { domain: 'acme.dev', managed: true } })
  await domains.add({ body: { domain: 'empty.dev', managed: true } })
  await domains.add({ body: { domain: 'elsewhere.dev', managed: false } })
  const records = [
    { name: 'acme.dev', type: 'A' as const, content: '93.184.216.34' },
    { name: 'acme.dev', type: 'AAAA' as const, content: '2606:2800:0220::1' },
    { name: 'gone.acme.dev', type: 'A' as const, content: '93.184.216.34' },
  ]
  await domains.setRecords({ params: { domain: 'acme.dev' }, body: { records } })
})
afterAll(async () => {
  await world.close()
  names.close()
})

const lines = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' | '))

it('ends with 0 where all is the same, and says whom it asked', async () => {
  names.tell('acme.dev', ['93.184.216.34', '2606:2800:220::1'])
  const ended = await machine.call(['domain', 'check', 'acme.dev', '--type', 'AAAA'])
  expect(ended.code).toBe(0)
  expect(lines(ended.stdout)).toEqual([
    'NAME | TYPE | RESOLVER | EXPECTED | FOUND',
    'acme.dev | AAAA | ✓ same | 2606:2800:220::1 | –',
  ])
  expect(ended.stderr).toMatch(new RegExp(`^asked ${names.address} at \\d\\d:\\d\\d:\\d\\d\n$`))
})

it('ends with 12 where something differs or is missing, and shows what was found', async () => {
  names.tell('acme.dev', ['93.184.216.36', '2606:2800:220::1'])
  const ended = await machine.call(['domain', 'check', 'acme.dev'])
  expect(ended.code).toBe(12)
  expect(lines(ended.stdout).slice(1)).toEqual([
    'acme.dev | A | ✗ differs | 93.184.216.34 | 93.184.216.36',
    'acme.dev | AAAA | ✓ same | 2606:2800:220::1 | –',
    'gone.acme.dev | A | ✗ missing | 93.184.216.34 | NXDOMAIN',
  ])
})

it('prints the same as JSON, as its schema says', async () => {
  const ended = await machine.call(['domain', 'check', 'acme.dev', '--json'])
  expect([ended.code, ended.stderr]).toEqual([12, ''])
  const { data, meta } = ended.json()
  const { output } = await commandAt(['domain', 'check'])
  expect(output && [...Value.Errors(await output(), data)]).toEqual([])
  expect(meta).toEqual({ total: 3 })
  expect(data).toMatchObject({
    ...{ domain: 'acme.dev', resolvers: [names.address], unchecked: 0 },
    sets: [{ verdict: 'differs', found: ['93.184.216.36'] }, { verdict: 'same' }, { verdict: 'missing' }],
  })
})

it('has nothing to say against a domain without records, and refuses as the records do', async () => {
  const empty = await machine.call(['domain', 'check', 'empty.dev'])
  expect([empty.code, empty.stdout, empty.stderr]).toEqual([0, '', 'there are no records to check\n'])
  for (const [domain, code, exitCode] of [
    ['localhost', 'invalid_domain', 6],
    ['nobody.dev', 'domain_not_found', 5],
    ['elsewhere.dev', 'domain_not_managed', 4],
  ] as const) {
    const ended = await machine.call(['domain', 'check', domain, '--json'])
    expect([ended.stdout, ended.error()]).toMatchObject(['', { code, exitCode }])
  }
})
