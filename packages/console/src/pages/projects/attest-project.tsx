import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Facts } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Attest } from '../vaults/attest.tsx'
import { useNames } from '../vaults/principals.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { reviewProjectQuery } from './queries.ts'

/** In place of a project that a compromised key signed last. */
export function AttestProject({ projectId, error }: { readonly projectId: string; readonly error: unknown }) {
  const strongroom = useStrongroom()
  const nameOf = useNames()
  const review = useQuery(reviewProjectQuery(strongroom, projectId))
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const vaultName = (vaultId: string): string => vaults.find((one) => one.vaultId === vaultId)?.name ?? vaultId
  return (
    <Answer of={review} what="this project">
      {(found) => {
        const { project, content, admins, administrators } = found
        return (
          <Attest
            error={error}
            kind="project"
            name={project.name}
            slug={project.slug}
            parts={[
              ...(content === null ? [] : [['Its name and its vaults', content] as const]),
              ...(admins === null ? [] : [['Who administers it', admins] as const]),
            ]}
            attest={() => strongroom.projects.attest(found)}
          >
            <Facts
              of={[
                ['Slug', project.slug],
                ['Vaults', project.vaultIds.map(vaultName).join(', ') || 'none'],
                ['Administered by', administrators.map(nameOf).join(', ')],
              ]}
            />
          </Attest>
        )
      }}
    </Answer>
  )
}
