import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { formatAmount } from '../../ui/amount.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { amountProblem } from '../../ui/decimal.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { radiusWords, useBlastRadius } from './blast-radius.ts'
import { limitWords } from './limits.ts'
import { permissionWords } from './permission-words.ts'
import { cliOf, isMaster, type KeyWay, type Plan } from './plan.ts'

const EVERY = { daily: 'a day', weekly: 'a week', monthly: 'a month', total: 'in all' } as const

export function budgetWords({ budget, window, atOnce }: Plan): string {
  if (budget === '' || amountProblem(budget)) return 'Nothing.'
  const once = atOnce === '' || amountProblem(atOnce) ? '' : `, at most ${formatAmount(atOnce, 'USD')} at once`
  return `${formatAmount(budget, 'USD')} ${EVERY[window]}${once}.`
}

const KEYS: Record<KeyWay, string> = {
  here: 'Made in this browser. You store its bundle and bring it to where the agent runs.',
  paste: 'Made elsewhere. You sign for the public key you pasted, and for no other.',
  machine: 'Made by the machine it runs on, and never anywhere else. You compare words and sign.',
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid gap-1">
      <h3 className="text-label font-normal text-ink-3">{title}</h3>
      {children}
    </div>
  )
}

/** What the choices so far amount to; it is written anew with each of them. */
export function MeansPanel({ plan }: { readonly plan: Plan }) {
  const strongroom = useStrongroom()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const radius = useBlastRadius(plan.vaults)
  const vaultName = (id: string): string => vaults.find(({ vaultId }) => vaultId === id)?.name ?? id
  return (
    <aside aria-label="What this means" className="grid content-start gap-4 border-rule lg:border-l lg:pl-6">
      <h2 className="text-dialog">What this means</h2>
      <p>
        <strong>{plan.name || 'The agent'}</strong> will be able to
      </p>
      <Part title="decrypt">
        <p aria-live="polite">{radius.isComplete ? radiusWords(radius) : 'Reading the vaults …'}</p>
      </Part>
      <Part title="do">
        <ul className="grid gap-0.5">
          {plan.permissions.map((permission) => (
            <li key={permission}>{permissionWords(permission)}</li>
          ))}
        </ul>
      </Part>
      {isMaster(plan.permissions) && (
        <p className="border-l-2 border-warn pl-3 text-warn">
          It could make agents and give them access. Whoever has it has everything you can give.
        </p>
      )}
      <Part title="spend">
        <p>{budgetWords(plan)}</p>
      </Part>
      <Part title="work">
        <p>{limitWords(plan.limits)}</p>
      </Part>
      <Part title="Its keys">
        <p>{KEYS[plan.keys]}</p>
      </Part>
      <CopyLine label="Copy as CLI" text={cliOf(plan, vaultName)} />
    </aside>
  )
}
