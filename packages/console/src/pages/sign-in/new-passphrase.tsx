import { KeyError } from '../../session/key-questions.ts'
import { TextField } from '../../ui/field.tsx'

export interface Twice {
  readonly first: string
  readonly again: string
}

const LEAST = 12

export function ensurePassphrase({ first, again }: Twice): void {
  if (first.length < LEAST)
    throw new KeyError({ code: 'passphrase_too_short', message: `the passphrase needs at least ${LEAST} characters` })
  if (first !== again) throw new KeyError({ code: 'passphrases_differ', message: 'the two passphrases differ' })
}

export function NewPassphrase({ value, onChange }: { readonly value: Twice; onChange(value: Twice): void }) {
  return (
    <>
      <TextField
        label="Passphrase"
        type="password"
        autoComplete="new-password"
        hint={`At least ${LEAST} characters; four or five words are good. It never leaves this browser.`}
        value={value.first}
        onChange={(event) => onChange({ ...value, first: event.target.value })}
        required
      />
      <TextField
        label="Passphrase again"
        type="password"
        autoComplete="new-password"
        value={value.again}
        onChange={(event) => onChange({ ...value, again: event.target.value })}
        required
      />
    </>
  )
}
