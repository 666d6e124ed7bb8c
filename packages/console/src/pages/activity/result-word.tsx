import { Status, type Tone } from '../../ui/status.tsx'
import type { Result } from './rows.ts'

const TONES: Record<Result, Tone> = { ok: 'good', denied: 'warn', 'client error': 'quiet', 'server error': 'bad' }

/** How it ended, in a word, with the code of the refusal. */
export function ResultWord({
  result,
  status,
  code,
}: {
  readonly result: Result
  readonly status: number | null
  readonly code: string | null
}) {
  return (
    <span className="inline-flex flex-wrap gap-x-2">
      <Status tone={TONES[result]}>{String(status ?? result)}</Status>
      {code !== null && <span className="text-ink-2 [overflow-wrap:anywhere]">{code}</span>}
    </span>
  )
}
