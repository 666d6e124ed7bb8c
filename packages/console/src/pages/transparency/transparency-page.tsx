import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { useSubjectNames } from '../activity/subjects.tsx'
import { AnchorForm } from './anchor-form.tsx'
import { Ledger } from './ledger.tsx'
import { ProofDrawer } from './proof-drawer.tsx'
import { ledgerQuery, servedSizeQuery } from './queries.ts'
import { TRANSPARENCY_TABS } from './tabs.ts'
import { useVerify, VerifyPanel } from './verify-panel.tsx'

const STEP = 200

export function TransparencyPage() {
  const { entry = '' } = useSearch({ from: '/transparency' })
  const index = /^\d{1,15}$/.test(entry) ? Number(entry) : undefined
  const navigate = useNavigate()
  const session = useOpenSession()
  const names = useSubjectNames()
  const [count, setCount] = useState(STEP)
  const [isExporting, setExporting] = useState(false)
  const ledger = useQuery({ ...ledgerQuery(session, count), placeholderData: keepPreviousData })
  const { data: served } = useQuery(servedSizeQuery(session))
  const verify = useVerify()
  const head = ledger.data?.head
  const newer = Math.max(0, (served ?? 0) - (head?.treeSize ?? served ?? 0))
  return (
    <Page
      title="Transparency"
      beside={head && <Seal root={head.rootHash} says={`Verified in this browser: ${head.treeSize} entries`} />}
      tabs={TRANSPARENCY_TABS}
      actions={<Button onClick={() => setExporting(true)}>Export trust anchor</Button>}
    >
      <VerifyPanel verify={verify} />
      <Answer of={ledger} what="the log">
        {(data) =>
          data.head.treeSize === 0 ? (
            <Empty title="The log has 0 entries" cli="strongroom log head">
              <p>Every change of keys, vaults and projects becomes an entry that nobody can take back.</p>
            </Empty>
          ) : (
            <>
              {newer > 0 && (
                <p className="flex flex-wrap items-center gap-3 border-b border-rule px-6 py-2 text-warn">
                  {newer} newer {newer === 1 ? 'entry' : 'entries'}, not verified here yet.
                  <Button onClick={() => void ledger.refetch()} busy={ledger.isFetching}>
                    Verify and show
                  </Button>
                </p>
              )}
              <Ledger ledger={data} names={names} current={index} />
              {data.from > 0 && (
                <div className="px-6 py-3">
                  <Button onClick={() => setCount(count + STEP)} busy={ledger.isFetching}>
                    Show older entries
                  </Button>
                </div>
              )}
            </>
          )
        }
      </Answer>
      {index !== undefined && (
        <ProofDrawer index={index} names={names} onClose={() => void navigate({ to: '/transparency', search: {} })} />
      )}
      {isExporting && <AnchorForm onClose={() => setExporting(false)} />}
    </Page>
  )
}
