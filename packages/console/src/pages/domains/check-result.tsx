import { type CheckedSet, shellLine } from '@strongroom/contract'
import type { DnsCheck } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'

// What a resolver answers for the records of a domain, beside what they should be. It is asked when somebody wants to know.

export function useCheck(domain: string) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => strongroom.domains.check({ domain }),
    // The verdicts stand beside the records that were checked, not beside older ones.
    onSuccess: () => queries.invalidateQueries({ queryKey: ['domains', domain] }),
  })
}

type Check = ReturnType<typeof useCheck>

/** Not disabled while it works: whoever came with the keyboard stays on it. */
export const CheckButton = ({ check: { isPending, mutate } }: { readonly check: Check }) => (
  <Button aria-busy={isPending} onClick={() => !isPending && mutate()}>
    Check with a resolver
  </Button>
)

const TONES: Record<CheckedSet['verdict'], Tone> = { same: 'good', differs: 'bad', missing: 'bad', no_answer: 'warn' }
const WORDS: Record<CheckedSet['verdict'], string> = {
  ...{ same: '✓ same', differs: '✗ differs', missing: '✗ missing', no_answer: '– no answer' },
}

const verdictWords = ({ verdict, reason }: CheckedSet): string =>
  reason === null ? WORDS[verdict] : `${WORDS[verdict]}, ${reason}`

export const Verdict = ({ set }: { readonly set: CheckedSet }) => (
  <Status tone={TONES[set.verdict]}>{verdictWords(set)}</Status>
)

function Difference({ set }: { readonly set: CheckedSet }) {
  const { name, type, expected, found, foundTotal } = set
  const more = foundTotal - found.length
  return (
    <li className="grid gap-0.5 wrap-anywhere">
      <span className="flex flex-wrap items-center gap-x-3">
        <code>
          {name} {type}
        </code>
        <Verdict set={set} />
      </span>
      <span className="text-ink-2">
        expected <code>{expected.join(', ')}</code>
        {found.length > 0 && (
          <>
            {' · '}found <code>{found.join(', ')}</code>
          </>
        )}
        {more > 0 && ` and ${more} more`}
      </span>
    </li>
  )
}

function summaryOf({ sets, unchecked }: DnsCheck): string {
  if (sets.length === 0) return 'There is nothing to check.'
  const wrong = sets.filter(({ verdict }) => verdict !== 'same').length
  const what =
    wrong === 0
      ? `All ${sets.length} sets of records are the same.`
      : `${wrong} of ${sets.length} sets of records are not the same.`
  return unchecked === 0 ? what : `${what} ${unchecked} more were not asked about.`
}

interface Members {
  readonly domain: string
  /** Of the records that are shown. */
  readonly serial: number | undefined
  readonly check: Check
}

/** Progress, result or refusal of a check; nothing before the first. */
export function CheckResult({ domain, serial, check: { data: last, error, isPending, isIdle } }: Members) {
  if (isIdle) return null
  const data = last?.serial === serial ? last : undefined
  const different = data?.sets.filter(({ verdict }) => verdict !== 'same') ?? []
  return (
    <div className="grid max-w-3xl gap-3 px-6 pb-4">
      <p role="status" className="flex flex-wrap items-center gap-x-2">
        {isPending && <span aria-hidden="true" className="size-2 animate-pulse rounded-round bg-link" />}
        {isPending && 'Asking a resolver …'}
        {last && !data && 'The records were changed since they were checked.'}
        {data && (
          <>
            {summaryOf(data)}
            <span className="text-ink-3">
              Asked {data.resolvers.join(', ')}, <When at={data.checkedAt} />.
            </span>
          </>
        )}
      </p>
      {error && <ProblemNote error={error} />}
      {different.length > 0 && (
        <ul aria-label="What is not the same" className="grid gap-2">
          {different.map((set) => (
            <Difference key={`${set.name} ${set.type}`} set={set} />
          ))}
        </ul>
      )}
      {data && <CopyLine label="In a terminal" text={shellLine`strongroom domain check ${domain}`} />}
    </div>
  )
}
