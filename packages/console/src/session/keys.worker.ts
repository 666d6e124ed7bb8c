import { decodePem, encodePem, makeKeys, ProtocolError } from '@strongroom/protocol'
import {
  ApiError,
  acceptInvite,
  changePassphrase,
  connect,
  generateRuntimeKey,
  login,
  type OwnSecrets,
  type Person,
  prepareRotation,
  recover,
  renewRecoveryCode,
  type Server,
  StrongroomError,
  setUp,
} from '@strongroom/sdk'
import type { KeyAnswer, KeyQuestion, OpenedPerson, PreparedKeys, Refusal } from './key-questions.ts'

// Everything that touches a passphrase: the page stays responsive, and the policy of the page can forbid WebAssembly, which OPAQUE
// needs and only this worker may use. A worker answers one question and is ended.

const personOf = (person: Person): OpenedPerson => ({
  accessToken: person.accessToken,
  expiresAt: person.expiresAt,
  orgId: person.orgId,
  userId: person.userId,
  email: person.email,
  privateKey: person.exportPem().reveal(),
  trustAnchor: person.trustAnchor,
  kdf: person.kdf,
})

/** The page gave all it has of a person; the bundle is fetched anew by whoever needs it. */
async function personFrom(opened: OpenedPerson, server: Server): Promise<Person> {
  const { accessToken, expiresAt, orgId, userId, email, trustAnchor, kdf, privateKey } = opened
  const { provider, exportPem } = await generateRuntimeKey({
    principal: `user:${userId}`,
    material: decodePem(privateKey),
  })
  const client = connect(server, { accessToken })
  const members = { accessToken, expiresAt, orgId, userId, email, trustAnchor, kdf, bundleVersion: 0 }
  return { ...members, client, identity: provider, exportPem }
}

const NO_ROTATION = { event: { payloadType: '', payload: '', signatures: [] }, replacements: [] }

/** Makes and seals new keys, and sends nothing: what would be sent is given to the page, which has the vault keys to wrap. */
async function prepare(person: Person, server: Server, own: OwnSecrets): Promise<PreparedKeys> {
  let sealed: PreparedKeys['sealed'] | undefined
  const { client } = person
  const rotate: typeof client.userKeys.rotate = async ({ body }) => {
    const { bundleVersion, privateBundle, recovery } = body
    sealed = { bundleVersion, privateBundle, recovery }
    return { kid: '', bundleVersion }
  }
  const keeping = { ...client, userKeys: { ...client.userKeys, rotate } }
  const prepared = await prepareRotation({ ...person, client: keeping }, server, own)
  await prepared.submit(NO_ROTATION)
  if (!sealed) throw new TypeError('the new keys were not sealed')
  return { privateKey: encodePem(prepared.keys), recoveryCode: prepared.recoveryCode, sealed }
}

async function answer(question: KeyQuestion): Promise<KeyAnswer> {
  switch (question.kind) {
    case 'set-up': {
      const person = await setUp(question.options)
      return { person: personOf(person), codes: person.codes }
    }
    case 'log-in':
      return { person: personOf(await login(question.options)) }
    case 'recover': {
      const person = await recover(question.options)
      return { person: personOf(person), codes: person.codes }
    }
    case 'join': {
      const { email, trustAnchor, identity, codes } = await acceptInvite(question.options)
      return { joined: { email, trustAnchor, kid: identity.kid }, codes }
    }
    case 'make-keys':
      return { pem: encodePem(await makeKeys({ rsaBits: question.bits ?? 3072 })) }
    case 'change-passphrase': {
      const { person, server, own, newPassphrase } = question
      return { person: personOf(await changePassphrase(await personFrom(person, server), server, own, newPassphrase)) }
    }
    case 'renew-recovery-code': {
      const { person, server, own } = question
      return { recoveryCode: await renewRecoveryCode(await personFrom(person, server), server, own) }
    }
    case 'prepare-rotation': {
      const { person, server, own } = question
      return { prepared: await prepare(await personFrom(person, server), server, own) }
    }
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ApiError || StrongroomError.is(error) || error instanceof ProtocolError) {
    const { code, message } = error
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
    return { code, message, ...(hint !== undefined && { hint }) }
  }
  return { code: 'failed', message: error instanceof Error ? error.message : 'it failed' }
}

globalThis.onmessage = ({ data }: MessageEvent<KeyQuestion>) => {
  void answer(data).then(
    (given) => postMessage({ given }),
    (error: unknown) => postMessage({ refused: refusalOf(error) }),
  )
}
