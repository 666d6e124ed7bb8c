import { useId } from 'react'
import { colourOf, fillOf, Legend, type Mark, Textures } from '../../plot/marks.tsx'
import { usePlotWidth } from '../../plot/plot-width.ts'
import type { Attempt } from './webhook-words.tsx'

const STEPS = [
  { step: 'lookupMs', name: 'lookup', mark: { colour: 'chart-6', texture: 'cross' } },
  { step: 'connectMs', name: 'connect', mark: { colour: 'chart-2', texture: 'hatch' } },
  { step: 'tlsMs', name: 'TLS', mark: { colour: 'chart-3', texture: 'dots' } },
  { step: 'waitMs', name: 'wait', mark: { colour: 'chart-1', texture: 'solid' } },
] as const satisfies readonly {
  readonly step: keyof Attempt['timing']
  readonly name: string
  readonly mark: Mark
}[]

interface Part {
  readonly label: string
  readonly mark: Mark
  readonly ms: number
}

/** The steps that came to their end, in their order. */
const partsOf = ({ timing }: Pick<Attempt, 'timing'>): readonly Part[] =>
  STEPS.flatMap(({ step, name, mark }) => {
    const ms = timing[step]
    return ms === null ? [] : [{ label: `${name} ${ms} ms`, mark, ms }]
  })

/** `Of 213 ms: lookup 4 ms, connect 2 ms, TLS 31 ms, wait 176 ms.` Undefined where nobody knows. */
export function splitSentence(attempt: Pick<Attempt, 'timing' | 'durationMs'>): string | undefined {
  const { durationMs } = attempt
  if (durationMs === null) return undefined
  const labels = partsOf(attempt).map(({ label }) => label)
  return labels.length === 0 ? 'No connection came about.' : `Of ${durationMs} ms: ${labels.join(', ')}.`
}

const HEIGHT = 14

/** Where the time of an attempt went: a sentence, and the same as one bar. */
export function TimeSplit({ attempt }: { readonly attempt: Attempt }) {
  const sentence = splitSentence(attempt)
  const parts = partsOf(attempt)
  if (sentence === undefined) return null
  return (
    <figure aria-label={`Time of attempt ${attempt.attempt}`} className="grid min-w-0 gap-1.5">
      <figcaption>{sentence}</figcaption>
      {parts.length > 0 && <Drawn parts={parts} wholeMs={attempt.durationMs ?? 0} />}
    </figure>
  )
}

/** What is left over at its end is none of the steps: reading the answer, and our own work. */
function Drawn({ parts, wholeMs }: { readonly parts: readonly Part[]; readonly wholeMs: number }) {
  const scope = useId()
  const [room, width] = usePlotWidth()
  const total = parts.reduce((sum, { ms }) => sum + ms, 0)
  const x = (ms: number): number => (ms / Math.max(wholeMs, total, 1)) * Math.max(0, width - 2) + 1
  let from = 0
  return (
    <>
      <div ref={room} className="min-w-0">
        <svg aria-hidden="true" width={width} height={HEIGHT} className="block">
          <Textures scope={scope} marks={parts.map(({ mark }) => mark)} />
          <rect x="0.5" y="0.5" width={Math.max(0, width - 1)} height={HEIGHT - 1} className="fill-none stroke-rule" />
          {parts.map(({ label, mark, ms }, at) => {
            const start = from
            from += ms
            return (
              <rect
                key={label}
                x={x(start)}
                y="1"
                width={Math.max(1, x(from) - x(start))}
                height={HEIGHT - 2}
                fill={fillOf(scope, at, mark)}
                stroke={colourOf(mark)}
                strokeWidth="0.8"
              />
            )
          })}
        </svg>
      </div>
      <Legend scope={scope} of={parts} />
    </>
  )
}
