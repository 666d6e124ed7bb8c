import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asSuperuser } from '../../server/test/principals.ts'
import { sealNow } from '../../server/test/sealing.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a log that was not proven, a listing that ends after its first page, a follower that never says anything, a route that
// needs more rights than the caller has answered as a failure of the program; an id shown where the caller knows the name, two principals
// shown alike, names asked for by somebody who may not list them. Seen red: each of these three. Of the audit trail: one that was changed,
// cut or rewritten and is called whole, and one that is whole and is not. Seen red: only the first page read, the end never remembered.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await jsonOf(machine, ['vault', 'create', 'prod'])
  await jsonOf(machine, ['item', 'create', 'prod/stripe'])
})
afterAll(() => world.close())

it('verifies the log step by step, also with every document, and says what it is held against', async () => {
  const report = await jsonOf<{ steps: { step: string }[] }>(machine, ['verify', '--replay'])
  expect(report.steps.map(({ step }) => step)).toContain('replay')
  const shown = await machine.call(['verify'])
  expect(shown.stdout).toContain('The log is the one this machine knows.')
  expect(shown.code).toBe(0)
})

it('shows the head, entries and pinned keys', async () => {
  const head = await jsonOf<{ treeSize: number }>(machine, ['log', 'head'])
  const entries = await jsonOf<unknown[]>(machine, ['log', 'entries', '--limit', '1000'])
  expect(entries).toHaveLength(head.treeSize)
  expect((await machine.call(['log', 'head', '--note'])).stdout).toContain('— ')
  expect((await jsonOf<unknown[]>(machine, ['trust', 'list'])).length).toBeGreaterThan(0)
  expect(await jsonOf<{ trustAnchor: string }>(machine, ['trust', 'export'])).toMatchObject({
    trustAnchor: expect.stringMatching(/^vta1\./),
  })
  expect(await jsonOf<unknown[]>(machine, ['trust', 'alarms'])).toEqual([])
})

it('finds by misspelt name, and says calmly where there is nothing', async () => {
  expect(await jsonOf<{ path: string }[]>(machine, ['search', 'strype'])).toMatchObject([{ path: 'prod/stripe' }])
  const none = await machine.call(['search', 'zzzz'])
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'nothing found\n' })
})

it('shows activity, requests, audit and figures, filtered', async () => {
  const rows = await jsonOf<{ vault: string; who: string }[]>(machine, ['activity', 'prod', '--since', '1h'])
  expect(rows.length).toBeGreaterThanOrEqual(2)
  expect(new Set(rows.map(({ vault }) => vault))).toEqual(new Set(['prod']))
  const audit = await jsonOf<{ action: string }[]>(machine, ['audit', '--action', 'vault.create'])
  expect(audit).toHaveLength(1)
  const exported = await machine.call(['audit', '--export'])
  const lines = exported.stdout.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain('vault.create')
  await jsonOf(machine, ['logs', '--status', '2xx'])
  await jsonOf(machine, ['stats', '--window', '1h'])
  expect((await machine.call(['system', '--json'])).error()).toMatchObject({ code: 'not_signed_in', exitCode: 3 })
})

it('prints changes as they happen, a line of JSON each, and ends with its time', async () => {
  const following = machine.spawn(['activity', '--follow', '--json', '--timeout', '8s'])
  // It starts from what is newest when it begins: whatever is made until it says something is new to it or was before it.
  let isOver = false
  const ended = following.finally(() => {
    isOver = true
  })
  for (let i = 0; !isOver; i += 1) await machine.call(['item', 'create', `prod/follow-${i}`])
  const { stdout } = await ended
  const [first = ''] = stdout.split('\n')
  expect(JSON.parse(first)).toMatchObject({ type: 'activity', vault: 'prod' })
})

it('calls any route and every page of a list, and refuses what is no JSON', async () => {
  expect(await jsonOf(machine, ['api', 'GET', '/me'])).toMatchObject({ principal: { type: 'user' } })
  const all = await jsonOf<unknown[]>(machine, ['api', 'get', '/agent', '--paginate'])
  expect(all).toEqual([])
  expect((await machine.call(['api', 'POST', '/search', '--field', 'query:=nope', '--json'])).error().code).toBe(
    'usage',
  )
  expect((await machine.call(['api', 'GET', '/nowhere', '--json'])).code).toBe(5)
  // From where it is called, not from where this process runs.
  machine.file('body.json', '{"query":"stripe"}')
  const found = ['api', 'POST', '/search', '--input', 'body.json', '--json']
  expect((await machine.call(found)).stdout).toContain('stripe')
  for (const [input, code] of [
    ['none.json', 'file_unreadable'],
    ['broken.json', 'usage'],
  ] as const) {
    machine.file('broken.json', 'nope')
    expect((await machine.call(['api', 'POST', '/search', '--input', input, '--json'])).error().code).toBe(code)
  }
})

it('sends feedback of an agent without a credential in it', async () => {
  const leaky = await machine.call(['feedback', 'look at sra_abcdefghijklmnop', '--json'])
  expect(leaky.error()).toMatchObject({ code: 'feedback_contains_secret', exitCode: 6 })
})

