import { Page } from '../../ui/page.tsx'

export function FundingPage() {
  return (
    <Page title="Budgets &amp; billing">
      <span />
    </Page>
  )
}
