import { inputClasses } from './field.tsx'

/** Narrows the list below it; `/` leads here. */
export function FilterField({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  onChange(text: string): void
}) {
  return (
    <div className="border-b border-rule px-6 py-2">
      <input
        data-filter
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={`${inputClasses} max-w-96`}
      />
    </div>
  )
}
