import { shellLine } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { SubjectLink } from '../activity/subjects.tsx'
import { ProofFigure, ProofSteps } from './proof-figure.tsx'
import { type Proof, proofQuery } from './queries.ts'
import { ENTRY_WORDS, nameOfState } from './state-names.ts'

function ProofBody({ proof: { entry, head, documents, steps, file }, names }: ProofMembers) {
  return (
    <>
      <div role="status" className="flex items-center gap-2 border-b border-rule px-6 py-3">
        <Seal root={head.rootHash} says="Verified in this browser" />
        <span>
          <strong className="text-seal">In the log.</strong> {steps.length + 1} hashes were recomputed in this page and
          lead to the root that was verified here.
        </span>
      </div>
      <Section title="Entry">
        <Facts
          of={[
            ['What', `${ENTRY_WORDS[entry.type] ?? entry.type} (${entry.type})`],
            ['When', <When key="when" at={entry.at} />],
            [
              'About',
              <span key="about" className="grid">
                {entry.subjects.map((state) => {
                  const { subject, words } = nameOfState(state, names)
                  return <SubjectLink key={state} subject={subject} name={words} />
                })}
              </span>,
            ],
            ['Leaf hash', <MonoId key="leaf" id={entry.leafHash} keep={10} />],
            [
              'Signed documents',
              <span key="documents" className="flex flex-wrap gap-x-2">
                {documents.length === 0
                  ? 'named by the hash of their list'
                  : documents.map((hash) => <MonoId key={hash} id={hash} keep={6} />)}
              </span>,
            ],
            ['Checkpoint', `${head.treeSize} entries, ${head.origin}`],
          ]}
        />
      </Section>
      <Section
        title="Proof"
        actions={
          <Button onClick={() => download(`strongroom-entry-${entry.index}.json`, file, 'application/json')}>
            Save this proof
          </Button>
        }
      >
        <div className="grid gap-5">
          <ProofFigure leafHash={entry.leafHash} index={entry.index} steps={steps} size={head.treeSize} />
          <p className="text-label text-ink-3">
            Solid: recomputed here, from the entry up. Dashed: the hashes beside it, as the server gave them. A wrong
            one would lead to another root.
          </p>
          <details>
            <summary className="min-h-6 cursor-pointer">Every hash, in words</summary>
            <div className="pt-2">
              <ProofSteps leafHash={entry.leafHash} steps={steps} />
            </div>
          </details>
          <CopyLine label="In a terminal" text={shellLine`strongroom log entries --from ${entry.index} --limit 1`} />
        </div>
      </Section>
    </>
  )
}

interface ProofMembers {
  readonly proof: Proof
  readonly names: Names
}

/** The proof of one entry, recomputed here. What does not verify is an alarm, and nothing of it is shown. */
export function ProofDrawer({
  index,
  names,
  onClose,
}: {
  readonly index: number
  readonly names: Names
  onClose(): void
}) {
  const session = useOpenSession()
  const proof = useQuery(proofQuery(session, index))
  return (
    <Drawer title={`Entry ${index}`} open onClose={onClose}>
      <Answer of={proof} what="the log">
        {(data) => <ProofBody proof={data} names={names} />}
      </Answer>
    </Drawer>
  )
}
