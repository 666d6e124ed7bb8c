import { Page } from '../../ui/page.tsx'

export function ChargesPage() {
  return (
    <Page title="Budgets &amp; billing">
      <span />
    </Page>
  )
}
