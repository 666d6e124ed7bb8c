import { shellLine } from '@strongroom/contract'
import type { VerifyReport, VerifyStep } from '@strongroom/sdk'
import { keyWords } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { CheckField } from '../../ui/field.tsx'
import { Seal } from '../../ui/seal.tsx'
import { ProblemNote } from '../../ui/states.tsx'

const STEPS: readonly { readonly step: VerifyStep['step']; readonly words: string }[] = [
  { step: 'checkpoint-signature', words: 'The newest checkpoint is signed by the pinned key of the log' },
  { step: 'consistency', words: 'It continues the log that this browser has seen before' },
  { step: 'signer-directory', words: 'It is of the organisation that is pinned here' },
  { step: 'inclusion', words: 'All entries that are served make exactly the signed root' },
]
const REPLAY = { step: 'replay', words: 'Every change follows the rules, with its documents' } as const

/** Runs the whole verification; the steps are told as they are done. */
export function useVerify() {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [steps, setSteps] = useState<readonly VerifyStep[]>([])
  const run = useMutation({
    mutationFn: async (replay: boolean): Promise<VerifyReport> => {
      setSteps([])
      return strongroom.transparency.verify({ replay, onStep: (step) => setSteps((done) => [...done, step]) })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['transparency'] }),
  })
  return { run, steps }
}

type Verifying = ReturnType<typeof useVerify>

function Step({ words, done }: { readonly words: string; readonly done: VerifyStep | undefined }) {
  return (
    <li className="grid grid-cols-[20px_1fr] items-baseline gap-x-1">
      <span aria-hidden="true" className={done ? 'animate-[seal-tick_120ms_ease-out] text-seal' : 'text-ink-3'}>
        {done ? '✓' : '·'}
      </span>
      <span className={done ? '' : 'text-ink-3'}>
        {words}
        <span className="sr-only">{done ? ': done' : ': not yet'}</span>
        {done && <span className="block text-label text-ink-3">{done.detail}</span>}
      </span>
    </li>
  )
}

function Outcome({ report }: { readonly report: VerifyReport }) {
  const { head, newSigners, durationMs } = report
  return (
    <div role="status" className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Seal root={head.rootHash} says="Verified in this browser" />
      <strong className="text-seal">Verified in this browser</strong>
      <span>
        {head.treeSize.toLocaleString('en')} entries in {Math.round(durationMs)} ms.
      </span>
      {newSigners.length === 0 ? (
        <span className="text-ink-2">No key came in since you looked.</span>
      ) : (
        <span>
          New since: {newSigners.map(({ keyId }) => keyWords(keyId)).join(', ')}.{' '}
          <Link to="/transparency/signers">Look at signers</Link>
        </span>
      )}
    </div>
  )
}

export function VerifyPanel({ verify: { run, steps } }: { readonly verify: Verifying }) {
  const [isReplayed, setReplayed] = useState(false)
  const isStarted = run.isPending || run.isSuccess || run.isError
  const wanted = run.variables ? [...STEPS, REPLAY] : STEPS
  return (
    <section aria-label="Verification" className="grid gap-3 border-b border-rule px-6 py-4">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
        <Button kind="primary" busy={run.isPending} onClick={() => run.mutate(isReplayed)}>
          Verify now
        </Button>
        <CheckField
          label="Also check every change against the rules"
          checked={isReplayed}
          onChange={(event) => setReplayed(event.target.checked)}
        />
      </div>
      {isStarted && (
        <ol aria-label="Steps" className="grid gap-1">
          {wanted.map(({ step, words }) => (
            <Step key={step} words={words} done={steps.find((one) => one.step === step)} />
          ))}
        </ol>
      )}
      {run.data && <Outcome report={run.data} />}
      {run.error && <ProblemNote error={run.error} />}
      {isStarted && (
        <div className="max-w-xl">
          <CopyLine label="Copy as CLI" text={shellLine`strongroom verify ${isReplayed ? ['--replay'] : []}`} />
        </div>
      )}
    </section>
  )
}
