import { useSyncExternalStore } from 'react'
import { onLock } from '../session/session.ts'

// What goes to the clipboard. A browser may refuse it, by its settings or because the page is not in front: then the text is shown, to be
// copied by hand. Gone at a lock, since it may be a secret.

let refused: string | undefined
const listeners = new Set<() => void>()

function change(next: string | undefined): void {
  refused = next
  for (const listener of listeners) listener()
}

onLock(() => change(undefined))

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What the browser did not take, until somebody has it. */
export const useRefusedText = (): string | undefined => useSyncExternalStore(subscribe, () => refused)

export const putAway = (): void => change(undefined)

/** For a text that is in sight for a while only: it is not to stay here longer. */
export function forgetText(text: string): void {
  if (refused === text) putAway()
}

/** Whether the browser took it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    change(text)
    return false
  }
}
