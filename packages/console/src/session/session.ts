import type { Client, SigningPerson } from '@strongroom/sdk'
import type { Strongroom } from '@strongroom/sdk/browser'
import { useSyncExternalStore } from 'react'
import { knownDevice } from './device.ts'
import type { OpenedPerson } from './key-questions.ts'
import { type Sharing, startSharing } from './sharing.ts'

// Who is here. All of it lives in the memory of this browser's open tabs: a lock in one of them, or closing the last, ends it.

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

/** Asked without the client, which is loaded when somebody comes in. */
async function isNewServer(): Promise<boolean> {
  const response = await fetch('/api/v1/platform/setup', { credentials: 'omit' })
  const { needed } = (await response.json()) as { needed?: unknown }
  if (!response.ok || typeof needed !== 'boolean') throw new Error('this is no answer of the server')
  return needed
}

let sharing: Sharing | undefined
const others = (): Sharing => {
  sharing ??= startSharing((notice) => {
    if (notice.kind === 'kept') void follow(notice.person)
    else if (notice.kind === 'locked') {
      locks += 1
      lockHere(notice.because)
    } else if (current.state === 'open' && current.person.accessToken === notice.accessToken) lockHere('ended')
  })
  return sharing
}

/** Whoever accepts an invite does so for themselves, whoever else is signed in. */
const isJoining = (): boolean => location.pathname === '/join'

export async function startSession(): Promise<void> {
  const device = await knownDevice().catch(() => undefined)
  const asked = device && !isJoining() ? others().ask(device) : undefined
  try {
    if (await isNewServer()) return change({ state: 'new-server' })
    const person = await asked
    if (!person || !(await openUnlessLocked(person))) change({ state: 'signed-out', email: device?.email })
  } catch {
    change({ state: 'unreachable' })
  }
}

let locks = 0
/** With keys from another tab: if that is locked while this one still loads, it was locked too. */
async function openUnlessLocked(person: OpenedPerson): Promise<boolean> {
  const before = locks
  const { sessionOf } = await import('./open-session.ts')
  if (locks !== before) return false
  change({ state: 'open', ...sessionOf(person) })
  return true
}

export async function openSession(person: OpenedPerson): Promise<void> {
  const { sessionOf } = await import('./open-session.ts')
  change({ state: 'open', ...sessionOf(person) })
  others().say({ kind: 'keep', person })
}

/** Another tab of this person was opened, or goes on with other keys or in another session: so does this one. */
async function follow(person: OpenedPerson): Promise<void> {
  if (current.state !== 'open' && current.state !== 'signed-out') return
  for (const listener of switchers) listener()
  await openUnlessLocked(person)
}

/** For what is done in this tab alone: it does not become what the other tabs are. */
export const leaveOthers = (): void => others().say({ kind: 'leave' })

let isReplacing = false
const switchers = new Set<() => void>()
/** Called when one session follows another: what the older one still asks for is of no use. */
export const onSwitch = (listener: () => void): void => void switchers.add(listener)

/** For a change that ends every session of a person, this one too. What is asked meanwhile and refused does not sign them out. */
export async function replaceSession(makeNext: () => Promise<OpenedPerson>): Promise<void> {
  isReplacing = true
  try {
    const next = await makeNext()
    for (const listener of switchers) listener()
    await openSession(next)
  } finally {
    isReplacing = false
  }
}

/** Called with everything that must go: answers, forms, what is on the clipboard. */
const forgetters = new Set<() => void>()
export const onLock = (forget: () => void): void => void forgetters.add(forget)

function lockHere(because: 'idle' | 'ended' | 'locked'): void {
  if (current.state !== 'open' || (isReplacing && because === 'ended')) return
  const { email } = current.person
  for (const forget of forgetters) forget()
  change({ state: 'signed-out', because, email })
}

/** In every tab: nobody looks for the one that was left open. A session that ended ends for its own tabs only. */
export function lock(because: 'idle' | 'ended' | 'locked'): void {
  if (current.state !== 'open' || (isReplacing && because === 'ended')) return
  const { accessToken } = current.person
  lockHere(because)
  others().say(because === 'ended' ? { kind: 'end', accessToken } : { kind: 'lock', because })
}

export async function signOut(): Promise<void> {
  if (current.state !== 'open') return
  const { client } = current
  lock('ended')
  // The session ends at the server too; if it does not answer, it ends by itself.
  await client.sessions.logout().catch(() => undefined)
}
