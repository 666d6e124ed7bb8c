import { Page } from '../../ui/page.tsx'

export function EvidencePage() {
  return (
    <Page title="Transparency">
      <span />
    </Page>
  )
}
