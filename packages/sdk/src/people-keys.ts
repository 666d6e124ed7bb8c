import {
  type Dek,
  type DeviceSecret,
  deriveRecoveryCodeKey,
  deriveUnlockKey,
  exportPrivateBundle,
  formatDeviceSecret,
  formatRecoveryCode,
  type Identity,
  type Rotation as KeyRotation,
  makeDeviceSecret,
  makeKeys,
  makeRecoveryCode,
  openKeys,
  type PrivateKeyMaterial,
  parseDeviceSecret,
  parseRecoveryCode,
  resealPrivateBundle,
  rotateKey,
  sealPrivateBundle,
} from '@strongroom/protocol'
import {
  type ProvenPassphrase,
  provePassphrase,
  type Registration,
  recoveryTokenOf,
  registerPassphrase,
} from './passphrase.ts'
import {
  type Codes,
  connect,
  keptAnchor,
  login,
  onDevice,
  type Person,
  pemOf,
  type Server,
  type SigningPerson,
} from './people.ts'
import { sendOnce } from './send-once.ts'

// What a person does with their own keys: another passphrase, another recovery code, other keys, and the way back with the code.

export interface OwnSecrets {
  readonly passphrase: string
  /** `SRD1-…` */
  readonly deviceSecret: string
}

type SealedBundle<P extends 'unlock' | 'recovery'> = Parameters<typeof resealPrivateBundle<P, P>>[0]

interface Opened {
  readonly proven: ProvenPassphrase
  readonly from: SealedBundle<'unlock'>
  readonly deviceSecret: DeviceSecret
}

/** The sealed keys as they are now, with the key that opens them. */
async function openOwn(person: SigningPerson, server: Server, own: OwnSecrets): Promise<Opened> {
  const deviceSecret = parseDeviceSecret(own.deviceSecret)
  const proven = await provePassphrase(person.client, {
    email: person.email,
    passphrase: own.passphrase,
    deviceInstallationId: server.deviceInstallationId,
  })
  const { kid, bundleVersion, privateBundle } = await person.client.userKeys.get()
  const place = { org: person.orgId, orgUserId: person.userId, kid, bundleVersion, phcParams: proven.kdf.phc }
  return {
    proven,
    deviceSecret,
    from: { key: deriveUnlockKey({ exportKey: proven.exportKey, deviceSecret }, place), place, text: privateBundle },
  }
}

/** A new passphrase: the keys are sealed anew, every session ends, and the person goes on in a new one. */
export async function changePassphrase(
  person: Person,
  server: Server,
  own: OwnSecrets,
  newPassphrase: string,
): Promise<Person> {
  const { proven, deviceSecret, from } = await openOwn(person, server, own)
  const { registration } = await registerPassphrase(newPassphrase, (registrationRequest) =>
    person.client.userKeys.register({ body: { registrationRequest } }),
  )
  const place = { ...from.place, bundleVersion: from.place.bundleVersion + 1, phcParams: registration.kdf.phc }
  const privateBundle = await resealPrivateBundle(from, {
    key: deriveUnlockKey({ exportKey: registration.exportKey, deviceSecret }, place),
    place,
  })
  const { registrationRecord } = registration
  const body = {
    proof: proven.proof,
    registrationRecord,
    kdf: place.phcParams,
    bundleVersion: place.bundleVersion,
    privateBundle,
    ...onDevice(server),
  }
  const { email, trustAnchor } = person
  const { accessToken, expiresAt } = await sendOnce<
    Pick<Person, 'expiresAt'> & { readonly accessToken: string | null }
  >(
    () => person.client.userKeys.change({ body }),
    () => login({ ...server, email, trustAnchor, deviceSecret: own.deviceSecret, passphrase: newPassphrase }),
  )
  if (accessToken === null) throw new TypeError('a passphrase change was answered from memory, without the new session')
  return {
    ...person,
    client: connect(server, { accessToken }),
    accessToken,
    expiresAt,
    kdf: place.phcParams,
    bundleVersion: place.bundleVersion,
  }
}

/** A new recovery code; the one before stops working. */
export async function renewRecoveryCode(person: Person, server: Server, own: OwnSecrets): Promise<string> {
  const { proven, from } = await openOwn(person, server, own)
  const code = makeRecoveryCode()
  const place = { ...from.place, phcParams: '' as const }
  const bundle = await resealPrivateBundle(from, { key: deriveRecoveryCodeKey(code, place), place })
  await person.client.userKeys.setRecovery({
    body: {
      proof: proven.proof,
      bundleVersion: place.bundleVersion,
      recovery: { bundle, token: await recoveryTokenOf(code) },
    },
  })
  return formatRecoveryCode(code)
}

export interface Rotation {
  /** The vault keys of every live grant: the log refuses an incomplete batch. */
  readonly held: readonly Dek[]
  readonly keys?: PrivateKeyMaterial | undefined
}

