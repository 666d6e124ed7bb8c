import type { Readiness } from '@strongroom/sdk'
import { Link, type LinkProps } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'

type Code = Readiness['checks'][number]['code']

/** Where in these pages it is put right. */
const PLACES: Record<Code, { readonly label: string; readonly to: NonNullable<LinkProps['to']> }> = {
  credit_available: { label: 'Pay credit in', to: '/billing/funding' },
  funding_rail_configured: { label: 'See how credit is paid in', to: '/billing/funding' },
  tenant_active: { label: 'See the tenants', to: '/people/groups' },
  budget_headroom: { label: 'See the budgets', to: '/billing/budgets' },
  recipient_key_registered: { label: 'See your keys', to: '/settings/security' },
}

/** Every condition of a purchase, each with what to do where it is not met. */
export function ReadinessList({ of: { checks } }: { readonly of: Readiness }) {
  return (
    <ul className="grid max-w-2xl">
      {checks.map(({ code, ok, message, action }) => (
        <li key={code} className="flex min-h-8 items-start gap-2 border-b border-rule py-1.5 last:border-b-0">
          <span className={`mt-0.5 ${ok ? 'text-seal' : 'text-danger'}`}>
            {ok ? <Check size={16} aria-label="Met" /> : <X size={16} aria-label="Not met" />}
          </span>
          <span className="grid min-w-0 gap-0.5">
            <span>{message}</span>
            {!ok && (
              <span className="text-label text-ink-2">
                <Link to={PLACES[code].to}>{PLACES[code].label}</Link>
                {action !== null && (
                  <>
                    {' '}
                    · or <code>{action}</code>
                  </>
                )}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
