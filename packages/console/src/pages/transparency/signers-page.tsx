import { keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useSubjectNames } from '../activity/subjects.tsx'
import { ConfirmKeyForm } from './confirm-key-form.tsx'
import { type Band, bandsOf } from './continuity.ts'
import { ContinuityBands } from './continuity-bands.tsx'
import { signersQuery } from './queries.ts'
import { TRANSPARENCY_TABS } from './tabs.ts'

const VIA: Readonly<Record<string, string>> = {
  'org.genesis': 'founded the organisation',
  'key.add': 'endorsed',
  'key.rotate': 'signed by the key before',
  'key.recover': 'recovered',
}
const KNOWN: Readonly<Record<string, string>> = {
  oob: 'compared with its owner',
  endorsed: 'endorsed from the pinned beginning',
  tofu: 'taken at first sight',
}

function State({ band: { until, endedBy, pinned } }: { readonly band: Band }) {
  if (pinned?.status === 'compromised') return <Status tone="bad">compromised</Status>
  if (!until) return <Status tone="good">in use</Status>
  return <Status tone="quiet">{endedBy === 'key.rotate' ? 'replaced' : 'ended'}</Status>
}

interface Columns {
  person(principal: string): string
  onConfirm(band: Band): void
}

const columnsFor = ({ person, onConfirm }: Columns): readonly Column<Band>[] => [
  {
    id: 'whose',
    header: 'Whose',
    sort: ({ principal }) => person(principal),
    cell: ({ principal }) => person(principal),
  },
  {
    id: 'words',
    header: 'Key, in words',
    grows: true,
    cell: ({ keyId }) => keyWords(keyId),
  },
  { id: 'id', header: 'Key id', cell: ({ keyId }) => <MonoId id={keyId} keep={8} className="justify-self-start" /> },
  {
    id: 'from',
    header: 'Came in',
    sort: ({ from }) => from.index,
    cell: ({ from: { index }, via }) => (
      <span>
        <Link to="/transparency" search={{ entry: String(index) }}>
          entry {index}
        </Link>
        , {VIA[via] ?? via}
      </span>
    ),
  },
  {
    id: 'link',
    header: 'Continuity',
    cell: ({ link }) =>
      link === 'broken' ? <Status tone="bad">break</Status> : link === 'rotated' ? 'linked' : 'first key',
  },
  { id: 'state', header: 'State', cell: (band) => <State band={band} /> },
  {
    id: 'known',
    header: 'Known here by',
    cell: (band) =>
      band.pinned === undefined ? (
        <span className="text-ink-3">not seen by a read yet</span>
      ) : band.pinned.verified === 'oob' || band.until ? (
        (KNOWN[band.pinned.verified] ?? band.pinned.verified)
      ) : (
        <span className="inline-flex items-center gap-2">
          {KNOWN[band.pinned.verified] ?? band.pinned.verified}
          <Button
            kind="quiet"
            className="min-h-6 px-2"
            aria-label={`Compare the key ${keyWords(band.keyId)}`}
            onClick={() => onConfirm(band)}
          >
            Compare
          </Button>
        </span>
      ),
  },
]

export function SignersPage() {
  const session = useOpenSession()
  const names = useSubjectNames()
  const signers = useQuery(signersQuery(session))
  const [confirming, setConfirming] = useState<Band>()
  const bands = useMemo(() => bandsOf(signers.data?.entries ?? [], signers.data?.pinned ?? []), [signers.data])
  const head = signers.data?.head
  const columns = columnsFor({ person: names.person, onConfirm: setConfirming })
  return (
    <Page
      title="Transparency"
      beside={head && <Seal root={head.rootHash} says={`Verified in this browser: ${head.treeSize} entries`} />}
      tabs={TRANSPARENCY_TABS}
    >
      <Answer of={signers} what="signers">
        {() => (
          <>
            <section aria-label="Signers" className="grid gap-3 border-b border-rule px-6 py-4">
              <h2 className="text-dialog">Who signs, and with which key</h2>
              <p className="max-w-3xl text-ink-2">
                Read off all entries of the log, which were verified in this browser. A new key is signed by the one
                before it, or by somebody who may endorse it; what nothing links is a break, and people should ask why.
              </p>
              <ContinuityBands bands={bands} person={names.person} />
            </section>
            <Table label="Keys of signers" rows={bands} columns={columns} keyOf={({ keyId }) => keyId} />
          </>
        )}
      </Answer>
      {confirming && (
        <ConfirmKeyForm
          keyId={confirming.keyId}
          owner={names.person(confirming.principal)}
          onClose={() => setConfirming(undefined)}
        />
      )}
    </Page>
  )
}
