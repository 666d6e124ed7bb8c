import { Page } from '../../ui/page.tsx'

export function BudgetsPage() {
  return (
    <Page title="Budgets &amp; billing">
      <span />
    </Page>
  )
}
