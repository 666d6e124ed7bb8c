import { expect, it } from 'vitest'
import { httpProvider } from './http-provider.ts'
import { httpRenewal } from './http-terms.ts'
import type { CancelRequest, LicenseOrder, RenewRequest, SealedCredential } from './provider.ts'
import type { Seal } from './seal.ts'
import { signedHeaders } from './signed-http.ts'

// What is read into an answer of a provider. Catches: an answer that is not signed, or that is about something else, taken for the word of
// the provider; a day that no calendar has, or that is not of our time; what cannot be kept as it was said, and would be tried for ever; a
// provider that wants to be asked without a pause. Seen red: the day not looked at; a look that was refused taken for a refused order; the
// zero byte, the half character and the pause let through.

const [SECRET, OTHER] = [5, 9].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string]
const now = (): Date => new Date('2026-11-15T10:00:00Z')
const settings = { url: 'https://acme.test', secret: SECRET }
const seal: Seal = async () => ({ sealing: 'on_receipt' }) as SealedCredential
const about = { externalId: 'pur_1', instanceRef: 'ref', orgId: 'org_1', at: now() }
const order = { ...about, fields: [{ label: 'KEY', env: true }] } as unknown as LicenseOrder
const cancelling: CancelRequest = { ...about, effective: 'immediate', periodEnd: null, key: 'k' }
const renewing: RenewRequest = { ...about, quantity: 1, from: now(), amount: 1n, key: 'k' }

function providerThatSays(status: number, body: object, secret = SECRET) {
  const outbound = async () => {
    const bytes = Buffer.from(JSON.stringify(body))
    return { status, headers: signedHeaders(secret, 'id', now(), bytes), body: bytes, isCut: false, timing: undefined }
  }
  const deps = { outbound: outbound as never, seal, now }
  return { ...httpProvider(deps, settings), renew: httpRenewal(deps, settings) }
}
const kindOf = async (outcome: Promise<{ readonly kind: string; readonly cause?: string; readonly code?: string }>) => {
  const { kind, cause, code } = await outcome
  return [kind, cause ?? code].filter(Boolean).join(' ')
}

it('takes an order for unknown to the provider on its own word alone', async () => {
  const [signed, forged] = [providerThatSays(404, {}), providerThatSays(404, {}, OTHER)]
  expect(await kindOf(signed.getOrder(order))).toBe('not_found')
  expect(await kindOf(forged.getOrder(order))).toBe('unknown not_signed')
  // A provider without such a request says the same: nobody knows.
  expect(await kindOf(signed.cancel(cancelling))).toBe('unknown not_understood')
})

it('takes a refusal to look for no refusal of the order', async () => {
  for (const status of [400, 401, 403, 410, 422]) {
    const provider = providerThatSays(status, { error: 'no' })
    expect(await kindOf(provider.getOrder(order))).toBe('unknown not_understood')
    expect(await kindOf(provider.order(order))).toBe(`rejected status_${status}`)
  }
  const rejected = providerThatSays(422, { status: 'rejected', externalId: 'pur_1', code: 'out_of_stock' })
  expect(await kindOf(rejected.getOrder(order))).toBe('rejected out_of_stock')
})

it.each([
  ['2026-12-15T10:00:00Z', true],
  ['2028-02-29T00:00:00.000Z', true],
  ['9999-12-31T23:59:59Z', true],
  ['2027-02-29T00:00:00Z', false],
  ['2026-02-31T99:99:99Z', false],
  ['2026-13-01T00:00:00Z', false],
  ['2026-00-10T00:00:00Z', false],
  ['2026-12-15T10Z', false],
  ['0000-01-01T00:00:00Z', false],
  ['1999-12-31T23:59:59Z', false],
  ['2026-12-15T::::Z', false],
])('understands %s: %s', async (moment, isUnderstood) => {
  const { externalId } = order
  const active = { status: 'active', externalId, instanceRef: 'r', amount: '1', credential: { KEY: 'x' } }
  const kinds = [
    await kindOf(providerThatSays(200, { ...active, periodEnd: moment }).order(order)),
    await kindOf(providerThatSays(200, { ...active, periodEnd: moment }).getOrder(order)),
    await kindOf(providerThatSays(200, { status: 'cancelled', externalId, effectiveAt: moment }).cancel(cancelling)),
    await kindOf(providerThatSays(200, { status: 'scheduled', externalId, effectiveAt: moment }).cancel(cancelling)),
    await kindOf(
      providerThatSays(200, { status: 'refused', externalId, code: 'no', earliestDate: moment }).cancel(cancelling),
    ),
    await kindOf(
      providerThatSays(200, { status: 'renewed', externalId, amount: '1', periodEnd: moment }).renew(renewing),
    ),
  ]
  expect(kinds).toEqual(
    isUnderstood
      ? ['active', 'active', 'cancelled', 'scheduled', 'refused no', 'renewed']
      : Array(6).fill('unknown not_understood'),
  )
})

it.each([
  ['a name with a zero byte', { instanceRef: 'r\0' }],
  ['a name with half a character', { instanceRef: 'r\ud800' }],
  ['a secret with half a character', { credential: { KEY: 'x\udfff' } }],
] as [string, { instanceRef?: string }][])('does not take %s, which could not be kept as it is', async (_, odd) => {
  const active = { status: 'active', externalId: 'pur_1', instanceRef: 'r', amount: '1', credential: { KEY: 'x' } }
  expect(await kindOf(providerThatSays(200, { ...active, ...odd }).order(order))).toBe('unknown not_understood')
  const pending = { status: 'pending', externalId: 'pur_1', pollAfterMs: 1000, providerRef: odd.instanceRef ?? '\0' }
  expect(await kindOf(providerThatSays(202, pending).order(order))).toBe('unknown not_understood')
})

it('is asked again after a second at the earliest and a day at the latest, whatever it says', async () => {
  const pauses = [0, 1, 30_000, 2 ** 53].map(async (pollAfterMs) => {
    const pending = { status: 'pending', externalId: 'pur_1', providerRef: 'r', pollAfterMs }
    const outcome = await providerThatSays(202, pending).getOrder(order)
    return outcome.kind === 'pending' && outcome.pollAfterMs
  })
  expect(await Promise.all(pauses)).toEqual([1000, 1000, 30_000, 86_400_000])
})
