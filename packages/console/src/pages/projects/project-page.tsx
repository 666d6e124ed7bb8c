import { Page } from '../../ui/page.tsx'

export function ProjectPage() {
  return (
    <Page title="Project">
      <span />
    </Page>
  )
}
