import { Check, Copy } from 'lucide-react'
import { Fragment, useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { classes } from './classes.ts'
import { copyText } from './clipboard.ts'

/** Copies a text, and says for a moment that it did. Where the browser refuses, the text is shown, and the answer is false. */
export function useCopy(): readonly [copied: boolean, copy: (text: string) => Promise<boolean>] {
  const [at, setAt] = useState(0)
  useEffect(() => {
    if (at === 0) return
    const timer = setTimeout(() => setAt(0), 1500)
    return () => clearTimeout(timer)
  }, [at])
  const copy = async (text: string): Promise<boolean> => {
    const isCopied = await copyText(text)
    setAt(isCopied ? Date.now() : 0)
    return isCopied
  }
  return [at !== 0, copy]
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [copied, copy] = useCopy()
  return (
    <IconButton label={copied ? 'Copied' : label} isSmall onClick={() => copy(text)}>
      {copied ? <Check size={14} strokeWidth={1.5} /> : <Copy size={14} strokeWidth={1.5} />}
    </IconButton>
  )
}

/** A command is broken between its words and not at the hyphens of a flag. */
export const CommandWords = ({ text }: { readonly text: string }) =>
  text.split(/(\s+)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: words of a line have a place and no name
    <Fragment key={at}>
      {/^\s*$/.test(part) ? part : <span className="inline-block max-w-full wrap-anywhere">{part}</span>}
    </Fragment>
  ))

/** One line of a terminal, to be taken along. */
export function CopyLine({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="grid gap-1">
      <span className="text-label text-ink-3">{label}</span>
      <div className="flex items-start gap-1 rounded-control border border-rule bg-raised py-1 pr-1 pl-2.5">
        <code className="min-w-0 flex-1 py-0.5">
          <CommandWords text={text} />
        </code>
        <CopyButton text={text} label={label} />
      </div>
    </div>
  )
}

/** Several lines, to be taken along as they are. */
export function CopyBlock({ label, text }: { readonly label: string; readonly text: string }) {
  const [copied, copy] = useCopy()
  return (
    <div className="grid gap-1">
      <div className="flex items-center justify-between gap-3">
        <span className="font-[550]">{label}</span>
        <Button kind="quiet" onClick={() => copy(text)} aria-label={`${copied ? 'Copied' : 'Copy'}: ${label}`}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <pre className="rounded-control border border-rule bg-raised px-2.5 py-1.5 wrap-anywhere whitespace-pre-wrap">
        {text}
      </pre>
    </div>
  )
}

/** An id or hash: its middle is left out, all of it is copied. */
export function MonoId({
  id,
  keep = 6,
  className,
}: {
  readonly id: string
  readonly keep?: number
  readonly className?: string
}) {
  const [copied, copy] = useCopy()
  const short = id.length <= 2 * keep + 1 ? id : `${id.slice(0, keep)}…${id.slice(-keep)}`
  return (
    <button
      type="button"
      title={id}
      aria-label={copied ? 'Copied' : `${short}, copy ${id}`}
      onClick={() => copy(id)}
      className={classes('min-h-6 cursor-copy rounded-control font-mono text-code hover:bg-raised', className)}
    >
      {copied ? 'copied' : short}
    </button>
  )
}
