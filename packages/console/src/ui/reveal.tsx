import type { Secret } from '@strongroom/sdk'
import { useEffect, useRef, useState } from 'react'
import { onLock } from '../session/session.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'

const HOLD_MS = 600
const SHOWN_MS = 30_000

/** Called at a lock, for every value that is in sight. */
const shown = new Set<() => void>()
onLock(() => {
  for (const hide of shown) hide()
})

/**
 * A value that is shown on purpose: by holding the button, or by Enter twice. It is not in the page before, and goes by itself after
 * half a minute. The read that brought it here is in the audit log already.
 */
export function Reveal({ label, open }: { readonly label: string; open(): Promise<Secret> }) {
  const [value, setValue] = useState<string>()
  const [isArmed, setArmed] = useState(false)
  const holding = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = (): void => void open().then((secret) => setValue(secret.reveal()))
  useEffect(() => {
    if (value === undefined) return
    const hide = (): void => setValue(undefined)
    const timer = setTimeout(hide, SHOWN_MS)
    shown.add(hide)
    return () => {
      clearTimeout(timer)
      shown.delete(hide)
    }
  }, [value])
  if (value !== undefined)
    return (
      <span className="inline-flex max-w-full items-center gap-1">
        <code className="min-w-0 break-all whitespace-pre-wrap">{value}</code>
        <CopyButton text={value} label={`Copy ${label}`} />
        <Button kind="quiet" onClick={() => setValue(undefined)}>
          Hide
        </Button>
      </span>
    )
  const release = (): void => clearTimeout(holding.current)
  return (
    <Button
      kind="quiet"
      aria-label={`Reveal ${label}: hold, or press Enter twice`}
      onPointerDown={() => {
        holding.current = setTimeout(show, HOLD_MS)
      }}
      onPointerUp={release}
      onPointerLeave={release}
      onBlur={() => setArmed(false)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.repeat) return
        event.preventDefault()
        if (isArmed) show()
        setArmed(!isArmed)
      }}
    >
      <span aria-hidden="true">{isArmed ? 'Enter once more' : '••••••••  hold'}</span>
    </Button>
  )
}