it('shows who did and who signed something by name, and no two alike', async () => {
  await jsonOf(machine, ['agent', 'create', 'bot', '--vault', 'prod:write'])
  await machine.call(['set', 'prod/stripe/KEY', '--profile', 'bot'], { input: 'x' })
  const signed = /^signed by {2}bot \([a-z2-7]{32}\) ✓$/m
  expect((await machine.call(['item', 'show', 'prod/stripe'])).stdout).toMatch(signed)
  expect((await machine.call(['vault', 'show', 'prod'])).stdout).toMatch(signed)
  expect((await machine.call(['trust', 'list'])).stdout).toMatch(/^bot {2,}agent:agt_\w+:[a-z2-7]{32} {2}active/m)
  const change = ['audit', '--action', 'item.update']
  expect((await machine.call(change)).stdout).toMatch(/^\S+ {2}bot {2}item\.update/m)
  expect((await machine.call(['audit', '--action', 'org.setup'])).stdout).toMatch(
    /^\S+ {2}Alice@Example\.com {2}org\.setup/m,
  )
  expect((await machine.call(['audit', '--action', 'vault.create'])).stdout).toMatch(/vault\.create {2}prod /)
  expect((await machine.call(['audit', '--action', 'agent.create'])).stdout).toMatch(/agent\.create {2}bot /)
  const added = await machine.call(['audit', '--action', 'directory.key.add'])
  expect(added.stdout).toMatch(/directory\.key\.add {2}bot bot \([a-z2-7]{32}\) /)
  const proof = (await machine.call(['log', 'prove', 'prod/stripe/KEY'])).stdout
  expect(proof).toMatch(/^signed by +bot \([a-z2-7]{32}\) ✓\nvault +prod \(\w+\), version/m)

  // What an agent did stays its own when it has gone and another has its name.
  await jsonOf(machine, ['agent', 'archive', 'bot', '--yes'])
  expect((await machine.call(change)).stdout).toMatch(/^\S+ {2}bot {2}item\.update/m)
  await jsonOf(machine, ['agent', 'create', 'bot', '--vault', 'prod'])
  expect((await machine.call(change)).stdout).toMatch(/^\S+ {2}bot \(agent:agt_\w+\) {2}item\.update/m)
})

it('asks for no names that the caller may not list: the audit trail would have it as something that was tried', async () => {
  await jsonOf(machine, ['agent', 'create', 'reader', '--vault', 'prod'])
  const history = await machine.call(['item', 'history', 'prod/stripe', '--profile', 'reader'])
  expect(history.code).toBe(0)
  expect((await machine.call(['audit', '--profile', 'reader'])).stdout).toMatch(
    /^\S+ {2}reader {2}item\.versions\.read/m,
  )
  expect(await jsonOf<unknown[]>(machine, ['audit', '--refused', '--profile', 'reader'])).toEqual([])
})

interface Verdict {
  readonly entries: number
  readonly complete: boolean
  readonly head: { readonly position: number; readonly hash: string }
}

it('verifies the audit trail here, remembers its end, and names the first place that is broken', async () => {
  const { h, founder } = world
  const sql = (text: string) => asSuperuser(h, (client) => client.query(text))
  const of = `org_id = '${founder.orgId}'`
  // More than a page of them.
  await sql(`set session_replication_role = 'origin'; insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id)
    select '${founder.orgId}', 'aud_many' || n, 'vault.read', now(), 'user', 'user:usr_1', 'success', 'req_' || n
    from generate_series(1, 220) n`)
  await sealNow(h)
  const verify = ['audit', '--verify']
  const first = await jsonOf<Verdict>(machine, verify)
  expect(first).toMatchObject({ ok: true, complete: true, waiting: 0, remembered: null, first: { position: 1 } })
  expect(first.entries).toBeGreaterThan(220)
  expect(first.head.position).toBe(first.entries)
  const again = await machine.call(verify)
  expect(again.stdout).toContain(`The audit trail is whole: ${first.entries} entries, 20`)
  expect(again.stdout).toContain(`✓ Remembered  entry ${first.entries}, seen here on 20`)
  const part = await jsonOf<Verdict>(machine, [...verify, '--profile', 'reader'])
  expect(part).toMatchObject({ complete: false, remembered: null })
  expect(part.entries).toBeLessThan(first.entries)

  const broken = async () => (await machine.call([...verify, '--json'])).error()
  const file = join(machine.home, '.local', 'state', 'strongroom', 'audit', `${founder.orgId}.json`)
  const kept = readFileSync(file, 'utf8')
  writeFileSync(file, kept.replace(first.head.hash, '0'.repeat(64)))
  expect(await broken()).toMatchObject({
    ...{ code: 'audit_chain_broken', exitCode: 9, hint: expect.stringContaining(`rm ${file}`) },
    details: { problem: 'history_rewritten', position: first.entries },
  })
  writeFileSync(file, kept)
  const eventAt = (position: number) => `(select event_id from audit_seal where ${of} and position = ${position})`
  await sql(`update audit_event set actor_id = 'user:usr_2' where ${of} and event_id = ${eventAt(90)}`)
  expect(await broken()).toMatchObject({
    message: 'the audit trail is not whole, at entry 90: the entry is not the one that was sealed there',
    ...{ details: { problem: 'event_changed', position: 90, eventId: expect.any(String) } },
  })
  await sql(`with gone as (delete from audit_seal where ${of} and position = 30 returning event_id)
    delete from audit_event where ${of} and event_id in (select event_id from gone)`)
  expect(await broken()).toMatchObject({ exitCode: 9, details: { problem: 'position_missing', position: 30 } })
  expect((await machine.call([...verify, '--since', '1h', '--json'])).error()).toMatchObject({ code: 'usage' })
})
