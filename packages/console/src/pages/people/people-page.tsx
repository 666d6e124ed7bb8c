import { Page } from '../../ui/page.tsx'

export function PeoplePage() {
  return (
    <Page title="People &amp; groups">
      <span />
    </Page>
  )
}
