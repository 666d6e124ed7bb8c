import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { isNoAccess } from '../../queries.ts'
import { useOpenSession } from '../../session/session.ts'
import { CheckField } from '../../ui/field.tsx'
import { byName } from '../../ui/name-order.ts'
import { Page, Section } from '../../ui/page.tsx'
import { Answer, Empty, ProblemNote, Skeleton } from '../../ui/states.tsx'
import { edgesOf } from './access-edges.ts'
import { AccessGraph } from './access-graph.tsx'
import { isMismatch } from './access-rows.ts'
import { useNames } from './principals.ts'
import { accessQuery, vaultsQuery } from './queries.ts'
import { VAULTS_TABS } from './vaults-tabs.ts'

/** A list to verify and a request for each vault: beyond this many they are left to their own pages. */
const MOST = 40

/** Every vault beside everybody who has a role or a key in it. */
export function AccessGraphPage() {
  const { strongroom } = useOpenSession()
  const vaults = useQuery(vaultsQuery(strongroom))
  return (
    <Page title="Vaults" tabs={VAULTS_TABS}>
      <Answer of={vaults} what="vaults">
        {(all) => {
          const active = all.filter(({ status }) => status === 'active')
          return active.length === 0 ? (
            <Empty title="Nobody can decrypt anything yet" cli="strongroom vault create prod">
              <p>There is no vault. Whoever is given one is shown here beside it, with a role and a key.</p>
            </Empty>
          ) : (
            <Seen vaults={active} />
          )
        }}
      </Answer>
    </Page>
  )
}

function Seen({ vaults }: { readonly vaults: readonly { readonly vaultId: string; readonly name: string }[] }) {
  const { strongroom, client } = useOpenSession()
  const nameOf = useNames()
  const navigate = useNavigate()
  const { only } = useSearch({ from: '/vaults/access' })
  const looked = vaults.toSorted(byName).slice(0, MOST)
  const answers = useQueries({ queries: looked.map(({ vaultId }) => accessQuery(strongroom, client, vaultId)) })
  const failed = answers.find(({ error }) => error !== null && !isNoAccess(error))
  const closed = answers.filter(({ error }) => isNoAccess(error)).length
  const seen = looked.flatMap((vault, at) => {
    const access = answers[at]?.data
    return access ? [{ ...vault, access }] : []
  })
  const all = edgesOf(seen, nameOf)
  const shown = only === 'mismatches' ? all.filter(isMismatch) : all
  const waiting = answers.filter(({ isPending }) => isPending).length
  const left = vaults.length - looked.length
  return (
    <Section title="Who can decrypt what">
      <div className="grid gap-4">
        <p className="text-ink-2">
          Roles are on the signed list of each vault, verified here; keys are those that the server has wrapped. It
          takes both.
        </p>
        <CheckField
          label="Only a role or a key without the other"
          checked={only === 'mismatches'}
          onChange={({ target }) =>
            void navigate({ to: '/vaults/access', search: target.checked ? { only: 'mismatches' } : {}, replace: true })
          }
        />
        {failed && <ProblemNote error={failed.error} onRetry={() => void failed.refetch()} />}
        {waiting > 0 ? (
          <>
            <p className="text-ink-2">{`Reading ${waiting} more of ${looked.length}…`}</p>
            <Skeleton />
          </>
        ) : (
          shown.length > 0 && <AccessGraph edges={shown} />
        )}
        {all.length > 0 && shown.length === 0 && !failed && waiting === 0 && (
          <p role="status">Every role has its key, and every key its role.</p>
        )}
        {closed > 0 && <p className="text-label text-ink-3">{`Not shown: ${closed} whose keys you may not see.`}</p>}
        {left > 0 && <p className="text-label text-ink-3">{`Not shown: ${left} more; their own pages show them.`}</p>}
      </div>
    </Section>
  )
}
