import { Page } from '../../ui/page.tsx'

export function TransparencyPage() {
  return (
    <Page title="Transparency">
      <span />
    </Page>
  )
}
