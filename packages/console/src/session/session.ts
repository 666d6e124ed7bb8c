import { decodePem } from '@strongroom/protocol'
import { type Client, connect, generateRuntimeKey, type SigningPerson, type StrongroomOptions } from '@strongroom/sdk'
import { indexedDbTrust, Strongroom } from '@strongroom/sdk/browser'
import { useSyncExternalStore } from 'react'
import { noteVerification } from './alarm.ts'
import { installationId, knownDevice } from './device.ts'
import type { OpenedPerson } from './key-questions.ts'

// Who is here. All of it lives in the memory of this page: a reload, a lock or a closed tab ends it.

export interface OpenSession {
  readonly strongroom: Strongroom
  /** Routes for people that the client has no methods for. */
  readonly client: Client
  readonly person: OpenedPerson
  /** Opens the keys for signing on behalf of the organisation. */
  signing(): Promise<SigningPerson>
}

export type Session =
  | { readonly state: 'starting' }
  /** The server has no organisation yet. */
  | { readonly state: 'new-server' }
  | {
      readonly state: 'signed-out'
      readonly because?: 'idle' | 'ended' | 'locked'
      readonly email?: string | undefined
    }
  | { readonly state: 'unreachable' }
  | ({ readonly state: 'open' } & OpenSession)

let current: Session = { state: 'starting' }
const listeners = new Set<() => void>()

function change(next: Session): void {
  current = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useSession = (): Session => useSyncExternalStore(subscribe, () => current)

export function useOpenSession(): OpenSession {
  const session = useSession()
  if (session.state !== 'open') throw new Error('this page needs somebody who is signed in')
  return session
}

/** The verifying client of whoever is signed in. */
export const useStrongroom = (): Strongroom => useOpenSession().strongroom

export async function startSession(): Promise<void> {
  const device = await knownDevice().catch(() => undefined)
  try {
    const { needed } = await connect({ baseUrl: location.origin }).setup.status()
    change(needed ? { state: 'new-server' } : { state: 'signed-out', email: device?.email })
  } catch {
    change({ state: 'unreachable' })
  }
}

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

export function openSession(person: OpenedPerson): void {
  const { accessToken, orgId, userId, email, trustAnchor, privateKey } = person
  const client = connect({ baseUrl: location.origin, deviceInstallationId: installationId() }, { accessToken })
  const signing = async (): Promise<SigningPerson> => {
    const { provider } = await generateRuntimeKey({ principal: `user:${userId}`, material: decodePem(privateKey) })
    return { client, orgId, userId, email, trustAnchor, identity: provider }
  }
  change({ state: 'open', strongroom: new Strongroom(optionsFor(person)), client, person, signing })
}

/** Called with everything that must go: answers, forms, what is on the clipboard. */
const forgetters = new Set<() => void>()
export const onLock = (forget: () => void): void => void forgetters.add(forget)

export function lock(because: 'idle' | 'ended' | 'locked'): void {
  if (current.state !== 'open') return
  const { email } = current.person
  for (const forget of forgetters) forget()
  change({ state: 'signed-out', because, email })
}

export async function signOut(): Promise<void> {
  if (current.state !== 'open') return
  const { client } = current
  lock('ended')
  // The session ends at the server too; if it does not answer, it ends by itself.
  await client.sessions.logout().catch(() => undefined)
}
