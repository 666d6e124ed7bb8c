import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  NotFoundError,
  PermissionDeniedError,
  SelfLockoutError,
  ValidationError,
} from '../../src/strongroom/public-errors.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// Catches: a grant that drops other entries, an item list without If-Match, pages that skip or repeat, a vault that is answered
// without its proof, a project whose admins change without a signature, another project than was asked for, feedback that carries
// a credential off this machine, an archived item that is looked for among the active ones, a version restored with fields missing or left
// over. Seen red: fields that a version did not have left in the item; one that it had left out; a version like the current one written;
// issues of a validation error without their texts; an answer whose body nobody can read any more; an item that has just been moved said to be a
// fault of the client.

let world: World
let alice: Strongroom
beforeAll(async () => {
  world = await startWorld()
  alice = world.alice
})
afterAll(() => world.close())

const own = () => `user:${world.founder.userId}`

it('creates, lists, gets, renames, archives and restores vaults, and says who signs and who can decrypt', async () => {
  const name = unique('vault')
  const bot = await world.agent('worker')
  const created = await alice.vaults.create({
    name,
    classification: 'restricted',
    access: [{ principal: bot.principal, role: 'READ' }],
  })
  expect(created).toMatchObject({ name, classification: 'restricted', role: 'ADMIN', itemCount: 0, rotationDue: null })
  expect(created.receipt).toMatchObject({ vaultId: created.vaultId, inclusion: 'verified' })
  const listed = (await alice.vaults.list()).find(({ vaultId }) => vaultId === created.vaultId)
  expect(listed).toMatchObject({ name, role: 'ADMIN' })
  expect(listed?.receipt).toBeUndefined()
  expect(await alice.vaults.update(name, { name: `${name}2`, classification: 'internal' })).toMatchObject({
    name: `${name}2`,
    classification: 'internal',
  })
  expect(await alice.vaults.signers(created.vaultId)).toMatchObject([
    { kid: world.founder.identity.kid, status: 'active' },
  ])
  const holders = await alice.vaults.holders(`${name}2`)
  expect(holders.map(({ principal, kind, role, keyIds }) => [principal, kind, role, keyIds.length])).toEqual([
    [bot.principal, 'agent', 'READ', 1],
    [own(), 'user', 'ADMIN', 1],
  ])
  await alice.vaults.archive(created.vaultId)
  expect(await alice.vaults.get(created.vaultId)).toMatchObject({ status: 'archived' })
  expect(await errorOf(alice.vaults.get(`${name}2`))).toBeInstanceOf(NotFoundError)
  expect(await errorOf(alice.vaults.update(created.vaultId, { name: 'no' }))).toMatchObject({
    name: 'ConflictError',
    code: 'vault_archived',
  })
  expect(await errorOf(alice.vaults.restore(name))).toBeInstanceOf(NotFoundError)
  expect(await alice.vaults.restore(`${name}2`)).toMatchObject({ vaultId: created.vaultId, status: 'active' })
  expect(await alice.vaults.get(`${name}2`)).toMatchObject({ vaultId: created.vaultId })
  expect(await errorOf(alice.vaults.restore(created.vaultId))).toMatchObject({ code: 'vault_not_archived' })
})

it('tells whoever moves an item that somebody else has just moved there that it is gone', async () => {
  const [from, to] = [unique('from'), unique('to')]
  for (const name of [from, to]) await alice.vaults.create({ name })
  await alice.items.create(from, { name: 'db', fields: [] })
  const { client, wire } = world.device()
  await client.items.get(from, 'db')
  wire.before = async (asked) => {
    if (!asked.startsWith('PATCH ') || !asked.includes('/vault-item/')) return
    wire.before = undefined
    await alice.items.move(from, 'db', { vault: to })
  }
  expect(await errorOf(client.items.move(from, 'db', { vault: to }))).toMatchObject({ code: 'vault_item_not_found' })
  expect(await alice.items.get(to, 'db')).toMatchObject({ name: 'db' })
})

