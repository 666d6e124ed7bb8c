import { classes } from './classes.ts'

export type Tone = 'good' | 'quiet' | 'warn' | 'bad' | 'money'
const TONES: Record<Tone, string> = {
  good: 'text-seal',
  quiet: 'text-ink-3',
  warn: 'text-warn',
  bad: 'text-danger',
  money: 'text-money',
}

/** A state as a word with a dot; the colour only repeats what the word says. */
export function Status({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span
      className={classes(
        // Beside other text it stands on the same line: its own line begins where theirs does.
        'inline-flex items-center gap-1.5 align-top whitespace-nowrap max-sm:wrap-anywhere max-sm:whitespace-normal',
        TONES[tone],
      )}
    >
      <span aria-hidden="true" className="size-2 shrink-0 rounded-round bg-current" />
      {children}
    </span>
  )
}
