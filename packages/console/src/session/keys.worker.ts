import { encodePem, makeKeys, ProtocolError } from '@strongroom/protocol'
import { ApiError, acceptInvite, login, type Person, recover, StrongroomError, setUp } from '@strongroom/sdk'
import type { KeyAnswer, KeyQuestion, OpenedPerson, Refusal } from './key-questions.ts'

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
      return { pem: encodePem(await makeKeys()) }
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
