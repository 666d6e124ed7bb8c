import { Link, type LinkProps } from '@tanstack/react-router'
import { CopyLine } from '../../ui/copy.tsx'

/** Undefined is what the person may not do: it is no step of theirs. */
export interface Progress {
  readonly hasSecret: boolean
  readonly hasAgent: boolean | undefined
  readonly hasRun: boolean | undefined
  readonly hasVerified: boolean
  readonly hasBudget: boolean | undefined
}

interface Step {
  readonly words: string
  readonly cli: string
  readonly link: LinkProps
  readonly here: string
  readonly isDone: boolean | undefined
}

const stepsOf = (progress: Progress): readonly Step[] => [
  {
    words: 'Store a secret',
    cli: 'strongroom set dev/stripe/SECRET_KEY',
    link: { to: '/vaults' },
    here: 'Make a vault here',
    isDone: progress.hasSecret,
  },
  {
    words: 'Give something that is not a person its own key',
    cli: 'strongroom agent create checkout-bot --vault dev:read',
    link: { to: '/agents/new' },
    here: 'Make an agent here',
    isDone: progress.hasAgent,
  },
  {
    words: 'Run something with it',
    cli: 'strongroom run --vault dev -- node server.js',
    link: { to: '/activity', search: { lens: 'audit' } },
    here: 'Watch it happen',
    isDone: progress.hasRun,
  },
  {
    words: 'Verify what the server says',
    cli: 'strongroom verify',
    link: { to: '/transparency' },
    here: 'Verify in this browser',
    isDone: progress.hasVerified,
  },
  {
    words: 'Decide what may be spent',
    cli: 'strongroom budget create checkout-bot --daily 20',
    link: { to: '/billing/budgets' },
    here: 'Make a budget here',
    isDone: progress.hasBudget,
  },
]

/** The first five minutes. A step is ticked when the server has seen it happen, from wherever it was made. */
export function Checklist({ progress }: { readonly progress: Progress }) {
  const steps = stepsOf(progress).filter(({ isDone }) => isDone !== undefined)
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <section aria-label="The first five minutes" className="grid gap-3 border-b border-rule px-6 py-5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="text-dialog">The first five minutes</h2>
        <p role="status" className="text-ink-2">
          {done} of {steps.length} done. Ticks come by themselves, from the command line, a program or here.
        </p>
      </div>
      <ol className="grid max-w-3xl border-t border-rule">
        {steps.map(({ words, cli, link, here, isDone }) => (
          <li key={words} className="grid grid-cols-[24px_1fr] gap-x-1 border-b border-rule py-2">
            <span aria-hidden="true" className={isDone ? 'animate-[seal-tick_120ms_ease-out] text-seal' : 'text-ink-3'}>
              {isDone ? '✓' : '○'}
            </span>
            <div className="grid gap-1.5">
              <span className="flex flex-wrap justify-between gap-x-4">
                <strong>
                  {words}
                  <span className="sr-only">{isDone ? ': done' : ': not yet'}</span>
                </strong>
                <Link {...link}>{here}</Link>
              </span>
              {!isDone && <CopyLine label="In a terminal" text={cli} />}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
