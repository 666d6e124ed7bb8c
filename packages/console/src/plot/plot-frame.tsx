import { type ReactNode, useState } from 'react'
import { saveCsv, type Twin, TwinTable } from './twin.tsx'

export interface PlotMembers {
  /** The accessible name. */
  readonly name: string
  /** What it shows, in one sentence. */
  readonly summary: string
}

interface FrameMembers extends PlotMembers {
  readonly twin: Twin
  readonly legend?: ReactNode
  readonly children: ReactNode
}

const SMALL = 'min-h-6 cursor-pointer text-label text-ink-2 underline-offset-2 hover:text-ink hover:underline'

/** Around every plot: its sentence, its legend, and the same numbers as a table and as a file. */
export function PlotFrame({ name, summary, twin, legend, children }: FrameMembers) {
  const [isTable, setTable] = useState(false)
  return (
    <figure aria-label={name} className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <figcaption className="text-ink-2">{summary}</figcaption>
        <div className="flex gap-3">
          <button type="button" aria-pressed={isTable} className={SMALL} onClick={() => setTable(!isTable)}>
            {isTable ? 'As a plot' : 'As a table'}
          </button>
          <button type="button" className={SMALL} onClick={() => saveCsv(name, twin)}>
            CSV
          </button>
        </div>
      </div>
      {isTable ? (
        <TwinTable name={name} twin={twin} />
      ) : (
        <>
          {children}
          {legend}
        </>
      )}
    </figure>
  )
}
