import { Page } from '../../ui/page.tsx'

export function BuyLicensePage() {
  return (
    <Page title="Buy a licence">
      <span />
    </Page>
  )
}
