import type { Verification, VerificationError } from '@strongroom/sdk'
import { useSyncExternalStore } from 'react'

// What this browser has verified, and what it refused. A refusal stays until the page is loaded anew: it replaces every page.

interface Verified {
  readonly at: number
  readonly ms: number
}

let alarm: VerificationError | undefined
let last: Verified | undefined
const listeners = new Set<() => void>()
const tell = (): void => {
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function raiseAlarm(error: VerificationError): void {
  alarm ??= error
  tell()
}

export function noteVerification({ ok, ms }: Verification): void {
  if (!ok) return
  last = { at: Date.now(), ms }
  tell()
}

export const useAlarm = (): VerificationError | undefined => useSyncExternalStore(subscribe, () => alarm)
export const useLastVerified = (): Verified | undefined => useSyncExternalStore(subscribe, () => last)
