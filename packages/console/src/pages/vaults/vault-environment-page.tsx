import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { CheckField, inputClasses } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { projectsQuery } from '../projects/queries.ts'
import { AddVariableForm } from './add-variable-form.tsx'
import { type MatrixCell, type MatrixRow, type MatrixVault, matrixOf, missingIn } from './environment-matrix.ts'
import { itemsQuery, vaultsQuery } from './queries.ts'
import { VaultFrame } from './vault-frame.tsx'

interface CellMembers {
  readonly vault: MatrixVault
  readonly row: MatrixRow
  readonly cell: MatrixCell | undefined
  readonly isAlone: boolean
  onAdd(): void
}

/** Below this nobody needs a filter; above the other, no more rows are put into the page. */
const FEW = 12
const MOST = 500

const HATCHED = 'bg-[repeating-linear-gradient(135deg,transparent_0_5px,var(--rule)_5px_6px)]'

function Cell({ vault: { vaultId, name: vaultName }, row: { name }, cell, isAlone, onAdd }: CellMembers) {
  if (!cell) return <td className="px-3 py-1 text-ink-3">not yours to read</td>
  if (cell.items.length === 0)
    return (
      <td className={`px-3 py-1 ${HATCHED}`}>
        <Button
          kind="quiet"
          className="-ml-3 min-h-6! bg-bg font-[450]! text-ink-2"
          aria-label={`missing: add ${name} to ${vaultName}`}
          onClick={onAdd}
        >
          missing
        </Button>
      </td>
    )
  return (
    <td className="px-3 py-1">
      <span className="inline-flex flex-wrap items-center gap-x-3">
        {cell.items.map(({ itemId, name: item }) => (
          <Link key={itemId} to="/vaults/$vaultId" params={{ vaultId }} search={{ item: itemId }}>
            {item}
          </Link>
        ))}
        {cell.items.length > 1 && <Status tone="bad">{`in ${cell.items.length} items`}</Status>}
        {!isAlone && cell.counts && <span className="text-label text-ink-3">counts</span>}
      </span>
    </td>
  )
}

