import { money } from '@strongroom/contract'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg } from '../../../test/people.ts'
import { seedOperator } from '../../../test/principals.ts'
import { edit, makeVault, metaCommit, type Writer, writeItems } from '../../../test/vault-writer.ts'

// Catches: names of vaults the caller is not on (the join on vault_access left out), of items that were narrowed to others, of
// archived vaults and items; a query taken as a pattern; values found by their text; licences that the caller could not buy.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let stranger: TestAgent
let vaultId: string
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  stranger = await h.agent(alice, ['machine.all'])
  vaultId = await makeVault(alice, { name: 'Payments production', with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [
    edit(
      'itm_stripe',
      { STRIPE_SECRET: 'sk_live_canary' },
      { name: 'Stripe', website: 'https://dashboard.stripe.test' },
    ),
    edit('itm_db', { DATABASE_URL: 'postgres://u:p@db/x' }, { name: 'Main database' }),
    edit('itm_percent', { note: 'x' }, { name: '100% of it_all' }),
  ])
})
afterAll(() => h.close())

const find = (
  who: Pick<TestAgent, 'client'>,
  query: string,
  more: { kinds?: ('vault' | 'item' | 'field' | 'license')[]; limit?: number } = {},
) => who.client.search.query({ body: { query, ...more } })
const names = async (...asked: Parameters<typeof find>) =>
  (await find(...asked)).data.map(({ kind, name }) => `${kind} ${name}`)

it('finds vaults, items, websites and labels, the best first, also misspelt', async () => {
  expect(await names(bot, 'stripe')).toEqual(['item Stripe', 'field STRIPE_SECRET'])
  expect((await names(bot, 'paymnets'))[0]).toBe('vault Payments production')
  expect((await names(bot, 'databse'))[0]).toMatch(/database|DATABASE_URL/)
  expect(await names(bot, 'dashboard')).toEqual(['item https://dashboard.stripe.test'])
  const [hit] = (await find(bot, 'DATABASE_URL', { kinds: ['field'] })).data
  expect(hit).toEqual({
    kind: 'field',
    id: 'fld_itm_db_DATABASE_URL',
    name: 'DATABASE_URL',
    vaultId,
    vaultName: 'Payments production',
    itemId: 'itm_db',
    itemName: 'Main database',
    score: 1,
  })
})

it('takes a query as text, never as a pattern, and finds no value', async () => {
  expect(await names(bot, '%')).toEqual(['item 100% of it_all'])
  expect(await names(bot, '100% of it_all')).toEqual(['item 100% of it_all'])
  expect(await names(bot, 'sk_live_canary')).toEqual([])
  expect(await names(bot, '.*')).toEqual([])
})

it('finds nothing for who is not on the access list, nor for another organisation', async () => {
  const foreign = await h.agent(await h.org('foreign'), ['machine.all'])
  for (const who of [stranger, foreign])
    for (const query of ['Payments', 'Stripe', 'DATABASE_URL']) expect((await find(who, query)).data).toEqual([])
  const mute = await h.agent(alice, ['machine.vault.all'])
  expect(await codeOf(find(mute, 'Stripe'))).toBe('machine_permission_denied')
})

it('finds a narrowed item only for those it names, and an archived vault for nobody', async () => {
  const me = { principal: alice.identity.key.principal, role: 'ADMIN' as const }
  await alice.client.permissions.setItem({ params: { id: 'itm_stripe' }, body: { entries: [me] } })
  expect(await names(bot, 'STRIPE_SECRET')).toEqual([])
  expect(await names(alice, 'STRIPE_SECRET', { kinds: ['field'] })).toEqual(['field STRIPE_SECRET'])
  const gone = await makeVault(alice, { name: 'Zanzibar' })
  expect(await names(alice, 'Zanzibar')).toEqual(['vault Zanzibar'])
  const commit = await metaCommit(alice, gone, { status: 'archived' })
  await alice.client.vaults.archive({ params: { vaultId: gone }, body: { commit } })
  expect(await names(alice, 'Zanzibar')).toEqual([])
})

it('finds licences that the caller could buy, by name and by slug, and no others', async () => {
  const admin = (await seedOperator(h, alice)).client
  const offer = (name: string, more: { tenants?: string[]; status?: 'unavailable' } = {}) => ({
    ...{ name, description: '', provider: 'builtin', sku: 'x', term: 'month' as const, ...more },
    ...{ price: money('5000000'), fields: [{ label: 'KEY', isEnvironmentVariable: true }] },
  })
  const put = (licenseId: string, body: ReturnType<typeof offer>) =>
    admin.catalogue.put({ params: { licenseId }, body })
  await put('quokka-mail', offer('Postal service'))
  await put('quokka-theirs', offer('Quokka for others', { tenants: ['ten_of_others'] }))
  await put('quokka-ours', offer('Quokka for us', { tenants: [alice.tenantId] }))
  await put('quokka-gone', offer('Quokka that was', { status: 'unavailable' }))
  const hits = (await find(bot, 'quokka', { kinds: ['license'] })).data
  expect(hits.map(({ id }) => id).sort()).toEqual(['quokka-mail', 'quokka-ours'])
  expect(hits[0]).toMatchObject({ kind: 'license', vaultId: null, vaultName: null, itemId: null, itemName: null })
  expect((await find(bot, 'postal servce')).data[0]).toMatchObject({ kind: 'license', id: 'quokka-mail' })
  const foreign = await h.agent(await h.org('far'), ['machine.all'])
  expect((await find(foreign, 'quokka')).data.map(({ id }) => id)).toEqual(['quokka-mail'])
  const searcher = await h.agent(alice, ['machine.search.read'])
  expect((await find(searcher, 'quokka')).data).toEqual([])
  for (const id of ['quokka-mail', 'quokka-ours'])
    expect((await bot.client.licenses.quote({ body: { licenseId: id } })).licenseId).toBe(id)
})

it('gives no more than asked for', async () => {
  expect((await find(alice, 'a', { limit: 1 })).data).toHaveLength(1)
  expect(await codeOf(find(alice, '', {}))).toBe('validation_failed')
  expect(await codeOf(find(alice, 'a', { limit: 101 }))).toBe('validation_failed')
})
