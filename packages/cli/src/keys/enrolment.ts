import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { secretFromFile } from '../sign-in/secret-input.ts'

// What an agent is given so that it can make its keys where it runs: the API key in it is a secret, and decrypts nothing.

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

const PREFIX = 'sre1.'
const MEMBERS = ['server', 'org', 'agentId', 'name', 'apiKey', 'trustAnchor', 'endorser'] as const

export const formatEnrolment = (enrolment: Enrolment): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(enrolment)).toString('base64url')}`

/** From a file or standard input; what is in it is not repeated. */
export async function readEnrolment(cli: Cli, path: string): Promise<Enrolment> {
  const text = (await secretFromFile(cli, path, 'FILE')).trim()
  try {
    const found = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString()) as Enrolment
    if (text.startsWith(PREFIX) && MEMBERS.every((name) => typeof found[name] === 'string')) return found
  } catch {
    // Said below, once for both.
  }
  throw new CliError('file_unreadable', 'this is no enrolment of an agent', {
    fix: 'one is made with: strongroom agent enrol NAME --out FILE',
  })
}
