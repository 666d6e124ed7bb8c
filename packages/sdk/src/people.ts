import {
  type DeviceSecret,
  defaultPolicy,
  deriveRecoveryCodeKey,
  deriveUnlockKey,
  documentHash,
  encodePem,
  exportPrivateBundle,
  formatDeviceSecret,
  formatRecoveryCode,
  type Identity,
  makeDeviceSecret,
  makeDocument,
  makeKeys,
  makeRecoveryCode,
  openKeys,
  orgGenesis,
  type Policy,
  type PrivateKeyMaterial,
  ProtocolError,
  parseDeviceSecret,
  parseTrustAnchor,
  type RecoveryCode,
  sealPrivateBundle,
} from '@strongroom/protocol'
import { type Client, type ClientOptions, createClient } from './client.ts'
import { provePassphrase, type Registration, randomText, recoveryTokenOf, registerPassphrase } from './passphrase.ts'
import { published } from './provisioner.ts'
import { sendOnce } from './send-once.ts'
import { Secret } from './strongroom/secret.ts'

// How a person comes in: the first one of an organisation, and everybody at login. Keys are made here and leave only sealed.

export interface Server {
  readonly baseUrl: string
  readonly deviceInstallationId?: string | undefined
  readonly fetch?: ClientOptions['fetch'] | undefined
}

/** A client for this server with these credentials. */
export const connect = (
  { baseUrl, deviceInstallationId, fetch }: Server,
  credentials: Pick<ClientOptions, 'accessToken' | 'setupToken'> = {},
): Client =>
  createClient({
    baseUrl,
    ...credentials,
    ...(deviceInstallationId !== undefined && { deviceInstallationId }),
    ...(fetch && { fetch }),
  })

export const onDevice = ({ deviceInstallationId }: Server): { deviceInstallationId?: string } =>
  deviceInstallationId === undefined ? {} : { deviceInstallationId }

/** Shown once, to be kept on paper or in a safe place of the device. */
export interface Codes {
  readonly deviceSecret: string
  readonly recoveryCode: string
}

/** Somebody who is logged in and can use their keys. */
export interface Person {
  readonly client: Client
  readonly accessToken: string
  readonly expiresAt: string
  readonly orgId: string
  readonly userId: string
  readonly email: string
  readonly identity: Identity
  /** PEM with the private keys, for a device that keeps them: whoever has it is this person. */
  exportPem(): Secret
  readonly trustAnchor: string
  /** Parameters of passphrase stretching, for the device to remember: weaker ones are refused later. */
  readonly kdf: string
  readonly bundleVersion: number
}

/** A person as far as signing for the organisation goes, also one whose session was opened elsewhere. */
export type SigningPerson = Pick<Person, 'client' | 'orgId' | 'userId' | 'email' | 'identity' | 'trustAnchor'>

export interface Owner {
  readonly orgId: string
  readonly userId: string
}

export interface SealedForServer {
  readonly registrationRecord: string
  readonly kid: string
  readonly kdf: string
  readonly bundleVersion: number
  readonly privateBundle: string
  readonly recovery: { readonly bundle: string; readonly token: string }
}

export const pemOf =
  (userId: string, material: PrivateKeyMaterial): Person['exportPem'] =>
  () =>
    new Secret(encodePem(material), { ref: `private key of user:${userId}`, name: 'private key' })

/** New keys of a new person, sealed twice: for passphrase and device secret, and for the recovery code. */
export async function sealNewKeys(
  { orgId, userId }: Owner,
  { registrationRecord, exportKey, kdf }: Registration,
  material: PrivateKeyMaterial,
): Promise<Pick<Person, 'identity' | 'exportPem'> & { readonly codes: Codes; readonly sealed: SealedForServer }> {
  const identity = await openKeys(`user:${userId}`, material)
  const place = { org: orgId, orgUserId: userId, kid: identity.kid, bundleVersion: 1 }
  const deviceSecret: DeviceSecret = makeDeviceSecret()
  const code: RecoveryCode = makeRecoveryCode()
  const privateBundle = await sealPrivateBundle(
    deriveUnlockKey({ exportKey, deviceSecret }, place),
    { ...place, phcParams: kdf.phc },
    material,
  )
  const bundle = await sealPrivateBundle(deriveRecoveryCodeKey(code, place), { ...place, phcParams: '' }, material)
  return {
    identity,
    exportPem: pemOf(userId, material),
    codes: { deviceSecret: formatDeviceSecret(deviceSecret), recoveryCode: formatRecoveryCode(code) },
    sealed: {
      registrationRecord,
      kid: identity.kid,
      kdf: kdf.phc,
      bundleVersion: 1,
      privateBundle,
      recovery: { bundle, token: await recoveryTokenOf(code) },
    },
  }
}

export interface SetUpOptions extends Server {
  readonly setupToken: string
  readonly email: string
  readonly passphrase: string
  readonly orgName: string
  readonly userName: string
  readonly tenantName: string
  /** Ready keys, where they were made elsewhere; otherwise new ones are made. */
  readonly keys?: PrivateKeyMaterial | undefined
}

export interface FirstPerson extends Person {
  readonly tenantId: string
  readonly codes: Codes
}

