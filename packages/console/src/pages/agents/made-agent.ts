import type { Secret } from '@strongroom/sdk'

/** What exists only in the memory of this page until somebody has stored it. */
export interface MadeAgent {
  readonly agentId: string
  readonly name: string
  readonly keyId: string
  readonly bundle: Secret
  readonly pem: Secret
}

/** An agent that makes its keys elsewhere, and what it needs for that. */
export interface EnrolledHere {
  readonly agentId: string
  readonly name: string
  /** What its machine is given: an enrolment, or variables for the SDK where the key is somewhere already. */
  readonly file: { readonly name: string; readonly content: Secret }
  /** The key of whoever signs for it. */
  readonly endorser: string
}
