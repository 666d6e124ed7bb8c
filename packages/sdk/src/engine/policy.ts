import {
  makeDocument,
  POLICY_NAME,
  type Policy,
  type PolicyState,
  type Principal,
  policySet,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import { verifyDirectoryAnswer } from './directory.ts'
import { readVerified } from './verified.ts'

// The policy of the organisation: what is in the log, signed by the quorum of each time.

export interface LoggedPolicy {
  readonly policy: Policy
  readonly version: number
  /** Of the document that set it. */
  readonly hash: string
}

export const readPolicy = (actor: Actor, options: CallerOptions = {}): Promise<LoggedPolicy> =>
  readVerified(
    actor,
    {
      ask: (call) => actor.client.keys.directory({ query: { principals: actor.identity.key.principal } }, call),
      check: async (answer, pins) => {
        const directory = await verifyDirectoryAnswer(actor, answer, pins)
        const state = directory.view.states.get(POLICY_NAME) as PolicyState | null | undefined
        const { policy } = directory
        refuseUnless(policy && state, 'bad_map_proof', 'the policy is not proven')
        const result = { policy, version: state.policyVersion, hash: state.policyHash }
        return { rounds: [{ directory, heads: [] }], result }
      },
    },
    options,
  )

/** Signs the next policy, which names this provisioner beside those that it names already. Says whether that was needed. */
export async function nameProvisioner(
  actor: Actor,
  provisioner: Principal,
  options: CallerOptions = {},
): Promise<{ readonly isNew: boolean; readonly policyVersion: number }> {
  const { policy, version, hash } = await readPolicy(actor, options)
  if (policy.provisioners.includes(provisioner)) return { isNew: false, policyVersion: version }
  const next: Policy = { ...policy, provisioners: [...policy.provisioners, provisioner].sort() }
  const members = { org: actor.org, at: actor.now(), policyVersion: version + 1, policy: next, prev: hash }
  const event = await makeDocument(policySet, members, [actor.identity])
  const { policyVersion } = await actor.client.directory.setPolicy({ body: { event } }, { ...callOf(options) })
  return { isNew: true, policyVersion }
}

const callOf = ({ signal }: CallerOptions): { readonly signal?: AbortSignal } => (signal ? { signal } : {})