it('creates, imports, lists, gets, updates, moves, archives and restores items', async () => {
  const [from, to] = [unique('from'), unique('to')]
  await alice.vaults.create({ name: from })
  await alice.vaults.create({ name: to })
  const item = await alice.items.create(from, {
    name: 'db',
    website: 'https://db.example',
    fields: [
      { label: 'URL', value: 'u', isEnvironmentVariable: true },
      { label: 'pin', value: '1234' },
    ],
  })
  expect(item.fields.map(({ label, secret }) => [label, secret.reveal()]).sort()).toEqual([
    ['URL', 'u'],
    ['pin', '1234'],
  ])
  const progress: number[] = []
  const imported = await alice.items.import(
    from,
    [1, 2, 3].map((i) => ({ name: `bulk ${i}`, fields: [] })),
    { onProgress: (done) => progress.push(done) },
  )
  expect([imported.map(({ name }) => name), progress]).toEqual([['bulk 1', 'bulk 2', 'bulk 3'], [3]])
  expect((await alice.items.list(from)).find(({ name }) => name === 'db')).toMatchObject({
    labels: ['URL'],
    version: 1,
  })
  const url = item.fields.find(({ label }) => label === 'URL')?.fieldId ?? ''
  const pin = item.fields.find(({ label }) => label === 'pin')?.fieldId ?? ''
  const updated = await alice.items.update(from, 'db', {
    name: 'database',
    edit: [{ fieldId: url, value: 'u2' }],
    add: [{ label: 'MORE', value: 'm', isEnvironmentVariable: true }],
    remove: [pin],
  })
  expect(updated).toMatchObject({ name: 'database', version: 2 })
  expect((await alice.secrets.env({ vault: from })).toObject()).toEqual({ URL: 'u2', MORE: 'm' })
  expect(await errorOf(alice.items.update(from, 'database', { remove: [pin] }))).toMatchObject({
    code: 'field_not_found',
  })
  const moved = await alice.items.move(from, 'database', { vault: to })
  expect(moved.itemId).toBe(item.itemId)
  expect((await alice.secrets.env({ vault: to })).toObject()).toEqual({ URL: 'u2', MORE: 'm' })
  expect(await errorOf(alice.items.get(from, 'database'))).toBeInstanceOf(NotFoundError)
  await alice.items.archive(to, 'database')
  expect(await alice.items.list(to)).toEqual([])
  expect(await alice.items.list(to, { status: 'archived' })).toMatchObject([{ name: 'database', status: 'archived' }])
  expect((await alice.secrets.env({ vault: to })).toObject()).toEqual({})
  // Its label is another's meanwhile: two of one name are refused, and it stays where it is.
  const other = await alice.items.create(to, {
    name: 'other',
    fields: [{ label: 'URL', value: 'theirs', isEnvironmentVariable: true }],
  })
  expect(await errorOf(alice.items.restore(to, 'database'))).toMatchObject({
    code: 'validation_failed',
    details: { label: 'URL' },
  })
  await alice.items.archive(to, other.itemId)
  const restored = await alice.items.restore(to, 'database')
  expect(restored).toMatchObject({ itemId: item.itemId, status: 'active' })
  expect((await alice.secrets.env({ vault: to })).toObject()).toEqual({ URL: 'u2', MORE: 'm' })
  expect(await errorOf(alice.items.restore(to, 'database'))).toBeInstanceOf(NotFoundError)
})

it('reads what an item was, restores it as the next version, and undoes that in the same way', async () => {
  const vault = unique('past')
  await alice.vaults.create({ name: vault })
  const made = await alice.items.create(vault, {
    name: 'db',
    fields: [
      { label: 'URL', value: 'first', isEnvironmentVariable: true },
      { label: 'pin', value: '1234' },
    ],
  })
  const [url, pin] = ['URL', 'pin'].map((label) => made.fields.find((field) => field.label === label)?.fieldId ?? '')
  await alice.items.update(vault, 'db', {
    name: 'database',
    edit: [{ fieldId: url ?? '', value: 'second' }],
    add: [{ label: 'MORE', value: 'm' }],
    remove: [pin ?? ''],
  })
  const textsOf = ({ fields }: { readonly fields: typeof made.fields }) =>
    Object.fromEntries(fields.map(({ label, secret }) => [label, secret.reveal()]))
  const versions = await alice.items.versions(vault, 'database')
  expect(versions).toMatchObject([
    { version: 2, name: 'database', isReadable: true },
    { version: 1, name: 'db', isReadable: true, signerKeyId: made.receipt.signerKeyId },
  ])
  expect(versions[1]?.labels.toSorted()).toEqual(['URL', 'pin'])
  const first = await alice.items.version(vault, 'database', 1)
  expect([first.name, first.version, textsOf(first)]).toEqual(['db', 1, { URL: 'first', pin: '1234' }])
  const restored = await alice.items.restoreVersion(vault, 'database', 1)
  expect([restored.name, restored.version, textsOf(restored)]).toEqual(['db', 3, { URL: 'first', pin: '1234' }])
  expect(await errorOf(alice.items.restoreVersion(vault, 'db', 1))).toMatchObject({ code: 'validation_failed' })
  const undone = await alice.items.restoreVersion(vault, 'db', 2)
  expect([undone.name, undone.version, textsOf(undone)]).toEqual(['database', 4, { URL: 'second', MORE: 'm' }])
  expect(await errorOf(alice.items.version(vault, 'database', 9))).toMatchObject({ code: 'item_version_not_found' })
  await alice.vaults.rotateKey(vault)
  expect(await errorOf(alice.items.version(vault, 'database', 1))).toMatchObject({ code: 'item_version_not_found' })
})