export interface PreparedRotation {
  readonly keys: PrivateKeyMaterial
  /** `SRR1-…`: the one before stops working with the old keys. */
  readonly recoveryCode: string
  readonly bundleVersion: number
  /** Brings a rotation to these keys to the server, with the keys sealed for passphrase and code: all of it or nothing. */
  submit(rotation: KeyRotation): Promise<void>
}

/** New keys of a person, sealed and ready; nothing has changed yet. */
export async function prepareRotation(
  person: SigningPerson,
  server: Server,
  own: OwnSecrets,
  given?: PrivateKeyMaterial,
): Promise<PreparedRotation> {
  const { from, deviceSecret, proven } = await openOwn(person, server, own)
  const keys = given ?? (await makeKeys())
  const { kid } = await openKeys(`user:${person.userId}`, keys)
  const place = { ...from.place, kid, bundleVersion: from.place.bundleVersion + 1 }
  const unlock = deriveUnlockKey({ exportKey: proven.exportKey, deviceSecret }, place)
  const privateBundle = await sealPrivateBundle(unlock, place, keys)
  const code = makeRecoveryCode()
  const bundle = await sealPrivateBundle(deriveRecoveryCodeKey(code, place), { ...place, phcParams: '' }, keys)
  const recovery = { bundle, token: await recoveryTokenOf(code) }
  const { bundleVersion } = place
  return {
    keys,
    recoveryCode: formatRecoveryCode(code),
    bundleVersion,
    submit: async ({ event, replacements }) => {
      const body = { event, replacements: [...replacements], bundleVersion, privateBundle, recovery }
      await person.client.userKeys.rotate({ body })
    },
  }
}

/** New keys in place of the old ones, linked to them in the log. There is a new recovery code too. */
export async function rotateUserKey(
  person: Person,
  server: Server,
  own: OwnSecrets,
  { held, keys: given }: Rotation,
): Promise<Person & { readonly recoveryCode: string }> {
  const { keys, recoveryCode, bundleVersion, submit } = await prepareRotation(person, server, own, given)
  const identity: Identity = await openKeys(`user:${person.userId}`, keys)
  await submit(await rotateKey({ org: person.orgId, at: Date.now(), held }, person.identity, identity))
  return { ...person, identity, exportPem: pemOf(person.userId, keys), bundleVersion, recoveryCode }
}

export interface RecoverOptions extends Server {
  readonly email: string
  /** `SRR1-…` */
  readonly recoveryCode: string
  readonly newPassphrase: string
  readonly trustAnchor?: string | undefined
}

/** The same keys under another passphrase, a new device secret and a new recovery code. */
async function sealAnew(from: SealedBundle<'recovery'>, bundleVersion: number, registration: Registration) {
  const copy = { ...from.place, bundleVersion }
  const place = { ...copy, phcParams: registration.kdf.phc }
  const deviceSecret = makeDeviceSecret()
  const code = makeRecoveryCode()
  const unlock = deriveUnlockKey({ exportKey: registration.exportKey, deviceSecret }, place)
  const privateBundle = await resealPrivateBundle(from, { key: unlock, place })
  const bundle = await resealPrivateBundle(from, { key: deriveRecoveryCodeKey(code, copy), place: copy })
  const recovery = { bundle, token: await recoveryTokenOf(code) }
  const { registrationRecord } = registration
  return {
    codes: { deviceSecret: formatDeviceSecret(deviceSecret), recoveryCode: formatRecoveryCode(code) },
    sealed: { registrationRecord, kdf: place.phcParams, bundleVersion, privateBundle, recovery },
  }
}

/** Back in with the recovery code alone: a new passphrase, a new device secret, a new code. The keys stay. */
export async function recover(options: RecoverOptions): Promise<Person & { readonly codes: Codes }> {
  const { email } = options
  const code = parseRecoveryCode(options.recoveryCode)
  const client = connect(options)
  const token = await recoveryTokenOf(code)
  const { answer, registration } = await registerPassphrase(options.newPassphrase, (registrationRequest) =>
    client.userKeys.recoveryStart({ body: { email, token, registrationRequest } }),
  )
  const { orgId, userId, kid, attemptId } = answer
  const trustAnchor = keptAnchor(answer.trustAnchor, options.trustAnchor)
  const place = { org: orgId, orgUserId: userId, kid, bundleVersion: answer.recoveryVersion, phcParams: '' as const }
  const from = { key: deriveRecoveryCodeKey(code, place), place, text: answer.recoveryBundle }
  const { identity, material } = await exportPrivateBundle(from.key, place, from.text)
  const { codes, sealed } = await sealAnew(from, answer.bundleVersion + 1, registration)
  const body = { attemptId, ...sealed, ...onDevice(options) }
  const { accessToken, expiresAt } = await sendOnce(
    () => client.userKeys.recoveryFinish({ body }),
    () => login({ ...options, trustAnchor, deviceSecret: codes.deviceSecret, passphrase: options.newPassphrase }),
  )
  const { kdf, bundleVersion } = sealed
  const person = { client: connect(options, { accessToken }), accessToken, expiresAt, orgId, userId, email, identity }
  return { ...person, exportPem: pemOf(userId, material), trustAnchor, kdf, bundleVersion, codes }
}
