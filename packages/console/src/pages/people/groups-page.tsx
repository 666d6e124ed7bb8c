import { Page } from '../../ui/page.tsx'

export function GroupsPage() {
  return (
    <Page title="People &amp; groups">
      <span />
    </Page>
  )
}
