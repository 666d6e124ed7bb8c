import { Page } from '../../ui/page.tsx'

export function BillingPage() {
  return (
    <Page title="Budgets &amp; billing">
      <span />
    </Page>
  )
}