it('grants, changes and revokes access of one principal and leaves the others alone', async () => {
  const vault = unique('shared')
  const [one, two] = [await world.agent('worker'), await world.agent('deploy')]
  await alice.vaults.create({ name: vault })
  await alice.secrets.set(`sr://${vault}/a/KEY`, 'v1')
  const target = { vault }
  await alice.permissions.grant(target, { principal: one.principal, role: 'READ' })
  await alice.permissions.grant(target, { principal: two.principal, role: 'WRITE' })
  const roles = async () =>
    Object.fromEntries((await alice.permissions.list(target)).map(({ principal, role }) => [principal, role]))
  expect(await roles()).toEqual({ [own()]: 'ADMIN', [one.principal]: 'READ', [two.principal]: 'WRITE' })
  for (const bot of [one, two]) expect((await bot.client.secrets.get(`sr://${vault}/a/KEY`)).reveal()).toBe('v1')
  expect(await errorOf(one.client.secrets.set(`sr://${vault}/a/KEY`, 'no'))).toBeInstanceOf(PermissionDeniedError)
  await alice.permissions.revoke(target, one.principal)
  await alice.secrets.set(`sr://${vault}/a/KEY`, 'v2')
  expect(await roles()).toEqual({ [own()]: 'ADMIN', [two.principal]: 'WRITE' })
  expect((await two.again().secrets.get(`sr://${vault}/a/KEY`)).reveal()).toBe('v2')
  expect(await errorOf(one.client.secrets.get(`sr://${vault}/a/KEY`))).toBeInstanceOf(NotFoundError)
  expect(await errorOf(alice.permissions.revoke(target, own()))).toMatchObject({ code: 'last_admin' })
  await alice.permissions.grant(target, { principal: two.principal, role: 'ADMIN' })
  expect(await errorOf(alice.permissions.revoke(target, own()))).toBeInstanceOf(SelfLockoutError)
  expect(
    await errorOf(alice.permissions.replace(target, [{ principal: two.principal, role: 'ADMIN' }])),
  ).toBeInstanceOf(SelfLockoutError)
  expect(await errorOf(alice.permissions.grant(target, { principal: 'agent:agt_nobody', role: 'READ' }))).toMatchObject(
    {
      code: 'unknown_signer',
    },
  )
  const { items, fields } = await alice.vaults.rotateKey(vault)
  expect([items, fields]).toEqual([1, 1])
  expect((await two.again().secrets.get(`sr://${vault}/a/KEY`)).reveal()).toBe('v2')
})

it('narrows who is shown an item, and inherits again', async () => {
  const vault = unique('narrow')
  const bot = await world.agent('worker')
  await alice.vaults.create({ name: vault, access: [{ principal: bot.principal, role: 'READ' }] })
  const { itemId } = await alice.items.create(vault, { name: 'x', fields: [] })
  const target = { item: itemId }
  expect(await alice.permissions.list(target)).toHaveLength(2)
  expect(await alice.permissions.revoke(target, bot.principal)).toEqual([{ principal: own(), role: 'ADMIN' }])
  expect(await alice.permissions.grant(target, { principal: bot.principal, role: 'READ' })).toHaveLength(2)
  expect(await errorOf(alice.permissions.grant(target, { principal: bot.principal, role: 'WRITE' }))).toBeInstanceOf(
    ValidationError,
  )
})

