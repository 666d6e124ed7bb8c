import type { AccessEntry, AccessRole, Project, Vault } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { CopyButton, CopyLine, MonoId } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { Menu } from '../../ui/menu.tsx'
import { compareNames } from '../../ui/name-order.ts'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Answer, NotKnown, ProblemNote, Skeleton } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { GrantAccessForm } from '../vaults/grant-access-form.tsx'
import { useNames } from '../vaults/principals.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { RevokeAccessForm } from '../vaults/revoke-access-form.tsx'
import { ArchiveProjectForm } from './archive-project-form.tsx'
import { AttestProject } from './attest-project.tsx'
import { LinkVaultsForm } from './link-vaults-form.tsx'
import { projectAccessQuery, projectQuery } from './queries.ts'
import { RenameProjectForm } from './rename-project-form.tsx'

const ROLE_WORDS: Record<AccessRole, string> = {
  READ: 'is shown the project',
  WRITE: 'is shown the project',
  ADMIN: 'signs for its vaults and its list',
}

interface LinkedVault {
  readonly vaultId: string
  /** Null where it is not among those of whoever looks; undefined where nobody has said which those are. */
  readonly vault: Vault | null | undefined
}

/** The vaults its admins signed for. Unlinking one can be taken back, and is. */
function LinkedVaults({ project, canChange }: { readonly project: Project; readonly canChange: boolean }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: vaults } = useQuery(vaultsQuery(strongroom))
  const [isLinking, setLinking] = useState(false)
  const set = useMutation({
    mutationFn: (next: {
      readonly vaults: readonly string[]
      readonly undo?: readonly string[]
      readonly says: string
    }) => strongroom.projects.update(project.id, { vaults: next.vaults }),
    onSuccess: async (_, { undo, says }) => {
      await queries.invalidateQueries({ queryKey: ['project'] })
      await queries.invalidateQueries({ queryKey: ['projects'] })
      toast(says, undo && (() => set.mutate({ vaults: undo, says: 'Linked again' })))
    },
  })
  const { mutate, isPending } = set
  const columns = useMemo(
    (): readonly Column<LinkedVault>[] => [
      {
        id: 'name',
        header: 'Vault',
        grows: true,
        cell: ({ vaultId, vault }) =>
          vault ? (
            <Link to="/vaults/$vaultId" params={{ vaultId }}>
              {vault.name}
            </Link>
          ) : vault === undefined ? (
            <NotKnown />
          ) : (
            <span className="text-ink-3">one you are not given</span>
          ),
      },
      { id: 'class', header: 'Classification', cell: ({ vault }) => vault?.classification ?? '' },
      { id: 'items', header: 'Items', align: 'right', cell: ({ vault }) => vault?.itemCount ?? '' },
      {
        id: 'role',
        header: 'Your role',
        cell: ({ vault }) => (vault === undefined ? <NotKnown /> : (vault?.role?.toLowerCase() ?? 'none')),
      },
      ...(canChange
        ? [
            {
              id: 'actions',
              header: 'Actions',
              cell: ({ vaultId, vault }: LinkedVault) => (
                <Button
                  kind="quiet"
                  className="-ml-3 justify-self-start"
                  disabled={isPending}
                  aria-label={`Unlink ${vault?.name ?? vaultId}`}
                  onClick={() =>
                    mutate({
                      vaults: project.vaultIds.filter((one) => one !== vaultId),
                      undo: project.vaultIds,
                      says: `Unlinked ${vault?.name ?? 'a vault'}`,
                    })
                  }
                >
                  Unlink
                </Button>
              ),
            },
          ]
        : []),
    ],
    [canChange, mutate, isPending, project.vaultIds],
  )
  // The signed list has them in the order of their ids, which says nothing to anybody.
  const rows = project.vaultIds
    .map((vaultId) => ({ vaultId, vault: vaults && (vaults.find((one) => one.vaultId === vaultId) ?? null) }))
    .sort((a, b) => compareNames(a.vault?.name ?? '\uffff', b.vault?.name ?? '\uffff'))
  return (
    <section aria-label="Vaults" className="pb-2">
      <div className="flex items-center justify-between px-6 pt-5 pb-2">
        <h2 className="text-dialog">Vaults</h2>
        {canChange && <Button onClick={() => setLinking(true)}>Link vaults</Button>}
      </div>
      {set.error && (
        <div className="px-6 pb-2">
          <ProblemNote error={set.error} />
        </div>
      )}
      {rows.length === 0 ? (
        <p className="px-6 pb-2 text-ink-2">None yet: a process of this project gets nothing.</p>
      ) : (
        <Table label="Vaults of the project" rows={rows} columns={columns} keyOf={({ vaultId }) => vaultId} />
      )}
      {isLinking && <LinkVaultsForm project={project} onClose={() => setLinking(false)} />}
    </section>
  )
}

type Asked =
  | { readonly what: 'grant' }
  | { readonly what: 'role' | 'revoke'; readonly entry: AccessEntry & { name: string } }

