import { Page } from '../../ui/page.tsx'

export function AgentKeysPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
