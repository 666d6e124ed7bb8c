import {
  canonicalText,
  type Envelope,
  makeDocument,
  POLICY_NAME,
  type Policy,
  type PolicyState,
  type Principal,
  policySet,
  type VerifiedDirectory,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import { asReviewer, verifyDirectoryAnswer } from './directory.ts'
import { readVerified } from './verified.ts'

// The policy of the organisation: what is in the log, signed by the quorum of each time.

export interface LoggedPolicy {
  readonly policy: Policy
  readonly version: number
  /** Of the document that set it. */
  readonly hash: string
  /** The entry of the log that set it. */
  readonly entry: number
}

export const readPolicy = (actor: Actor, options: CallerOptions = {}): Promise<LoggedPolicy> =>
  readVerified(
    actor,
    {
      ask: (call) => actor.client.keys.directory({ query: { principals: actor.identity.key.principal } }, call),
      check: async (answer, pins) => {
        const directory = await verifyDirectoryAnswer(actor, answer, pins)
        return { rounds: [{ directory, heads: [] }], result: loggedIn(directory, directory.policy) }
      },
    },
    options,
  )

function loggedIn({ view }: VerifiedDirectory, policy: Policy | null): LoggedPolicy {
  const state = view.states.get(POLICY_NAME) as PolicyState | null | undefined
  const entry = state?.indexes.at(-1)
  refuseUnless(policy && state && entry !== undefined, 'bad_map_proof', 'the policy is not proven')
  return { policy, version: state.policyVersion, hash: state.policyHash, entry }
}

export interface PolicyChange {
  /** Whether anything had to be signed for it. */
  readonly isNew: boolean
  /** The policy in force afterwards. */
  readonly logged: LoggedPolicy
}

const isSame = (one: Policy, other: Policy): boolean => canonicalText(one) === canonicalText(other)

type Change = (policy: Policy) => Policy

export interface ReviewedPolicy extends LoggedPolicy {
  /** False where a compromised key signed it last: until it is signed anew nothing that asks for the policy is done. */
  readonly isSound: boolean
}

/** The policy that was logged last, also one that nobody goes by: for whoever looks at it, and signs the next one. */
export const reviewPolicy = (actor: Actor, options: CallerOptions = {}): Promise<ReviewedPolicy> =>
  readVerified(
    actor,
    {
      ask: (call) => actor.client.keys.directory({ query: { principals: actor.identity.key.principal } }, call),
      check: async (answer, pins) => {
        const directory = await verifyDirectoryAnswer(asReviewer(actor), answer, pins)
        const logged = loggedIn(directory, await directory.policyAt(Number.POSITIVE_INFINITY))
        return { rounds: [{ directory, heads: [] }], result: { ...logged, isSound: directory.policy !== null } }
      },
    },
    options,
  )

/** What `change` makes of the policy in force, as its successor with one signature; undefined where it is that already, and sound. */
export async function signPolicy(
  { org, identity, now }: Actor,
  { policy: current, version, hash, isSound = true }: LoggedPolicy & Partial<ReviewedPolicy>,
  change: Change,
): Promise<Envelope | undefined> {
  const policy = change(current)
  if (isSound && isSame(policy, current)) return undefined
  return makeDocument(policySet, { org, at: now(), policyVersion: version + 1, policy, prev: hash }, [identity])
}

/** Refuses with `bad_inclusion` a server that takes a policy and logs something else. */
export async function sendPolicy(
  actor: Actor,
  { payload, payloadType, signatures }: Envelope,
  change: Change,
  options: CallerOptions,
): Promise<LoggedPolicy> {
  const event = { payload, payloadType, signatures: [...signatures] }
  await actor.client.directory.setPolicy({ body: { event } }, { ...callOf(options) })
  const logged = await readPolicy(actor, options)
  const isInForce = isSame(change(logged.policy), logged.policy)
  refuseUnless(isInForce, 'bad_inclusion', 'the policy that was signed is not the one in the log')
  return logged
}

/** Signs and sends, unless there is nothing to change: every policy there was stays in the chain that clients walk. */
async function changePolicy(actor: Actor, change: Change, options: CallerOptions): Promise<PolicyChange> {
  const before = await readPolicy(actor, options)
  const event = await signPolicy(actor, before, change)
  if (!event) return { isNew: false, logged: before }
  return { isNew: true, logged: await sendPolicy(actor, event, change, options) }
}

/** The provisioner stands beside those that the policy names already. */
export const nameProvisioner = (
  actor: Actor,
  provisioner: Principal,
  options: CallerOptions = {},
): Promise<PolicyChange> =>
  changePolicy(
    actor,
    (policy) => ({ ...policy, provisioners: [...new Set([...policy.provisioners, provisioner])].sort() }),
    options,
  )

/** The build takes the place of the one that the policy names. */
export const nameConsole = (actor: Actor, build: string, options: CallerOptions = {}): Promise<PolicyChange> =>
  changePolicy(actor, (policy) => ({ ...policy, console: build }), options)

const callOf = ({ signal }: CallerOptions): { readonly signal?: AbortSignal } => (signal ? { signal } : {})
