import { Page } from '../../ui/page.tsx'

export function InvitesPage() {
  return (
    <Page title="People &amp; groups">
      <span />
    </Page>
  )
}