function Matrix({ title, vaults }: { readonly title: string; readonly vaults: readonly MatrixVault[] }) {
  const rows = useMemo(() => matrixOf(vaults), [vaults])
  const [filter, setFilter] = useState('')
  const [isGapsOnly, setGapsOnly] = useState(false)
  const wanted = rows.filter(
    ({ name, isMissing, isDuplicate }) =>
      name.toLowerCase().includes(filter.toLowerCase()) && (!isGapsOnly || isMissing || isDuplicate),
  )
  const [adding, setAdding] = useState<{ readonly vault: MatrixVault; readonly row: MatrixRow }>()
  const suggested = adding && [...adding.row.cells.values()].flatMap((cell) => cell?.items ?? [])[0]?.name
  return (
    <>
      {rows.length > FEW && (
        <div className="flex flex-wrap items-center gap-x-6 gap-y-2 pb-3">
          <input
            data-filter
            type="search"
            aria-label={`Filter variables of ${title}`}
            placeholder="Filter variables"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            className={`${inputClasses} max-w-72`}
          />
          <CheckField
            label="Only what is missing or there twice"
            checked={isGapsOnly}
            onChange={(event) => setGapsOnly(event.target.checked)}
          />
        </div>
      )}
      <section
        aria-label={`Variables of ${title}`}
        className="overflow-x-auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
        tabIndex={0}
      >
        <table aria-label={`Environment of ${title}`} className="border-collapse">
          <thead>
            <tr className="border-b border-rule">
              <th scope="col" className="h-8 min-w-56 pr-3 max-sm:min-w-36 text-left text-label text-ink-3">
                Variable
              </th>
              {vaults.map(({ vaultId, name }) => {
                const missing = missingIn(rows, vaultId)
                return (
                  <th
                    key={vaultId}
                    scope="col"
                    className="min-w-48 px-3 max-sm:min-w-36 text-left text-label text-ink-3"
                  >
                    <span className="inline-flex items-center gap-2">
                      {name}
                      {missing.length > 0 && (
                        <span className="inline-flex items-center">
                          {missing.length} missing
                          <CopyButton text={missing.join('\n')} label={`Copy the names missing in ${name}`} />
                        </span>
                      )}
                    </span>
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {wanted.slice(0, MOST).map((row) => {
              const isAlone = [...row.cells.values()].filter((cell) => (cell?.items.length ?? 0) > 0).length < 2
              return (
                <tr key={row.name} className="border-b border-rule hover:bg-raised">
                  <th scope="row" className="h-8 pr-3 text-left font-mono text-code font-normal">
                    {row.name}
                  </th>
                  {vaults.map((vault) => (
                    <Cell
                      key={vault.vaultId}
                      vault={vault}
                      row={row}
                      cell={row.cells.get(vault.vaultId)}
                      isAlone={isAlone}
                      onAdd={() => setAdding({ vault, row })}
                    />
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
        {rows.length === 0 && <p className="py-3 text-ink-2">No variables yet.</p>}
        {wanted.length > MOST && (
          <p className="py-3 text-ink-2">
            {MOST} of {wanted.length} are shown: filter for the others.
          </p>
        )}
        {adding && (
          <AddVariableForm
            vault={adding.vault}
            name={adding.row.name}
            suggested={suggested ?? 'env'}
            onClose={() => setAdding(undefined)}
          />
        )}
      </section>
    </>
  )
}

/** The variables of some vaults, each list complete and verified; a vault that cannot be read says so. */
function VaultsMatrix({ title, vaultIds }: { readonly title: string; readonly vaultIds: readonly string[] }) {
  const strongroom = useStrongroom()
  const { data: listed = [] } = useQuery(vaultsQuery(strongroom))
  const lists = useQueries({ queries: vaultIds.map((vaultId) => itemsQuery(strongroom, vaultId)) })
  if (lists.some(({ isPending }) => isPending)) return <p role="status">Reading {vaultIds.length} vaults</p>
  const vaults = vaultIds.map((vaultId, at) => ({
    vaultId,
    name: listed.find((one) => one.vaultId === vaultId)?.name ?? `${vaultId.slice(0, 8)}…`,
    items: lists[at]?.data,
  }))
  return <Matrix title={title} vaults={vaults} />
}

export function VaultEnvironmentPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId/environment' })
  const strongroom = useStrongroom()
  const projects = useQuery(projectsQuery(strongroom))
  return (
    <VaultFrame vaultId={vaultId}>
      <Answer of={projects} what="projects">
        {(all) => {
          const linked = all.filter(({ vaultIds, status }) => status === 'active' && vaultIds.includes(vaultId))
          if (linked.length === 0)
            return (
              <>
                <Empty title="No project uses this vault" cli="strongroom project create NAME --vault VAULT">
                  <p>
                    A project sets vaults side by side: variables that one has and another lacks show here.{' '}
                    <Link to="/projects" className="underline">
                      Make or link a project.
                    </Link>
                  </p>
                </Empty>
                <Section title="Variables of this vault">
                  <VaultsMatrix title="this vault" vaultIds={[vaultId]} />
                </Section>
              </>
            )
          return linked.map(({ id, name, vaultIds }) => (
            <Section
              key={id}
              title={name}
              actions={
                <Link to="/projects/$projectId" params={{ projectId: id }}>
                  Project
                </Link>
              }
            >
              <VaultsMatrix title={name} vaultIds={[vaultId, ...vaultIds.filter((one) => one !== vaultId)]} />
              {vaultIds.length > 1 && (
                <p className="pt-3 text-label text-ink-3">
                  A process of the whole project gets each variable once: of several vaults, the one marked counts.
                </p>
              )}
            </Section>
          ))
        }}
      </Answer>
    </VaultFrame>
  )
}
