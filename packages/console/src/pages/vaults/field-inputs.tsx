import { type NewField, nameProblem } from '@strongroom/sdk'
import type { ReactNode } from 'react'
import { CheckField, TextArea, TextField } from '../../ui/field.tsx'

export interface DraftField {
  readonly label: string
  readonly value: string
  readonly isEnvironmentVariable: boolean
}

export const emptyField: DraftField = { label: '', value: '', isEnvironmentVariable: true }

export const newFieldOf = ({ label, value, isEnvironmentVariable }: DraftField): NewField => ({
  label: label.trim(),
  value,
  isEnvironmentVariable,
})

/** Why a label cannot be saved; undefined if it can. */
export function labelProblem({ label, isEnvironmentVariable }: Omit<DraftField, 'value'>): string | undefined {
  const name = label.trim()
  if (name === '' || !isEnvironmentVariable) return undefined
  const problem = nameProblem(name)
  return problem && `${name} ${problem}: no process would get anything of this vault.`
}

export const fieldProblem = (field: DraftField): string | undefined =>
  field.label.trim() === '' || field.value === '' ? 'incomplete' : labelProblem(field)

interface Members {
  readonly value: DraftField
  onChange(next: DraftField): void
  /** Beside the label. */
  readonly beside?: ReactNode
  /** A field that is there: its value stays if none is typed. */
  readonly isThere?: boolean
  readonly autoFocus?: boolean
}

/** Label, value and whether processes get it. */
export function FieldInputs({ value: field, onChange, beside, isThere = false, autoFocus = false }: Members) {
  return (
    <>
      <div className="flex items-end gap-2 [&>div]:flex-1">
        <TextField
          label="Label"
          error={labelProblem(field)}
          className="font-mono text-code"
          value={field.label}
          onChange={(event) => onChange({ ...field, label: event.target.value })}
          spellCheck={false}
          autoCapitalize="off"
          autoFocus={autoFocus}
          required
        />
        {beside}
      </div>
      <TextArea
        label={isThere ? 'New value' : 'Value'}
        hint={isThere ? 'Left empty, the value stays as it is.' : undefined}
        className="font-mono text-code"
        rows={2}
        value={field.value}
        onChange={(event) => onChange({ ...field, value: event.target.value })}
        // What a browser checks the spelling of may leave it.
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        required={!isThere}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
      <CheckField
        label="Environment variable"
        hint="Processes get it under its label, which the server can read."
        checked={field.isEnvironmentVariable}
        onChange={(event) => onChange({ ...field, isEnvironmentVariable: event.target.checked })}
      />
    </>
  )
}
