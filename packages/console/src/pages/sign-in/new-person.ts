import type { Codes } from '@strongroom/sdk'
import { rememberDevice } from '../../session/device.ts'
import { askKeys, type KeyQuestion, type OpenedPerson } from '../../session/key-questions.ts'

/** Somebody whose keys are open under a new passphrase, and the codes of the new kit. */
export interface NewPerson {
  readonly person: OpenedPerson
  readonly codes: Codes
}

/** Asks the worker, and remembers on this device what the next login needs. */
export async function newPerson(question: KeyQuestion & { readonly kind: 'set-up' | 'recover' }): Promise<NewPerson> {
  const answer = await askKeys(question)
  const made = { person: answer.person, codes: answer.codes } as NewPerson
  const { email, trustAnchor, kdf } = made.person
  await rememberDevice({ email, trustAnchor, lastKdf: kdf, deviceSecret: made.codes.deviceSecret })
  return made
}
