import { Page } from '../../ui/page.tsx'

export function SignersPage() {
  return (
    <Page title="Transparency">
      <span />
    </Page>
  )
}
