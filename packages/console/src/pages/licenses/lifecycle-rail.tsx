import { classes } from '../../ui/classes.ts'
import { When } from '../../ui/when.tsx'
import type { RailNode } from './rail-nodes.ts'

const WORDS: Record<RailNode['state'], string> = {
  done: 'done',
  now: 'under way',
  open: 'not yet',
  failed: 'stopped',
}

function Dot({ state }: { readonly state: RailNode['state'] }) {
  return (
    <svg aria-hidden="true" width="16" height="16" viewBox="0 0 16 16" className="relative z-1 bg-bg">
      {state === 'done' && <circle cx="8" cy="8" r="6" className="fill-seal" />}
      {state === 'now' && (
        <>
          <circle cx="8" cy="8" r="6" className="fill-none stroke-money" strokeWidth="2" />
          <circle cx="8" cy="8" r="2.5" className="fill-money" />
        </>
      )}
      {state === 'open' && (
        <circle cx="8" cy="8" r="6" className="fill-none stroke-edge" strokeWidth="1.5" strokeDasharray="3 2.5" />
      )}
      {state === 'failed' && (
        <>
          <circle cx="8" cy="8" r="7" className="fill-danger" />
          <path d="M5.5 5.5l5 5m0-5l-5 5" className="stroke-on-danger" strokeWidth="1.6" />
        </>
      )}
    </svg>
  )
}

const isReached = (node: RailNode | undefined): boolean => node !== undefined && node.state !== 'open'

/** Its life from left to right, or from top to bottom where there is no room: what, when, and which money moved. */
export function LifecycleRail({ nodes }: { readonly nodes: readonly RailNode[] }) {
  return (
    <ol aria-label="Lifecycle" className="grid gap-x-2 md:auto-cols-fr md:grid-flow-col">
      {nodes.map(({ name, state, at, says, money }, place) => (
        <li key={name} className="relative grid grid-cols-[16px_1fr] content-start gap-x-3 pb-4 md:grid-cols-1 md:pb-0">
          {place < nodes.length - 1 && (
            <span
              aria-hidden="true"
              className={classes(
                'absolute top-2 bottom-[-8px] left-[7.5px] border-l md:top-[7.5px] md:right-[-8px] md:bottom-auto md:left-2 md:border-t md:border-l-0',
                isReached(nodes[place + 1]) ? 'border-seal' : 'border-dashed border-edge',
              )}
            />
          )}
          <Dot state={state} />
          <span className="grid content-start gap-0.5 md:pt-1.5 md:pr-3">
            <span className={state === 'open' ? 'text-ink-3' : 'font-[550]'}>{name}</span>
            <span className="sr-only">{WORDS[state]}</span>
            {at && (
              <span className="text-label text-ink-2">
                <When at={at} />
              </span>
            )}
            {says !== undefined && (
              <span className={classes('text-label', state === 'failed' ? 'text-danger' : 'text-ink-2')}>{says}</span>
            )}
            {money.map((moved) => (
              <span key={moved} className="text-label text-money">
                {moved}
              </span>
            ))}
          </span>
        </li>
      ))}
    </ol>
  )
}
