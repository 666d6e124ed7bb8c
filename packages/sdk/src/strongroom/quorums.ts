import {
  addSignatures,
  canonicalText,
  type Envelope,
  envelopeShape,
  type Kid,
  kidName,
  type Policy,
  peekDocument,
  policySet,
  principalOf,
} from '@strongroom/protocol'
import { adminsAmong } from '../engine/directory.ts'
import { type ReviewedPolicy, reviewPolicy, sendPolicy, signPolicy } from '../engine/policy.ts'
import type { KeyedPlace } from './core.ts'
import { readWholeLog } from './log-verification.ts'
import { ConflictError, ValidationError } from './public-errors.ts'
import type { LoggedQuorums, QuorumStatement, Quorums } from './transparency.ts'

// How many directory administrators have to sign: in the policy, which itself takes as many signatures as it says. One makes the next
// policy, others add their signatures wherever they are, and whoever made it sends it. It is no secret.

const quorumsIn = ({ dirQuorum, recoverQuorum }: Policy): Quorums => ({
  directory: dirQuorum,
  recovery: recoverQuorum,
})

const withQuorums =
  ({ directory, recovery }: Partial<Quorums>) =>
  (policy: Policy): Policy => ({
    ...policy,
    dirQuorum: directory ?? policy.dirQuorum,
    recoverQuorum: recovery ?? policy.recoverQuorum,
  })

const shownOf = ({ policy, version, entry, isSound }: ReviewedPolicy): LoggedQuorums => ({
  ...quorumsIn(policy),
  entry,
  policyVersion: version,
  isConfirmed: isSound,
})

export const quorums = async ({ actor, options }: KeyedPlace): Promise<LoggedQuorums> =>
  shownOf(await reviewPolicy(actor, options))

const PAGE = 100

/** As many as the log has, of the people that the server names: one that hides some is no reason to sign what cannot be met. */
async function countAdmins({ actor, options, scope }: KeyedPlace): Promise<number> {
  const principals: string[] = []
  for (let page = 1, more = true; more; page += 1) {
    const { users } = await actor.client.users.list({ query: { page, limit: PAGE } }, scope.options)
    principals.push(...users.filter(({ status }) => status === 'active').map(({ userId }) => `user:${userId}`))
    more = users.length === PAGE
  }
  return (await adminsAmong(actor, principals, options)).size
}

/** A quorum that cannot be met could never be lowered again. */
function ensureReachable({ directory, recovery }: Quorums, administrators: number): void {
  if (Math.max(directory, recovery) <= administrators) return
  const people =
    administrators === 1 ? 'is one directory administrator' : `are ${administrators} directory administrators`
  throw new ValidationError(
    {
      code: 'validation_failed',
      message: `There ${people}: more signatures than that could never be given.`,
      hint: 'Make somebody one first: strongroom key caps WHO --cap dir-admin; or strongroom user invite EMAIL --cap dir-admin',
    },
    400,
  )
}

/** Everybody of whom the log has a key: complete, whoever the caller is shown by the server. */
async function adminsInLog({ actor, options }: KeyedPlace): Promise<ReadonlySet<string>> {
  const people = new Set<string>()
  await readWholeLog(actor, options, ({ name }) => {
    if (name.startsWith(KEY_OF_PERSON)) people.add(principalOf(name.slice(kidName('').length) as Kid))
  })
  return adminsAmong(actor, [...people], options)
}

const KEY_OF_PERSON = kidName('user:')

/**
 * Refuses where a quorum that can be met now could not be met any more without this administrator. Whoever leaves by themselves signs for
 * nobody: there the server decides.
 */
export async function ensureWithout(place: KeyedPlace, principal: string): Promise<void> {
  if (principal !== place.actor.identity.key.principal) await ensureMetWithout(place, principal)
}

/** The same, for whoever still signs. */
export async function ensureMetWithout(place: KeyedPlace, principal: string): Promise<void> {
  const { actor, options } = place
  if ((await adminsAmong(actor, [principal], options)).size === 0) return
  const quorums = quorumsIn((await reviewPolicy(actor, options)).policy)
  const { size } = await adminsInLog(place)
  if (!Object.values(quorums).includes(size)) return
  const why =
    size === 1
      ? {
          message: 'This is the only directory administrator: without one, nothing could be signed any more.',
          hint: 'Make somebody else one first: strongroom key caps WHO --cap dir-admin',
        }
      : {
          message: `There are ${size} directory administrators, and as many have to sign: without this one, that could never be changed.`,
          hint: 'Lower the quorum first: strongroom log quorum --directory N --recovery N',
        }
  throw new ConflictError({ code: 'quorum_unreachable', ...why }, 409)
}

async function statementOf(place: KeyedPlace, envelope: Envelope, before: ReviewedPolicy): Promise<QuorumStatement> {
  const { policy } = peekDocument(policySet, envelope).payload
  const [from, to] = [quorumsIn(before.policy), quorumsIn(policy)]
  const administrators = await countAdmins(place)
  ensureReachable(to, administrators)
  // As the log counts them: somebody with two keys signs once.
  const signatures = new Set(envelope.signatures.map(({ keyid }) => principalOf(keyid))).size
  const anew = before.isSound ? null : policy
  return { statement: envelope, from, to, anew, administrators, signatures, needed: from.directory }
}

/** The first administrator's step; null where the policy says so already. */
export async function propose(place: KeyedPlace, to: Partial<Quorums>): Promise<QuorumStatement | null> {
  const before = await reviewPolicy(place.actor, place.options)
  const envelope = await signPolicy(place.actor, before, withQuorums(to))
  return envelope ? statementOf(place, envelope, before) : null
}

/** What a statement would do to the policy in force. Refuses one of another time, and one that changes anything but quorums. */
export async function examine(place: KeyedPlace, statement: unknown): Promise<QuorumStatement> {
  const envelope = envelopeShape(statement, 'statement')
  const { org, policyVersion, policy, prev } = peekDocument(policySet, envelope).payload
  const before = await reviewPolicy(place.actor, place.options)
  if (org !== place.actor.org || policyVersion !== before.version + 1 || prev !== before.hash)
    throw new ConflictError(
      {
        code: 'log_conflict',
        message: 'The statement does not follow the policy that is in force.',
        hint: 'Make it again: the policy was changed since, or it is of another organisation.',
      },
      409,
    )
  if (canonicalText(withQuorums(quorumsIn(policy))(before.policy)) !== canonicalText(policy))
    throw new ValidationError(
      {
        code: 'validation_failed',
        message: 'The statement changes more than quorums.',
        hint: 'Do not sign it. Ask whoever made it what it is for.',
      },
      400,
    )
  return statementOf(place, envelope, before)
}

/** Another administrator's step, who has looked at what `examine` says. */
export async function countersign(place: KeyedPlace, statement: unknown): Promise<QuorumStatement> {
  const { statement: envelope } = await examine(place, statement)
  return examine(place, await addSignatures(envelope, [place.actor.identity]))
}

/** The last step, by the administrator who made it. */
export async function send(place: KeyedPlace, statement: unknown): Promise<LoggedQuorums> {
  const { statement: envelope, to } = await examine(place, statement)
  await sendPolicy(place.actor, envelope, withQuorums(to), place.options)
  return quorums(place)
}
