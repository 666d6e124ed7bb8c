import {
  addSignatures,
  type Cap,
  capsSet,
  documentHash,
  type Envelope,
  envelopeShape,
  type Kid,
  makeDocument,
  parseKid,
  peekDocument,
  principalOf,
} from '@strongroom/protocol'
import { type LoggedCaps, readCaps, sendCaps } from '../engine/caps.ts'
import { reviewPolicy } from '../engine/policy.ts'
import type { KeyedPlace } from './core.ts'
import { ConflictError, ValidationError } from './public-errors.ts'
import { ensureMetWithout } from './quorums.ts'
import type { CapsStatement, KeyCaps } from './transparency.ts'

// What a key may sign in the directory: given, taken, and confirmed once whoever vouched for it was found to be compromised. Each takes the
// signatures of as many administrators as the policy says, like the policy itself (quorums.ts).

const shownOf = ({ kid, caps, entry, isConfirmed }: LoggedCaps): KeyCaps => ({ keyId: kid, caps, entry, isConfirmed })

export const capsOf = async ({ actor, options }: KeyedPlace, principal: string): Promise<readonly KeyCaps[]> =>
  (await readCaps(actor, principal, options)).map(shownOf)

interface Held {
  readonly own: LoggedCaps
  /** The other active keys of the same principal. */
  readonly others: readonly LoggedCaps[]
}

async function heldBy({ actor, options }: KeyedPlace, kid: string): Promise<Held> {
  const all = await readCaps(actor, principalOf(kid), options)
  const own = all.find((one) => one.kid === kid)
  if (own) return { own, others: all.filter((one) => one !== own) }
  throw new ValidationError(
    {
      code: 'validation_failed',
      message: `${kid} is no key that counts.`,
      hint: 'See which do: strongroom key list WHO',
    },
    400,
  )
}

const isAdmin = ({ caps }: Pick<LoggedCaps, 'caps'>): boolean => caps.includes('dir-admin')

/** An administrator whom nobody could replace any more stays one. */
async function ensureTakeable(place: KeyedPlace, { own, others }: Held, to: readonly Cap[]): Promise<void> {
  if (isAdmin(own) && !isAdmin({ caps: to }) && !others.some(isAdmin))
    await ensureMetWithout(place, principalOf(own.kid))
}

async function statementOf(place: KeyedPlace, envelope: Envelope, held: Held): Promise<CapsStatement> {
  const { caps: to } = peekDocument(capsSet, envelope).payload
  const { kid: keyId, caps: from, isConfirmed } = held.own
  const { policy } = await reviewPolicy(place.actor, place.options)
  // As the log counts them: somebody with two keys signs once.
  const signatures = new Set(envelope.signatures.map(({ keyid }) => principalOf(keyid))).size
  return { statement: envelope, keyId, from, to, isConfirmed, signatures, needed: policy.dirQuorum }
}

/** The first administrator's step; null where the key may just that already and is sound. */
export async function propose(place: KeyedPlace, keyId: string, caps: readonly Cap[]): Promise<CapsStatement | null> {
  const held = await heldBy(place, keyId)
  const { kid, caps: from, hash, isConfirmed } = held.own
  const base: Cap = parseKid(kid).type === 'agent' ? 'agent' : 'member'
  const to = [...new Set([base, ...caps])].sort()
  if (isConfirmed && to.join() === from.join()) return null
  await ensureTakeable(place, held, to)
  const { org, now, identity } = place.actor
  const members = { org, at: now(), kid: kid as Kid, caps: to, prev: hash }
  return statementOf(place, await makeDocument(capsSet, members, [identity]), held)
}

/** What a statement would do to the caps in force. Refuses one of another time. */
export async function examine(place: KeyedPlace, statement: unknown): Promise<CapsStatement> {
  const envelope = envelopeShape(statement, 'statement')
  const { org, kid, prev, caps } = peekDocument(capsSet, envelope).payload
  const held = await heldBy(place, kid)
  if (org !== place.actor.org || prev !== held.own.hash)
    throw new ConflictError(
      {
        code: 'log_conflict',
        message: 'The statement does not follow what the key may sign now.',
        hint: 'Make it again: that was changed since, or it is of another organisation.',
      },
      409,
    )
  await ensureTakeable(place, held, caps)
  return statementOf(place, envelope, held)
}

/** Another administrator's step, who has looked at what `examine` says. */
export async function countersign(place: KeyedPlace, statement: unknown): Promise<CapsStatement> {
  const { statement: envelope } = await examine(place, statement)
  return examine(place, await addSignatures(envelope, [place.actor.identity]))
}

/** The last step, by the administrator who made it. */
export async function send(place: KeyedPlace, statement: unknown): Promise<KeyCaps> {
  const { statement: envelope, keyId } = await examine(place, statement)
  return shownOf(await sendCaps(place.actor, envelope, { kid: keyId, hash: documentHash(envelope) }, place.options))
}
