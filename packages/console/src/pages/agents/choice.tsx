import { type ReactNode, useId } from 'react'

interface Choice<V extends string> {
  readonly value: V
  readonly label: string
  readonly says: ReactNode
}

interface ChoicesMembers<V extends string> {
  readonly legend: string
  readonly value: V
  readonly choices: readonly Choice<V>[]
  onChange(value: V): void
  readonly disabled?: boolean
}

/** One of a few, each with a sentence: arrow keys move between them. */
export function Choices<V extends string>({ legend, value, choices, onChange, disabled = false }: ChoicesMembers<V>) {
  const name = useId()
  return (
    <fieldset disabled={disabled} className="grid gap-1">
      <legend className="mb-1 font-[550]">{legend}</legend>
      <div className="divide-y divide-rule rounded-control border border-rule">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="flex min-h-8 cursor-pointer items-start gap-2.5 bg-surface px-3 py-2 first:rounded-t-control last:rounded-b-control has-checked:bg-raised has-disabled:cursor-default"
          >
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              className="mt-0.5 size-4 shrink-0 accent-ink"
            />
            <span>
              <span className="font-[550]">{choice.label}</span>
              <span className="block text-label text-ink-2">{choice.says}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
