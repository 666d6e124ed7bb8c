import type { Purchase as PurchaseAnswer, Termination as TerminationAnswer } from '@strongroom/contract'
import { listItems } from '../engine/items.ts'
import { nameProvisioner } from '../engine/policy.ts'
import { ApiError } from '../errors.ts'
import { type IssuerKey, type Published, published } from '../provisioner.ts'
import type { RequestOptions, Scope } from './call.ts'
import type { Core, KeyedPlace } from './core.ts'
import { licenseIdOf } from './license-names.ts'
import { type Asked, dateOf, endingOf, instanceOf, takeOver } from './license-take.ts'
import { pollPurchase, pollTermination } from './license-wait.ts'
import type { LicenseInstance, LicenseOrder, Offer, Purchase, TerminateOptions, Termination } from './licenses.ts'
import { vaultIdOf } from './names.ts'
import { ConflictError, ValidationError } from './public-errors.ts'
import { StrongroomError } from './strongroom-error.ts'

// What licences do beyond one request. Objects are views of an answer: each question makes a new one.

const SLUG = /^[a-z0-9][a-z0-9-]{1,62}$/

/** A hit is a name; its price comes with a quote. What may not be bought, or no more, is left out. */
export async function search({ client, options }: Scope, text: string): Promise<readonly Offer[]> {
  const { data } = await client.search.query({ body: { query: text, kinds: ['license'] } }, options)
  const slugs = new Set([...(SLUG.test(text) ? [text] : []), ...data.map(({ id }) => id)])
  const offers: Offer[] = []
  for (const licenseId of slugs) {
    const offer = await client.licenses.quote({ body: { licenseId } }, options).catch((error: unknown) => {
      const isRefused = error instanceof ApiError && [403, 404, 409].includes(error.status)
      if (!isRefused || error.code === 'machine_permission_denied') throw error
      return undefined
    })
    if (offer) offers.push(offer)
  }
  return offers
}

/** Told before it is paid for: two variables of one vault cannot have one name, and the place of a licence is not changed later. */
async function ensureRoom({ actor, scope, options }: KeyedPlace, vaultId: string, licenseId: string): Promise<void> {
  const { schema } = await scope.client.licenses.quote({ body: { licenseId } }, options)
  const { environment } = await listItems(actor, vaultId, options)
  const taken = new Set(environment.map(({ label }) => label))
  const [double] = schema.filter(({ label, isEnvironmentVariable }) => isEnvironmentVariable && taken.has(label))
  if (double)
    throw new ValidationError(
      {
        code: 'validation_failed',
        message: `the vault has a variable ${double.label} already, and the licence brings one of that name`,
        hint: 'Take another vault, or a new one.',
      },
      422,
    )
}

async function destinationOf(place: KeyedPlace, { vault, license }: LicenseOrder): Promise<Asked['vault']> {
  if ('create' in vault) return { mode: 'new', name: vault.create }
  const vaultId = await vaultIdOf(place, vault.existing)
  await ensureRoom(place, vaultId, license)
  return { mode: 'existing', vaultId }
}

export async function buy(core: Core, place: KeyedPlace, order: LicenseOrder): Promise<Purchase> {
  const { license, quantity, maxPrice } = order
  const vault = await destinationOf(place, order)
  const body = {
    licenseId: license,
    vault,
    ...(quantity !== undefined && { quantity }),
    ...(maxPrice && { maxPrice: { ...maxPrice } }),
  }
  const { client, options } = place.scope
  return purchaseView(core, await client.licenses.purchase({ body }, options), { license, vault })
}

export async function purchase(core: Core, { client, options }: Scope, purchaseId: string): Promise<Purchase> {
  return purchaseView(core, await client.licenses.purchaseStatus({ params: { purchaseId } }, options))
}

function ensureWaits({ status, itemId, purchaseId, handoff }: PurchaseAnswer): void {
  if (handoff) return
  const isDone = status === 'completed'
  throw new ConflictError(
    {
      code: isDone ? 'handoff_already_completed' : 'handoff_not_ready',
      message: isDone
        ? 'The credential of this purchase lies in its vault already.'
        : 'There is nothing to hand over for this purchase now, or it is not yours.',
      hint: 'Read the status of the purchase.',
      details: { purchaseId, status, itemId },
    },
    409,
  )
}

