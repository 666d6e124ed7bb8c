import { createHash, createHmac } from 'node:crypto'
import { client, ready, server } from '@serenity-kit/opaque'
import { makeKdf } from '@strongroom/protocol'
import type { Deps } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { provideServerSecret } from '../../secrets/server-secrets.ts'

// OPAQUE (RFC 9807), the server's side: the passphrase never gets here, and what is kept cannot be tested against guesses
// without the server's own secret.

export const OPAQUE_SETUP = 'opaque-setup'

const opened = new WeakMap<Deps['database'], Promise<string>>()

/** Made once by the first process that needs it. Losing it would make every passphrase worthless, so it is sealed and kept. */
function serverSetup(deps: Pick<Deps, 'database' | 'rootKey' | 'now'>): Promise<string> {
  const known = opened.get(deps.database)
  if (known) return known
  const loading = ready
    .then(() => provideServerSecret(deps, OPAQUE_SETUP, () => Buffer.from(server.createSetup())))
    .then((secret) => secret.toString())
  opened.set(deps.database, loading)
  loading.catch(() => opened.delete(deps.database))
  return loading
}

export const normalEmail = (email: string): string => email.normalize('NFC').toLowerCase()

/** By address and not by user id: the answers for an address are the same before and after somebody registers with it. */
const credentialOf = (email: string): string => `email:${normalEmail(email)}`

const OUT_OF_SHAPE = 'validation_failed'

/** The library throws on bytes that are no message of the protocol: the sender's fault, and said without its words. */
function reading<T>(member: string, run: () => T): T {
  try {
    return run()
  } catch {
    throw new ApiError(OUT_OF_SHAPE, {
      details: { in: 'body', problems: [{ path: `/${member}`, problem: 'not a message of OPAQUE' }] },
    })
  }
}

export async function answerRegistration(deps: Deps, email: string, registrationRequest: string): Promise<string> {
  const setup = await serverSetup(deps)
  return reading('registrationRequest', () =>
    server.createRegistrationResponse({ serverSetup: setup, userIdentifier: credentialOf(email), registrationRequest }),
  ).registrationResponse
}

/** A record that does not parse would lock its owner out for ever, so it is tried before it is kept. */
export async function ensureUsableRecord(deps: Deps, email: string, registrationRecord: string): Promise<void> {
  const setup = await serverSetup(deps)
  const { startLoginRequest } = client.startLogin({ password: 'any' })
  reading('registrationRecord', () =>
    server.startLogin({
      serverSetup: setup,
      userIdentifier: credentialOf(email),
      registrationRecord,
      startLoginRequest,
    }),
  )
}

export interface LoginAnswer {
  readonly loginResponse: string
  /** Secret until the login is over. */
  readonly serverLoginState: string
}

/** Without a record the answer is of the same kind, and nobody can finish it. */
export async function answerLogin(
  deps: Deps,
  email: string,
  registrationRecord: string | undefined,
  startLoginRequest: string,
): Promise<LoginAnswer> {
  const setup = await serverSetup(deps)
  return reading('startLoginRequest', () =>
    server.startLogin({
      serverSetup: setup,
      userIdentifier: credentialOf(email),
      registrationRecord,
      startLoginRequest,
    }),
  )
}

/** Did the other side know the passphrase? */
export function loginSucceeds(serverLoginState: string, finishLoginRequest: string): boolean {
  try {
    server.finishLogin({ serverLoginState, finishLoginRequest })
    return true
  } catch {
    return false
  }
}

/** Stretching parameters for an address nobody has: those of a new passphrase, with a salt that is always the same for it. */
export async function inventedKdf(deps: Deps, email: string): Promise<string> {
  const salt = createHmac('sha256', await serverSetup(deps))
    .update(`kdf ${normalEmail(email)}`)
    .digest()
    .subarray(0, 16)
  return makeKdf('argon2id').phc.replace(/[^$]+$/, salt.toString('base64').replace(/=+$/, ''))
}

export const hashRecoveryToken = (token: string): Buffer => createHash('sha256').update(`recovery ${token}`).digest()
