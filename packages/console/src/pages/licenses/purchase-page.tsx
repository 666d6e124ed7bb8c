import { Page } from '../../ui/page.tsx'

export function PurchasePage() {
  return (
    <Page title="Purchase">
      <span />
    </Page>
  )
}
