import type { Secret } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { onLock } from '../session/session.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { forgetText } from './clipboard.ts'
import { useCopy } from './copy.tsx'
import { ProblemNote } from './states.tsx'
import { toast } from './toast.tsx'

const HOLD_MS = 600
const SHOWN_MS = 30_000

/** Called at a lock, for every value that is in sight. */
const shown = new Set<() => void>()
onLock(() => {
  for (const hide of shown) hide()
})

/** A value in sight, until half a minute is over, it is hidden, or the page is locked. */
function Shown({ label, value, onHide }: { readonly label: string; readonly value: string; onHide(): void }) {
  const [copied, copy] = useCopy()
  const [isOnClipboard, setOnClipboard] = useState(false)
  useEffect(() => {
    const timer = setTimeout(onHide, SHOWN_MS)
    shown.add(onHide)
    return () => {
      clearTimeout(timer)
      shown.delete(onHide)
      forgetText(value)
    }
  }, [onHide, value])
  const clear = (): void =>
    void navigator.clipboard.writeText('').then(
      () => setOnClipboard(false),
      () => toast('The browser did not let this page clear the clipboard. Copy something else over it.'),
    )
  return (
    <span className="grid w-full gap-1">
      <code
        role="status"
        aria-label={`Value of ${label}`}
        className="max-h-64 min-w-0 overflow-auto rounded-control border border-rule bg-raised px-2.5 py-1 break-all whitespace-pre-wrap"
      >
        {value}
      </code>
      <span className="flex flex-wrap gap-1">
        <Button
          kind="quiet"
          aria-label={`Copy the value of ${label}`}
          onClick={() => void copy(value).then((isCopied) => setOnClipboard((before) => before || isCopied))}
        >
          {copied ? 'Copied' : 'Copy the value'}
        </Button>
        {isOnClipboard && (
          <Button kind="quiet" onClick={clear}>
            Clear the clipboard
          </Button>
        )}
        <Button kind="quiet" onClick={onHide} autoFocus aria-label={`Hide ${label}`}>
          Hide
        </Button>
      </span>
    </span>
  )
}

/**
 * A value that is shown on purpose: by holding the button, or by Enter twice. It is asked for and decrypted only then, is not in the
 * page before, and goes by itself after half a minute. The server has the read in its audit log.
 */
export function Reveal({ label, open }: { readonly label: string; open(): Promise<Secret> }) {
  const [value, setValue] = useState<string>()
  const [isArmed, setArmed] = useState(false)
  const holding = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [hide] = useState(() => () => setValue(undefined))
  const show = useMutation({
    // Nothing of it stays in the memory of the mutation: it answers nothing.
    mutationFn: async () => setValue((await open()).reveal()),
    gcTime: 0,
  })
  useEffect(() => () => clearTimeout(holding.current), [])
  if (value !== undefined) return <Shown label={label} value={value} onHide={hide} />
  const release = (): void => clearTimeout(holding.current)
  const press = (): void => {
    if (isArmed) show.mutate()
    setArmed(!isArmed)
  }
  return (
    <>
      <Button
        kind="quiet"
        // How is said beside the word that the button is called by, so that who speaks to the computer can say that word.
        className={classes(
          "-ml-3 touch-none font-[450] select-none before:content-['••••••••'] after:text-ink-3",
          isArmed ? "after:content-['Enter_once_more']" : "after:content-['hold']",
        )}
        busy={show.isPending}
        aria-label={`Reveal ${label}: ${isArmed ? 'press Enter once more' : 'hold, or press Enter twice'}`}
        onPointerDown={() => {
          holding.current = setTimeout(() => show.mutate(), HOLD_MS)
        }}
        onPointerUp={release}
        onPointerLeave={release}
        onContextMenu={(event) => event.preventDefault()}
        onBlur={() => setArmed(false)}
        // A press without a pointer is one of the keyboard, or of a program that reads the page to somebody.
        onClick={({ detail }) => detail === 0 && press()}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (!event.repeat) press()
        }}
      >
        Reveal
      </Button>
      {show.error && <ProblemNote error={show.error} />}
    </>
  )
}
