import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, outcomes } from '../../../test/people.ts'
import { seedOperator } from '../../../test/principals.ts'
import { inOrg } from '../../context.ts'

// Catches: a catalogue that somebody other than the operator changes, an offer of the file that is overridden, a licence on sale that
// nobody could deliver. Seen red: the file not looked at; the provider not looked at.

let h: Harness
let acme: { orgId: string; tenantId: string }
let agent: TestAgent
let admin: TestAgent['client']
beforeAll(async () => {
  h = await startHarness()
  acme = await h.org('acme')
  agent = await h.agent(acme, ['machine.all'])
  admin = (await seedOperator(h, acme)).client
})
afterAll(() => h.close())

const offer = (more: object = {}) => ({
  ...{ name: 'Mail Pro', description: 'Mail', provider: 'builtin', sku: 'MP1', term: 'month' as const },
  ...{ price: money('12500000'), fields: [{ label: 'MAIL_KEY', isEnvironmentVariable: true }], ...more },
})
const put = (client: TestAgent['client'], licenseId: string, body = offer()) =>
  client.catalogue.put({ params: { licenseId }, body })
const named = async (): Promise<string[]> =>
  (await admin.catalogue.list()).data.map(({ licenseId, source, status }) => `${licenseId} ${source} ${status}`)
const quote = (licenseId: string, who = agent) => who.client.licenses.quote({ body: { licenseId } })

it('puts a licence on sale, changes it and takes it off, each recorded', async () => {
  expect(await codeOf(quote('mail-pro'))).toBe('license_not_found')
  await put(admin, 'mail-pro')
  expect((await quote('mail-pro')).price).toEqual(money('12500000'))
  const far = await h.agent(await h.org('far'), ['machine.license.read'])
  expect((await quote('mail-pro', far)).name).toBe('Mail Pro')
  await put(admin, 'mail-pro', offer({ price: money('7000000'), tenants: [acme.tenantId] }))
  expect((await quote('mail-pro')).price).toEqual(money('7000000'))
  expect(await codeOf(quote('mail-pro', far))).toBe('license_not_eligible')
  await put(admin, 'mail-pro', offer({ status: 'unavailable' }))
  expect(await codeOf(quote('mail-pro'))).toBe('license_unavailable')
  expect(await named()).toEqual([
    'sandbox-monthly file available',
    'sandbox-once file available',
    'mail-pro api unavailable',
  ])
  await admin.catalogue.remove({ params: { licenseId: 'mail-pro' } })
  expect(await outcomes([quote('mail-pro'), admin.catalogue.remove({ params: { licenseId: 'mail-pro' } })])).toEqual(
    Array(2).fill('license_not_found'),
  )
  const events = await inOrg(h.deps, acme.orgId, (db) =>
    db
      .selectFrom('audit_event')
      .select('action')
      .where('action', 'like', 'catalogue.%')
      .where('outcome', '=', 'success')
      .execute(),
  )
  expect(events.map(({ action }) => action).sort()).toEqual([...Array(3).fill('catalogue.put'), 'catalogue.remove'])
})

it('refuses what the file says, what nobody delivers and what cannot be told apart, and changes nothing', async () => {
  const before = await named()
  const twice = [0, 1].map(() => ({ label: 'KEY', isEnvironmentVariable: true }))
  expect(
    await outcomes([
      put(admin, 'sandbox-once'),
      admin.catalogue.remove({ params: { licenseId: 'sandbox-once' } }),
      put(admin, 'new-one', offer({ provider: 'nobody' })),
      put(admin, 'new-one', offer({ fields: twice })),
      put(admin, 'new-one', offer({ price: money('0') })),
      put(admin, 'Not a slug'),
    ]),
  ).toEqual([
    ...Array(2).fill('catalogue_offer_in_file'),
    ...Array(2).fill('catalogue_offer_invalid'),
    ...Array(2).fill('validation_failed'),
  ])
  expect(await named()).toEqual(before)
})

it('is the operator’s alone', async () => {
  const calls = [agent.client.catalogue.list(), put(agent.client, 'mail-pro'), put(agent.client, 'sandbox-once')]
  expect(await outcomes(calls)).toEqual(Array(3).fill('global_admin_required'))
  const mute = await h.agent(acme, ['machine.billing.all'])
  expect(await codeOf(mute.client.catalogue.list())).toBe('machine_permission_denied')
})
