import type { LinkProps } from '@tanstack/react-router'

export const BILLING_TABS: readonly { readonly label: string; readonly link: LinkProps }[] = [
  { label: 'Balance', link: { to: '/billing' } },
  { label: 'Budgets', link: { to: '/billing/budgets' } },
  { label: 'Transactions', link: { to: '/billing/transactions' } },
  { label: 'Paying in', link: { to: '/billing/funding' } },
  { label: 'Charges', link: { to: '/billing/charges' } },
]
