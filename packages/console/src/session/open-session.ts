import { decodePem } from '@strongroom/protocol'
import { connect, generateRuntimeKey, type SigningPerson, type StrongroomOptions } from '@strongroom/sdk'
import { indexedDbTrust, Strongroom } from '@strongroom/sdk/browser'
import { noteVerification } from './alarm.ts'
import { installationId } from './device.ts'
import type { OpenedPerson } from './key-questions.ts'
import type { OpenSession } from './session.ts'

function optionsFor(person: OpenedPerson): StrongroomOptions {
  const { accessToken, privateKey, trustAnchor } = person
  return {
    server: location.origin,
    accessToken,
    privateKey,
    trustAnchor,
    trustStore: indexedDbTrust(),
    // Ciphertexts of what a person looked at have no use on this device.
    cache: false,
    defaultHeaders: { 'x-device-installation-id': installationId() },
    hooks: { onVerify: noteVerification },
  }
}

/** The clients of somebody whose keys are open. */
export function sessionOf(person: OpenedPerson): OpenSession {
  const { accessToken, orgId, userId, email, trustAnchor, privateKey } = person
  const client = connect({ baseUrl: location.origin, deviceInstallationId: installationId() }, { accessToken })
  const signing = async (): Promise<SigningPerson> => {
    const { provider } = await generateRuntimeKey({ principal: `user:${userId}`, material: decodePem(privateKey) })
    return { client, orgId, userId, email, trustAnchor, identity: provider }
  }
  return { strongroom: new Strongroom(optionsFor(person)), client, person, signing }
}
