import { client as opaque, ready } from '@serenity-kit/opaque'
import { ERRORS } from '@strongroom/contract'
import { checkKdf, formatRecoveryCode, type KdfParameters, makeKdf, type RecoveryCode } from '@strongroom/protocol'
import type { Client } from './client.ts'
import { ApiError } from './errors.ts'

// A passphrase on its own device: OPAQUE (RFC 9807) turns it into an export key that only its owner can make again. Neither
// leaves this process.

type Stretching = NonNullable<Parameters<typeof opaque.finishLogin>[0]['keyStretching']>

/** The library stretches with Argon2id only; which cost was checked against the floor of the protocol. */
function stretchingOf(kdf: KdfParameters): Stretching {
  if (kdf.algorithm !== 'argon2id') throw new TypeError('this client stretches passphrases with Argon2id only')
  return { 'argon2id-custom': { iterations: kdf.passes, memory: kdf.memoryKib, parallelism: kdf.lanes } }
}

const fromBase64url = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

export const randomText = (bytes: number): string => toBase64url(crypto.getRandomValues(new Uint8Array(bytes)))

/** What comes of a registration: the record for the server, and the export key for nobody. */
export interface Registration {
  readonly registrationRecord: string
  readonly exportKey: Uint8Array
  readonly kdf: KdfParameters
}

/** Registers a passphrase; `ask` carries the first message to the server and its answer back. */
export async function registerPassphrase<A extends { readonly registrationResponse: string }>(
  passphrase: string,
  ask: (registrationRequest: string) => Promise<A>,
): Promise<{ readonly answer: A; readonly registration: Registration }> {
  await ready
  const { clientRegistrationState, registrationRequest } = opaque.startRegistration({ password: passphrase })
  const answer = await ask(registrationRequest)
  const kdf = makeKdf('argon2id')
  const { registrationRecord, exportKey } = opaque.finishRegistration({
    password: passphrase,
    clientRegistrationState,
    registrationResponse: answer.registrationResponse,
    keyStretching: stretchingOf(kdf),
  })
  return { answer, registration: { registrationRecord, exportKey: fromBase64url(exportKey), kdf } }
}

export interface Credentials {
  readonly email: string
  readonly passphrase: string
  readonly deviceInstallationId?: string | undefined
  /** The stretching parameters this device used last: weaker ones are refused. */
  readonly lastKdf?: string | undefined
}

export interface ProvenPassphrase {
  /** For the server: proves the passphrase, once. */
  readonly proof: { readonly attemptId: string; readonly finishLoginRequest: string }
  readonly exportKey: Uint8Array
  readonly kdf: KdfParameters
}

/** The same refusal as the server's: whoever is wrong is told so in one way. */
const loginFailed = (): ApiError =>
  new ApiError(
    { code: 'login_failed', message: ERRORS.login_failed.message, hint: ERRORS.login_failed.hint },
    ERRORS.login_failed.status,
  )

/** The client's half of a login. A wrong passphrase is noticed here, and so is a server that asks for cheaper stretching. */
export async function provePassphrase(
  client: Client,
  { email, passphrase, deviceInstallationId, lastKdf }: Credentials,
): Promise<ProvenPassphrase> {
  await ready
  const { clientLoginState, startLoginRequest } = opaque.startLogin({ password: passphrase })
  const {
    attemptId,
    loginResponse,
    kdf: named,
  } = await client.sessions.loginStart({
    body: { email, startLoginRequest, ...(deviceInstallationId !== undefined && { deviceInstallationId }) },
  })
  const kdf = checkKdf(named, { policyKdf: 'argon2id', lastUsed: lastKdf })
  const result = opaque.finishLogin({
    clientLoginState,
    loginResponse,
    password: passphrase,
    keyStretching: stretchingOf(kdf),
  })
  if (!result) throw loginFailed()
  return {
    proof: { attemptId, finishLoginRequest: result.finishLoginRequest },
    exportKey: fromBase64url(result.exportKey),
    kdf,
  }
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** What is shown to the server in place of a recovery code. It proves the code and opens nothing. */
export async function recoveryTokenOf(code: RecoveryCode): Promise<string> {
  const key = await crypto.subtle.importKey('raw', utf8(formatRecoveryCode(code)), 'HKDF', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt: utf8('strongroom'), info: utf8('recovery token v1') },
    key,
    256,
  )
  return toBase64url(new Uint8Array(bits))
}
