import type { Project } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { sortedNames } from '../../ui/name-order.ts'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty, NotKnown } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { NewProjectForm } from './new-project-form.tsx'
import { projectsQuery } from './queries.ts'

/** Without names while nobody has said which vaults there are. */
const columnsWith = (vaultName: ((vaultId: string) => string) | undefined): readonly Column<Project>[] => [
  {
    id: 'name',
    header: 'Project',
    sort: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/projects/$projectId" params={{ projectId: id }}>
        {name}
      </Link>
    ),
  },
  { id: 'slug', header: 'Slug', sort: ({ slug }) => slug, cell: ({ slug }) => <code>{slug}</code> },
  {
    id: 'vaults',
    header: 'Vaults',
    grows: true,
    cell: ({ vaultIds }) =>
      vaultIds.length === 0 ? (
        <span className="text-ink-3">none</span>
      ) : vaultName === undefined ? (
        <NotKnown />
      ) : (
        sortedNames(vaultIds.map(vaultName)).join(', ')
      ),
  },
  { id: 'version', header: 'Version', align: 'right', sort: ({ version }) => version, cell: ({ version }) => version },
  {
    id: 'state',
    header: 'State',
    sort: ({ status }) => status,
    cell: ({ status }) => <Status tone={status === 'active' ? 'good' : 'quiet'}>{status}</Status>,
  },
]

export function ProjectsPage() {
  const strongroom = useStrongroom()
  const projects = useQuery(projectsQuery(strongroom))
  const { data: vaults } = useQuery(vaultsQuery(strongroom))
  const { filter = '' } = useSearch({ from: '/projects' })
  const navigate = useNavigate()
  const [isNew, setNew] = useState(false)
  const columns = useMemo(
    () =>
      columnsWith(vaults && ((id) => vaults.find(({ vaultId }) => vaultId === id)?.name ?? 'one you are not given')),
    [vaults],
  )
  const text = filter.toLowerCase()
  return (
    <Page
      title="Projects"
      actions={
        <Button kind="primary" onClick={() => setNew(true)}>
          New project
        </Button>
      }
    >
      <Answer of={projects} what="projects">
        {(all) => {
          if (all.length === 0)
            return (
              <Empty title="Set vaults side by side" cli="strongroom project create shop --vault prod">
                <p>
                  A project names the vaults that make one environment, under the signature of its admins. Processes get
                  all of it, or nothing.
                </p>
              </Empty>
            )
          const shown = all.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(text))
          return (
            <>
              <FilterField
                label="Filter projects"
                value={filter}
                onChange={(next) =>
                  void navigate({ to: '/projects', search: next === '' ? {} : { filter: next }, replace: true })
                }
              />
              <Table label="Projects" rows={shown} columns={columns} keyOf={({ id }) => id} sortedBy={{ id: 'name' }} />
              {shown.length === 0 && <p className="px-6 py-4 text-ink-2">No project has that in its name.</p>}
            </>
          )
        }}
      </Answer>
      {isNew && <NewProjectForm onClose={() => setNew(false)} />}
    </Page>
  )
}
