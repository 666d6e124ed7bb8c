import { Page } from '../../ui/page.tsx'

export function TransactionsPage() {
  return (
    <Page title="Budgets &amp; billing">
      <span />
    </Page>
  )
}
