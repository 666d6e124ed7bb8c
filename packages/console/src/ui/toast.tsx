import * as Radix from '@radix-ui/react-toast'
import { useSyncExternalStore } from 'react'
import { onLock } from '../session/session.ts'

// What happened just now, for a moment, and how to take it back. Gone at a lock: it has names in it, and whoever comes in next may be another.

interface Told {
  readonly id: number
  readonly text: string
  readonly undo?: (() => void) | undefined
}

let told: readonly Told[] = []
let made = 0
const listeners = new Set<() => void>()

function change(next: readonly Told[]): void {
  told = next
  for (const listener of listeners) listener()
}

onLock(() => change([]))

export function toast(text: string, undo?: () => void): void {
  made += 1
  change([...told.slice(-2), { id: made, text, undo }])
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
const forget = (id: number): void => change(told.filter((one) => one.id !== id))

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => told)
  return (
    <Radix.Provider duration={8000} label="Notice">
      {all.map(({ id, text, undo }) => (
        <Radix.Root
          key={id}
          onOpenChange={(isOpen) => !isOpen && forget(id)}
          className="flex items-center justify-between gap-4 rounded-overlay border border-rule bg-surface px-4 py-2 shadow-overlay"
        >
          <Radix.Description>{text}</Radix.Description>
          {undo && (
            <Radix.Action altText="Undo" onClick={undo} className="min-h-6 cursor-pointer font-[550] text-link">
              Undo
            </Radix.Action>
          )}
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed right-4 bottom-4 z-60 grid w-[min(380px,calc(100vw-32px))] gap-2 outline-none" />
    </Radix.Provider>
  )
}
