import type { Budget } from '@strongroom/contract'
import { type ReactNode, useState } from 'react'
import { BudgetBar } from './budget-bar.tsx'
import { paceSentence, windowSentence, windowWords } from './budget-windows.ts'
import { MoneyAmount } from './money.tsx'
import { SpendLine } from './spend-line.tsx'

/** Drawn when somebody wants to see it: what it is drawn from is asked for then. */
function OverTime({ name, children }: { readonly name: string; readonly children: (name: string) => ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="min-h-6 cursor-pointer text-link">
        Over time<span className="sr-only">: {name}</span>
      </summary>
      {isOpen && <div className="pt-1">{children(name)}</div>}
    </details>
  )
}

/** Each window of a budget: words first, the bar repeats them, and the line shows how it came to that. */
export function BudgetWindows({ budget, subject }: { readonly budget: Budget; readonly subject: string }) {
  const now = new Date()
  return budget.activeWindows.map((window) => {
    const pace = paceSentence(window, now)
    return (
      <div key={window.windowId} className="grid gap-1">
        <p>
          {windowSentence(window, now)}
          <span className="text-ink-3">
            {' '}
            · of <MoneyAmount of={window.limit} /> {windowWords(window, now)}
          </span>
        </p>
        <BudgetBar window={window} />
        {pace && <p className="text-ink-2">{pace}</p>}
        {window.kind !== 'rolling' && (
          <OverTime name={`${subject}, ${window.kind}: spent over time in ${window.limit.currency}`}>
            {(name) => <SpendLine name={name} budget={budget} window={window} />}
          </OverTime>
        )}
      </div>
    )
  })
}