async function handOffNow(place: KeyedPlace, purchaseId: string, asked: Asked | undefined): Promise<LicenseInstance> {
  const { client, options } = place.scope
  const answer = await client.licenses.purchaseStatus({ params: { purchaseId } }, options)
  ensureWaits(answer)
  return instanceOf(await takeOver(place, answer, asked, false))
}

const historyOf = <S extends string>(transitions: PurchaseAnswer['transitions']) =>
  transitions.map(({ to, cause, at }) => ({ state: to as S, at: new Date(at), note: cause }))

const failureOf = (
  isStopped: boolean,
  { statusReason, retryable }: Pick<PurchaseAnswer, 'statusReason' | 'retryable'>,
) =>
  isStopped && {
    failure: {
      code: statusReason ?? 'unknown',
      message: `it has stopped: ${(statusReason ?? 'nobody knows why').replaceAll('_', ' ')}`,
      resumable: retryable,
    },
  }

export function purchaseView(core: Core, answer: PurchaseAnswer, asked?: Asked): Purchase {
  const { purchaseId, status } = answer
  const params = { purchaseId }
  const view = (now: PurchaseAnswer): Purchase => purchaseView(core, now, asked)
  return {
    id: purchaseId,
    state: status,
    history: historyOf(answer.transitions),
    ...failureOf(['failed', 'in_review', 'cancelled'].includes(status), answer),
    nextAction: answer.nextAction,
    licenseInstanceId: answer.licenseInstanceId,
    license: answer.licenseId,
    name: answer.name,
    price: answer.price,
    term: answer.term,
    quantity: answer.quantity,
    vault: answer.vault,
    itemId: answer.itemId,
    resumableUntil: dateOf(answer.resumableUntil),
    refresh: (options) =>
      core.call(options, async ({ client, options: call }) =>
        view(await client.licenses.purchaseStatus({ params }, call)),
      ),
    resume: (options) =>
      core.call(options, async ({ client, options: call }) =>
        view(await client.licenses.resumePurchase({ params }, call)),
      ),
    wait: (options) => core.keyed(options, (place) => pollPurchase(place, { answer, asked, view }, options)),
    handOff: (options) => core.keyed(options, (place) => handOffNow(place, purchaseId, asked)),
  }
}

export async function terminate(
  core: Core,
  scope: Scope,
  license: string,
  params: TerminateOptions,
): Promise<Termination> {
  const licenseInstanceId = await licenseIdOf(scope, license)
  const body = { licenseInstanceId, ...params }
  return terminationView(core, await scope.client.licenses.terminate({ body }, scope.options))
}

export async function termination(core: Core, { client, options }: Scope, terminationId: string): Promise<Termination> {
  return terminationView(core, await client.licenses.terminationStatus({ params: { terminationId } }, options))
}

export function terminationView(core: Core, answer: TerminationAnswer): Termination {
  const { terminationId, status } = answer
  const params = { terminationId }
  const view = (now: TerminationAnswer): Termination => terminationView(core, now)
  const ask = (options: RequestOptions | undefined, isResumed: boolean) =>
    core.call(options, async ({ client, options: call }) => {
      const { terminationStatus, resumeTermination } = client.licenses
      return view(await (isResumed ? resumeTermination : terminationStatus)({ params }, call))
    })
  return {
    ...endingOf(answer),
    id: terminationId,
    state: status,
    history: historyOf(answer.transitions),
    ...failureOf(['failed', 'in_review'].includes(status), answer),
    nextAction: answer.nextAction,
    refresh: (options) => ask(options, false),
    resume: (options) => ask(options, true),
    wait: (options) => core.call(options, (scope) => pollTermination(scope, { answer, view }, options)),
  }
}

async function publishedHere({ config, fetch }: Scope): Promise<Published> {
  const found = await published(config.server, fetch)
  if (found) return found
  throw new StrongroomError('this server publishes no key that it signs hand-offs with', {
    code: 'licenses_not_sold',
    hint: 'Ask the operator whether this server sells licences.',
  })
}

export const issuerKeys = async (scope: Scope): Promise<readonly IssuerKey[]> => (await publishedHere(scope)).keys

export async function enable({ actor, scope, options }: KeyedPlace): Promise<{ provisioner: string; isNew: boolean }> {
  const { provisioner } = await publishedHere(scope)
  const { isNew } = await nameProvisioner(actor, provisioner, options)
  return { provisioner, isNew }
}
