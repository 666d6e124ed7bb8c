import { useState } from 'react'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { ago } from '../../ui/when.tsx'
import { expiryProblem, isSpan, networksIn, networksProblem, SPANS } from './limits.ts'

/** As long as none is chosen; it is no time, so that nobody goes on without one. */
const ON_A_DAY = 'day'

interface ExpiryMembers {
  /** Undefined: as it is. */
  readonly expires: string | undefined
  /** What it has already. */
  readonly kept?: Date | null
  onChange(expires: string | undefined): void
}

const AS_IT_IS = 'kept'
const choiceOf = (expires: string | undefined): string => {
  if (expires === undefined) return AS_IT_IS
  return expires === '' || isSpan(expires) ? expires : ON_A_DAY
}

/** None, a span from now on, or a day. */
export function ExpiryField({ expires, kept = null, onChange }: ExpiryMembers) {
  const choice = choiceOf(expires)
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <SelectField
        label="Its keys expire"
        value={choice}
        onChange={({ target }) => onChange(target.value === AS_IT_IS ? undefined : target.value)}
      >
        {kept && <option value={AS_IT_IS}>{ago(kept)}, as it is</option>}
        <option value="">never</option>
        {SPANS.map((span) => (
          <option key={span} value={span}>
            in {Number.parseInt(span, 10)} days
          </option>
        ))}
        <option value={ON_A_DAY}>on a day</option>
      </SelectField>
      {choice === ON_A_DAY && expires !== undefined && (
        <TextField
          label="Day"
          type="date"
          hint="When it begins, UTC."
          error={expires === ON_A_DAY ? undefined : expiryProblem(expires)}
          value={expires === ON_A_DAY ? '' : expires}
          onChange={({ target }) => onChange(target.value || ON_A_DAY)}
        />
      )}
    </div>
  )
}

interface NetworksMembers {
  readonly networks: readonly string[]
  onChange(networks: readonly string[]): void
}

export function NetworksField({ networks, onChange }: NetworksMembers) {
  const [text, setText] = useState(networks.join('\n'))
  return (
    <TextArea
      label="Networks it may be used from"
      hint="One in a line, such as 10.1.0.0/16 or 2001:db8::7. Leave it empty for all."
      rows={3}
      spellCheck={false}
      className="font-mono"
      error={networksProblem(networks)}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        onChange(networksIn(target.value))
      }}
    />
  )
}