it('keeps the change of somebody who was quicker, of an item and of a project', async () => {
  const vault = unique('raced')
  const [one, two] = [await world.agent('worker'), await world.agent('deploy')]
  const access = [one, two].map(({ principal }) => ({ principal, role: 'READ' as const }))
  await alice.vaults.create({ name: vault, access })
  const { itemId } = await alice.items.create(vault, { name: 'x', fields: [] })
  await alice.permissions.replace({ item: itemId }, [{ principal: own(), role: 'ADMIN' }])
  const project = await alice.projects.create({ name: unique('raced') })
  for (const target of [{ item: itemId }, { project: project.id }]) {
    const { client, wire } = world.device()
    wire.before = async (asked) => {
      if (!asked.startsWith('PUT')) return
      wire.before = undefined
      await alice.permissions.grant(target, { principal: one.principal, role: 'READ' })
    }
    await client.permissions.grant(target, { principal: two.principal, role: 'READ' })
    const listed = (await alice.permissions.list(target)).map(({ principal }) => principal)
    expect(listed.sort()).toEqual([own(), one.principal, two.principal].sort())
  }
})

it('refuses another project than the one it asked for, by slug and by id', async () => {
  const [asked, other] = [
    await alice.projects.create({ name: unique('a') }),
    await alice.projects.create({ name: unique('b') }),
  ]
  const { client, wire } = world.device()
  const answer = await client.request({ method: 'GET', path: `/project/${other.id}` })
  wire.tamper = (path) => (path.startsWith('GET /project/') ? answer : undefined)
  for (const name of [asked.slug, asked.id])
    expect(await errorOf(client.projects.get(name))).toMatchObject({ code: 'project_mismatch', name: 'IntegrityError' })
})

it('creates, lists, changes and archives projects, and reads the environment of all their vaults', async () => {
  const [one, two] = [unique('one'), unique('two')]
  const bot = await world.agent('worker')
  for (const name of [one, two])
    await alice.vaults.create({ name, access: [{ principal: bot.principal, role: 'READ' }] })
  await alice.secrets.set(`sr://${one}/a/FIRST`, '1')
  await alice.secrets.set(`sr://${two}/a/SECOND`, '2')
  await alice.secrets.set(`sr://${one}/a/BOTH`, 'one')
  await alice.secrets.set(`sr://${two}/a/BOTH`, 'two')
  const project = await alice.projects.create({ name: unique('Store Front'), vaults: [one] })
  expect(project).toMatchObject({
    status: 'active',
    version: 1,
    isVerified: true,
    slug: expect.stringMatching(/^store-front/),
  })
  expect((await alice.projects.list()).data.map(({ id }) => id)).toContain(project.id)
  const updated = await alice.projects.update(project.slug, { vaults: [one, two], name: 'Front' })
  expect(updated).toMatchObject({ name: 'Front', version: 2 })
  expect(updated.vaultIds).toHaveLength(2)
  const target = { project: project.id }
  await alice.permissions.grant(target, { principal: bot.principal, role: 'READ' })
  expect(await alice.permissions.list(target)).toHaveLength(2)
  const env = await bot.again().secrets.env({ project: project.slug })
  expect(env.toObject()).toMatchObject({ FIRST: '1', SECOND: '2' })
  await alice.permissions.revoke({ vault: two }, bot.principal)
  expect(await errorOf(bot.again().secrets.env({ project: project.slug }))).toMatchObject({
    name: 'PermissionDeniedError',
    code: 'project_access_incomplete',
  })
  const all = await alice.secrets.env({ project: project.id })
  expect([...all.names].sort()).toEqual(['BOTH', 'FIRST', 'SECOND'])
  expect(all.duplicates).toEqual(['BOTH'])
  const firstVault = [...updated.vaultIds].sort()[0]
  const firstName = (await alice.vaults.get(firstVault ?? '')).name
  expect(all.get('BOTH')?.reveal()).toBe(firstName === one ? 'one' : 'two')
  await alice.projects.archive(project.id)
  expect(await alice.projects.get(project.id)).toMatchObject({ status: 'archived' })
  expect(await errorOf(alice.projects.get('no-such-project'))).toBeInstanceOf(NotFoundError)
})

