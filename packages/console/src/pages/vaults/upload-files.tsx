import { AbortedError } from '@strongroom/sdk'
import { type DragEvent, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { ProblemNote } from '../../ui/states.tsx'
import { formatBytes } from './file-size.ts'
import { type Sending, useUpload } from './uploads.ts'

interface ProgressMembers {
  readonly sending: Sending
  onStop(): void
}

function Progress({ sending: { name, sent, total }, onStop }: ProgressMembers) {
  return (
    <div className="grid gap-1">
      <div className="flex items-center justify-between gap-3">
        <span className="min-w-0 text-label wrap-anywhere text-ink-2">
          {name}: {formatBytes(sent)} of {formatBytes(total)}
        </span>
        <Button kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </div>
      <progress
        aria-label={`Sending ${name}`}
        className="h-1.5 w-full accent-ink"
        value={sent}
        max={Math.max(total, 1)}
      />
    </div>
  )
}

interface Members {
  readonly vaultId: string
  /** Where they go; decided when they are there. */
  itemFor(): Promise<string>
  readonly disabled?: boolean
}

/** Files are encrypted here, part by part, and sent as they are read. */
export function UploadFiles({ vaultId, itemFor, disabled = false }: Members) {
  const chooser = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const { upload, sending, left, stop } = useUpload(vaultId, itemFor)
  const isReady = !disabled && !upload.isPending
  const take = (list: FileList | null): void => {
    if (list && list.length > 0 && isReady) upload.mutate([...list])
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    take(event.dataTransfer.files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one way; the button in it is the other
    <div
      className={classes(
        'grid gap-2 rounded-control border border-dashed px-3 py-2.5',
        isOver ? 'border-link bg-raised' : 'border-edge',
      )}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(isReady)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="flex flex-wrap items-center gap-3">
        <input
          ref={chooser}
          type="file"
          multiple
          className="hidden"
          tabIndex={-1}
          aria-label="Files to attach"
          onChange={(event) => {
            take(event.target.files)
            // The same file can be chosen again after it was refused.
            event.target.value = ''
          }}
        />
        <Button disabled={disabled} busy={upload.isPending} onClick={() => chooser.current?.click()}>
          Attach files
        </Button>
        <span className="text-ink-2">or drop them here. They are encrypted in this page.</span>
      </div>
      {sending && <Progress sending={sending} onStop={stop} />}
      {upload.error && left !== '' && <p role="status">{left}</p>}
      {upload.error && !(upload.error instanceof AbortedError) && <ProblemNote error={upload.error} />}
    </div>
  )
}
