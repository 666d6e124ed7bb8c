import { usePlotWidth } from '../../plot/plot-width.ts'
import type { ProvenStep } from './merkle-path.ts'

// Only the way from the leaf to the root: log₂ n nodes, however long the log is. Beside the path stand the hashes that the server gave.

const ROW = 54
const TOP = 22
const short = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`
const rangeWords = (begin: number, end: number): string =>
  end - begin === 1 ? `entry ${begin}` : `entries ${begin}–${end - 1}`

interface NodeMembers {
  readonly x: number
  readonly y: number
  readonly hash: string
  readonly note: string
  readonly isPath?: boolean
  readonly delay?: number
}

function Node({ x, y, hash, note, isPath = false, delay = 0 }: NodeMembers) {
  return (
    <g transform={`translate(${x} ${y})`} textAnchor="middle">
      <rect
        x="-54"
        y="-17"
        width="108"
        height="34"
        className={isPath ? 'fill-surface stroke-seal' : 'fill-raised stroke-edge'}
        strokeDasharray={isPath ? undefined : '3 2'}
      />
      <text y="-3" className="fill-ink font-mono text-[11px]">
        {short(hash)}
      </text>
      <text y="11" className="fill-ink-3 text-[10.5px]">
        {note}
      </text>
      {isPath && (
        <text
          x="46"
          y="-3"
          className="animate-[seal-tick_120ms_ease-out_backwards] fill-seal text-[12px]"
          style={{ animationDelay: `${delay}ms` }}
        >
          ✓
        </text>
      )}
    </g>
  )
}

interface FigureMembers {
  readonly leafHash: string
  readonly index: number
  readonly steps: readonly ProvenStep[]
  readonly size: number
}

export function ProofFigure({ leafHash, index, steps, size }: FigureMembers) {
  const [room, width] = usePlotWidth()
  const height = TOP * 2 + steps.length * ROW
  const middle = width / 2
  const aside = Math.min(170, Math.max(0, width / 2 - 56))
  const y = (level: number): number => height - TOP - level * ROW
  const path = [leafHash, ...steps.map(({ hash }) => hash)]
  const noteOf = (level: number): string =>
    level === 0 ? `entry ${index}` : level === steps.length ? `root of ${size}` : 'recomputed'
  return (
    <div ref={room} className="min-w-0">
      <svg
        role="img"
        aria-label={`The way from entry ${index} to the root of ${size} entries in ${steps.length} steps; every hash on it was recomputed here`}
        width={width}
        height={height}
        className="block"
      >
        {steps.map(({ side, sibling }, level) => {
          const x = side === 'left' ? middle - aside : middle + aside
          return (
            <g key={sibling} className="fill-none stroke-edge">
              <path d={`M${middle} ${y(level)} V${y(level + 1)}`} className="stroke-seal" strokeWidth="1.6" />
              <path d={`M${x} ${y(level)} V${y(level) - ROW / 2} H${middle}`} strokeDasharray="3 2" />
            </g>
          )
        })}
        {steps.map(({ side, sibling, begin, end }, level) => (
          <Node
            key={sibling}
            x={side === 'left' ? middle - aside : middle + aside}
            y={y(level)}
            hash={sibling}
            note={rangeWords(begin, end)}
          />
        ))}
        {path.map((hash, level) => (
          <Node key={hash} x={middle} y={y(level)} hash={hash} note={noteOf(level)} isPath delay={level * 120} />
        ))}
      </svg>
    </div>
  )
}

/** The same in words: for who does not see the figure, and for who compares by hand. */
export function ProofSteps({ leafHash, steps }: Pick<FigureMembers, 'leafHash' | 'steps'>) {
  return (
    <ol aria-label="Every hash" className="grid gap-2">
      <li className="grid gap-0.5">
        <span>
          <span className="text-seal">✓</span> SHA-256 of the entry
        </span>
        <code className="break-all text-ink-2">{leafHash}</code>
      </li>
      {steps.map(({ side, begin, end, hash, sibling }) => (
        <li key={sibling} className="grid gap-0.5">
          <span>
            <span className="text-seal">✓</span> with the hash over {rangeWords(begin, end)} on the {side}
          </span>
          <code className="break-all text-ink-2">{hash}</code>
        </li>
      ))}
    </ol>
  )
}