it('makes another admin of a project by a signed change', async () => {
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const project = await alice.projects.create({ name: unique('admins') })
  await alice.permissions.grant({ project: project.id }, { principal: bot.principal, role: 'ADMIN' })
  expect(await bot.client.projects.update(project.id, { name: 'by the bot' })).toMatchObject({ name: 'by the bot' })
  await alice.permissions.revoke({ project: project.id }, bot.principal)
  expect(await errorOf(bot.client.projects.update(project.id, { name: 'no' }))).toBeInstanceOf(NotFoundError)
})

it('searches by name, also misspelt', async () => {
  const name = unique('searchable payments')
  await alice.vaults.create({ name })
  await alice.secrets.set(`sr://${name.replaceAll(' ', '%20')}/stripe/LIVE_KEY`, 'v')
  const hits = await alice.search.query('serchable payments', { kinds: ['vault'], limit: 5 })
  expect(hits.find((hit) => hit.name === name)).toMatchObject({ kind: 'vault', path: name })
  const [field] = await alice.search.query('LIVE_KEY', { kinds: ['field'] })
  expect(field).toMatchObject({ kind: 'field', path: `${name}/stripe/LIVE_KEY` })
})

it('tells who is asking, in which tenant, and takes any route', async () => {
  const me = await alice.me()
  expect(me).toMatchObject({ kind: 'user', id: own(), org: world.founder.orgId, authMethod: 'access_token' })
  const { data, meta } = await alice.tenantContext().withResponse()
  expect(data).toMatchObject({ org: world.founder.orgId, domainTenantId: world.founder.tenantId, name: 'main' })
  expect(meta).toMatchObject({ status: 200, attempts: 1, requestId: expect.stringMatching(/^req_/) })
  expect(meta.rateLimit).toMatchObject({ limit: expect.any(Number) })
  const raw = await alice.request<{ principal: { id: string } }>({ method: 'GET', path: '/me' })
  expect(raw.principal.id).toBe(own())
  const response = await alice.request({ method: 'GET', path: '/api/v1/machine/me' }).asResponse()
  expect(await response.json()).toMatchObject({ principal: { id: own() } })
  const listing = alice.vaults.list()
  for (const answer of [await listing.asResponse(), await listing.asResponse()])
    expect(await answer.json()).toMatchObject({ data: expect.any(Array) })
  expect(await errorOf(alice.request({ method: 'GET', path: '/no/such/route' }))).toMatchObject({
    code: 'route_not_found',
    status: 404,
    requestId: expect.any(String),
  })
  const wrong = await errorOf(alice.request({ method: 'POST', path: '/search', body: { query: 7 } }))
  expect(wrong).toBeInstanceOf(ValidationError)
  expect((wrong as unknown as ValidationError).issues).toEqual([
    { path: '/query', message: expect.stringContaining('string') },
  ])
  expect(await errorOf(alice.request({ method: 'GET', path: '@evil.example/me' }))).toMatchObject({
    code: 'config_invalid',
  })
})

it('lists in pages, by row, by page and all at once', async () => {
  for (let i = 0; i < 5; i += 1)
    await world.founder.client.agents.create({ body: { name: unique('page'), permissions: [] } })
  const first = await alice.agents.list({ page: 1, limit: 2 })
  expect([first.data.length, first.meta?.page, first.hasNext()]).toEqual([2, 1, true])
  const second = await first.next()
  expect(second.data[0]?.agentId).not.toBe(first.data[0]?.agentId)
  const byRow: string[] = []
  for await (const { agentId } of alice.agents.list({ limit: 2 })) byRow.push(agentId)
  expect(new Set(byRow).size).toBe(byRow.length)
  expect(byRow.length).toBe(first.meta?.total)
  const pages: number[] = []
  for await (const page of alice.agents.list({ limit: 3 }).pages()) pages.push(page.data.length)
  expect(pages.reduce((sum, count) => sum + count, 0)).toBe(byRow.length)
  expect(await alice.agents.list({ limit: 2 }).all({ max: 3 })).toHaveLength(3)
  const { client, wire } = world.device()
  const never = client.agents.list()
  expect(wire.asked).toEqual([])
  expect((await never.withResponse()).meta.status).toBe(200)
  expect(wire.asked).toEqual(['GET /agent?page=1&limit=100'])
})

