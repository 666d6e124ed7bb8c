import { toBase64url } from '@strongroom/protocol'

// What a machine is given so that it can make its keys where it runs; `strongroom agent request` reads it. The API key in it is a
// secret, and decrypts nothing.

export interface Enrolment {
  readonly server: string
  readonly org: string
  readonly agentId: string
  readonly name: string
  readonly apiKey: string
  readonly trustAnchor: string
  /** The key of the person who will sign for the agent's. */
  readonly endorser: string
}

export const formatEnrolment = (enrolment: Enrolment): string =>
  `sre1.${toBase64url(new TextEncoder().encode(JSON.stringify(enrolment)))}`