function ProjectAccess({ project, canChange }: { readonly project: Project; readonly canChange: boolean }) {
  const access = useQuery(projectAccessQuery(useStrongroom(), project.id))
  const nameOf = useNames()
  const [asked, setAsked] = useState<Asked>()
  const columns = useMemo(
    (): readonly Column<AccessEntry>[] => [
      {
        id: 'who',
        header: 'Who',
        sort: ({ principal }) => nameOf(principal),
        cell: ({ principal }) => nameOf(principal),
      },
      { id: 'role', header: 'Role', cell: ({ role }) => role.toLowerCase() },
      { id: 'words', header: 'What it means', grows: true, cell: ({ role }) => ROLE_WORDS[role] },
      ...(canChange
        ? [
            {
              id: 'actions',
              header: 'Actions',
              cell: (row: AccessEntry) => {
                const entry = { ...row, name: nameOf(row.principal) }
                return (
                  <Menu
                    trigger={
                      <button
                        type="button"
                        aria-label={`Change ${entry.name}`}
                        className={classes(buttonClasses('quiet'), '-ml-3 justify-self-start')}
                      >
                        Change
                      </button>
                    }
                    choices={[
                      { label: 'Another role', onChoose: () => setAsked({ what: 'role', entry }) },
                      { label: 'Revoke', isDanger: true, onChoose: () => setAsked({ what: 'revoke', entry }) },
                    ]}
                  />
                )
              },
            },
          ]
        : []),
    ],
    [nameOf, canChange],
  )
  const target = { project: project.id, name: project.slug, kind: 'project' as const }
  const listed = (access.data ?? []).map(({ principal }) => principal)
  const close = (): void => setAsked(undefined)
  return (
    <section aria-label="Access" className="pb-2">
      <div className="flex items-center justify-between px-6 pt-5 pb-2">
        <h2 className="text-dialog">Access</h2>
        {canChange && <Button onClick={() => setAsked({ what: 'grant' })}>Share</Button>}
      </div>
      <Answer of={access} what="who has access to this project" loading={<Skeleton rows={2} />}>
        {(all) => <Table label="Access" rows={all} columns={columns} keyOf={({ principal }) => principal} />}
      </Answer>
      {asked?.what === 'grant' && (
        <GrantAccessForm target={target} roleWords={ROLE_WORDS} listed={listed} onClose={close} />
      )}
      {asked?.what === 'role' && (
        <GrantAccessForm target={target} roleWords={ROLE_WORDS} listed={listed} entry={asked.entry} onClose={close} />
      )}
      {asked?.what === 'revoke' && <RevokeAccessForm target={target} entry={asked.entry} onClose={close} />}
    </section>
  )
}

function UseIt({ project: { slug } }: { readonly project: Project }) {
  const file = `project = "${slug}"\n`
  return (
    <Section
      title="Use it"
      actions={
        <span className="inline-flex items-center gap-1">
          <CopyButton text={file} label="Copy strongroom.toml" />
          <Button onClick={() => download('strongroom.toml', file)}>Download strongroom.toml</Button>
        </span>
      }
    >
      <div className="grid max-w-xl gap-3">
        <figure className="grid gap-1">
          <figcaption className="text-label text-ink-3">strongroom.toml, beside the code and safe to commit</figcaption>
          <pre className="rounded-control border border-rule bg-raised px-2.5 py-1">{file}</pre>
        </figure>
        <CopyLine label="Then, in that folder" text="strongroom run -- npm start" />
      </div>
    </Section>
  )
}

export function ProjectPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const { strongroom, person } = useOpenSession()
  const project = useQuery(projectQuery(strongroom, projectId))
  const { data: access } = useQuery(projectAccessQuery(strongroom, projectId))
  const [open, setOpen] = useState<'rename' | 'archive'>()
  const isAdmin = access?.some(({ principal, role }) => principal === `user:${person.userId}` && role === 'ADMIN')
  const canChange = isAdmin === true && project.data?.status === 'active'
  const close = (): void => setOpen(undefined)
  return (
    <Page
      title={project.data?.name ?? 'Project'}
      beside={
        project.data && (
          <Status tone={project.data.status === 'active' ? 'good' : 'quiet'}>
            {project.data.status === 'active' ? 'verified here' : 'archived'}
          </Status>
        )
      }
      actions={
        canChange && (
          <>
            <Button onClick={() => setOpen('rename')}>Rename</Button>
            <Button onClick={() => setOpen('archive')}>Archive</Button>
          </>
        )
      }
    >
      <Answer
        of={project}
        what="this project"
        unsound={(error) => <AttestProject projectId={projectId} error={error} />}
      >
        {(shown) => (
          <>
            <div className="border-b border-rule px-6 py-4">
              <Facts
                of={[
                  ['Slug', <code key="slug">{shown.slug}</code>],
                  ['Version', shown.version],
                  ['Id', <MonoId key="id" id={shown.id} />],
                ]}
              />
            </div>
            <LinkedVaults project={shown} canChange={canChange} />
            <ProjectAccess project={shown} canChange={canChange} />
            <UseIt project={shown} />
            {open === 'rename' && <RenameProjectForm project={shown} onClose={close} />}
            {open === 'archive' && <ArchiveProjectForm project={shown} onClose={close} />}
          </>
        )}
      </Answer>
    </Page>
  )
}
