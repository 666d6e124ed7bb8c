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
  const word = [status ?? result, code].filter((part) => part !== null).join(' ')
  return <Status tone={TONES[result]}>{String(word)}</Status>
}
