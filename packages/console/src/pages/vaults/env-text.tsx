import { type DragEvent, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { TextArea } from '../../ui/field.tsx'

interface Members {
  readonly value: string
  onChange(text: string): void
  readonly autoFocus?: boolean
}

/** Where a .env comes in: pasted, dropped, or chosen. It stays in this page. */
export function EnvText({ value, onChange, autoFocus = false }: Members) {
  const [isOver, setOver] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const read = (file: File | undefined): void => void file?.text().then(onChange)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    read(event.dataTransfer.files[0])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one way; the button beside it is the other
    <div
      className={classes('grid gap-2 rounded-control', isOver && 'outline-2 outline-offset-4 outline-link')}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <TextArea
        label="Variables"
        hint="NAME=value, one on each line. Paste them, or drop the file here. Nothing is sent before you save."
        className="font-mono text-code"
        rows={8}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        autoFocus={autoFocus}
        placeholder={'DATABASE_URL=postgres://…\nSTRIPE_KEY=sk_live_…'}
      />
      <div>
        <input
          ref={chooser}
          type="file"
          className="hidden"
          tabIndex={-1}
          aria-label="A .env file"
          onChange={(event) => read(event.target.files?.[0])}
        />
        <Button onClick={() => chooser.current?.click()}>Choose a file</Button>
      </div>
    </div>
  )
}