/**
 * Names who signs hand-offs of licences on this server, so that what is bought can be taken. A server that says nothing of it, or nothing
 * that holds, is set up all the same: `licenses.enable` names it later.
 */
async function firstPolicy({ baseUrl, fetch }: Server): Promise<Policy> {
  const { provisioner } = (await published(baseUrl, fetch).catch(() => undefined)) ?? {}
  return { ...defaultPolicy(1), ...(provisioner !== undefined && { provisioners: [provisioner] }) }
}

/** Makes the organisation of a new server: its first person with keys, its genesis document, its first tenant. */
export async function setUp(options: SetUpOptions): Promise<FirstPerson> {
  const { email, orgName, userName, tenantName, setupToken } = options
  const client = connect(options, { setupToken })
  const { answer: start, registration } = await registerPassphrase(options.passphrase, (registrationRequest) =>
    client.setup.start({ body: { email, registrationRequest } }),
  )
  const { orgId, userId, attemptId, log } = start
  const { identity, exportPem, codes, sealed } = await sealNewKeys(
    start,
    registration,
    options.keys ?? (await makeKeys()),
  )
  const { kid, key } = identity
  const members = {
    org: orgId,
    at: Date.now(),
    admins: [{ kid, key: key.bundle }],
    policy: await firstPolicy(options),
    salt: randomText(16),
  }
  const genesis = await makeDocument(orgGenesis, members, [identity])
  const body = { attemptId, orgName, userName, tenantName, genesis: genesis, ...sealed, ...onDevice(options) }
  const finish = await sendOnce(
    () => client.setup.finish({ body }),
    () => login({ ...options, deviceSecret: codes.deviceSecret }),
  )
  const { accessToken, expiresAt, trustAnchor, tenantId } = finish
  ensureAnchor(trustAnchor, { org: orgId, genesis: documentHash(genesis), origin: log.origin, logVkeys: [log.vkey] })
  const { kdf, bundleVersion } = sealed
  return {
    client: connect(options, { accessToken }),
    accessToken,
    expiresAt,
    orgId,
    userId,
    tenantId,
    email,
    identity,
    exportPem,
    codes,
    trustAnchor,
    kdf,
    bundleVersion,
  }
}

export interface Pinned {
  readonly org: string
  readonly genesis: string
  readonly origin?: string
  readonly logVkeys?: readonly string[]
}

/** The server names an anchor; it must be of the organisation that is known already, and of a log with a key that is. */
export function ensureAnchor(trustAnchor: string, pinned: Pinned): void {
  const { org, genesis, origin, logVkeys } = parseTrustAnchor(trustAnchor)
  const agrees =
    org === pinned.org && genesis === pinned.genesis && (pinned.origin === undefined || origin === pinned.origin)
  if (!agrees)
    throw new ProtocolError(
      'genesis_mismatch',
      'the server names another organisation or log than the one that is known',
      { org: pinned.org },
    )
  // While a log changes its key it signs with both, so one that is known is still among them.
  if (pinned.logVkeys !== undefined && !pinned.logVkeys.some((vkey) => logVkeys.includes(vkey)))
    throw new ProtocolError(
      'log_key',
      'the log of this server has another key than the one that is known: if that is meant, an administrator gives you the new trust anchor by another way than this server',
      { org: pinned.org },
    )
}

/**
 * The anchor that was given by another way than the server stays as it is, if the server's agrees: log keys, witnesses and minimum
 * are what the server is held to. A longer minimum of the server would not do instead: nothing proves that it extends the other.
 */
export function keptAnchor(fromServer: string, given: string | undefined): string {
  if (given === undefined) return fromServer
  ensureAnchor(fromServer, parseTrustAnchor(given))
  return given
}

export interface LoginOptions extends Server {
  readonly email: string
  readonly passphrase: string
  /** `SRD1-…` */
  readonly deviceSecret: string
  /** What this device was told before; without it the server is believed, once. */
  readonly trustAnchor?: string | undefined
  readonly lastKdf?: string | undefined
}

/** Logs in and opens the keys. The passphrase stays here; a wrong one ends in `login_failed`, a wrong device secret in `aead`. */
export async function login(options: LoginOptions): Promise<Person & { readonly tenantId: string }> {
  const deviceSecret = parseDeviceSecret(options.deviceSecret)
  const client = connect(options)
  const { proof, exportKey, kdf } = await provePassphrase(client, options)
  const answer = await client.sessions.loginFinish({ body: { ...proof, ...onDevice(options) } })
  const { accessToken, expiresAt, user, org, kid, bundleVersion, privateBundle } = answer
  const trustAnchor = keptAnchor(answer.trustAnchor, options.trustAnchor)
  const place = { org: org.orgId, orgUserId: user.userId, kid, bundleVersion, phcParams: kdf.phc }
  const unlockKey = deriveUnlockKey({ exportKey, deviceSecret }, place)
  const { identity, material } = await exportPrivateBundle(unlockKey, place, privateBundle)
  return {
    client: connect(options, { accessToken }),
    accessToken,
    expiresAt,
    orgId: org.orgId,
    userId: user.userId,
    tenantId: user.tenantId,
    email: user.email,
    identity,
    exportPem: pemOf(user.userId, material),
    trustAnchor,
    kdf: kdf.phc,
    bundleVersion,
  }
}