it('ends a list that a server answers all at once', async () => {
  const { client, wire } = world.device()
  wire.tamper = (asked, answer) =>
    asked.startsWith('GET /agent') ? { agents: (answer as { agents: unknown[] }).agents } : undefined
  const rows = await client.agents.list({ limit: 1 }).all()
  expect([rows.length, wire.asked.length]).toEqual([1, 1])
})

it('shows requests, audit events, activity, metrics and counts', async () => {
  const vault = unique('monitored')
  const { vaultId } = await alice.vaults.create({ name: vault })
  const before = (await alice.monitoring.activity({ vault: vaultId }).all()).length
  await alice.secrets.set(`sr://${vaultId}/a/B`, '1')
  const activity = await alice.monitoring.activity({ vault: vaultId }).all()
  expect(activity.length).toBeGreaterThan(before)
  expect((await alice.monitoring.activity({ limit: 1 })).hasNext()).toBe(true)
  expect((await alice.monitoring.audit({ limit: 5 })).data.length).toBeGreaterThan(0)
  expect(Array.isArray((await alice.monitoring.requests({ limit: 5 })).data)).toBe(true)
  expect((await alice.monitoring.metrics({ window: '1h' })).data).toBeInstanceOf(Array)
  expect(await alice.monitoring.counts()).toMatchObject({ agents: expect.any(Number) })
})

it('follows what happens', async () => {
  const vault = await alice.vaults.create({ name: unique('tailed') })
  const ended = new AbortController()
  const seen: string[] = []
  const newest = (await alice.monitoring.activity().all()).at(-1)?.seq ?? 0
  const following = (async () => {
    for await (const { vaultId } of alice.monitoring.tail({ signal: ended.signal, after: newest, interval: 200 })) {
      seen.push(vaultId)
      ended.abort()
    }
  })()
  await alice.secrets.set(`sr://${vault.vaultId}/a/B`, '1')
  await following
  expect(seen).toContain(vault.vaultId)
})

it('sends feedback of an agent, and keeps credentials out of it', async () => {
  const bot = await world.agent('worker', { permissions: ['machine.feedback.write'] })
  const { id } = await bot.client.feedback.send({
    summary: 'rotation',
    wanted: 'a schedule',
    context: { vault: 'prod' },
  })
  expect(id).toEqual(expect.any(String))
  const sent: string[] = []
  const listening = bot.again({
    fetch: (input, init) => {
      sent.push(String(input))
      return fetch(input, init)
    },
  })
  const leak = listening.feedback.send({ summary: 'help', wanted: `my key is ${bot.apiKey.reveal()}` })
  expect(await errorOf(leak)).toMatchObject({ code: 'feedback_contains_secret', name: 'ValidationError' })
  expect(sent).toEqual([])
  expect(await errorOf(alice.feedback.send({ summary: 'a', wanted: 'b' }))).toBeInstanceOf(PermissionDeniedError)
})

it('syncs everything, then what changed, each vault verified', async () => {
  const bot = await world.agent('worker', { permissions: ['machine.all'] })
  const vault = unique('synced')
  const { vaultId } = await alice.vaults.create({ name: vault, access: [{ principal: bot.principal, role: 'READ' }] })
  await alice.secrets.set(`sr://${vault}/a/B`, '1')
  const full = await bot.client.vaults.sync()
  expect(full.isFull).toBe(true)
  expect(full.vaults.map((one) => [one.vaultId, one.name, one.items.size])).toEqual([[vaultId, vault, 1]])
  await alice.secrets.set(`sr://${vault}/c/D`, '2')
  const delta = await bot.client.vaults.sync({ since: full.cursor })
  expect(delta.vaults.map((one) => [one.vaultId, one.items.size])).toEqual([[vaultId, 2]])
  const nothing = await bot.client.vaults.sync({ since: delta.cursor })
  expect([nothing.vaults, nothing.removed]).toEqual([[], []])
  await alice.permissions.revoke({ vault }, bot.principal)
  expect((await bot.client.vaults.sync({ since: nothing.cursor })).removed).toEqual([vaultId])
})
