import { CheckField } from '../../ui/field.tsx'

export type ExtraCap = 'agent-manager' | 'dir-admin'

const CAPS: readonly { readonly cap: ExtraCap; readonly label: string; readonly hint: string }[] = [
  { cap: 'agent-manager', label: 'May sign for agents', hint: 'Their key brings keys of agents into the log.' },
  {
    cap: 'dir-admin',
    label: 'May run the directory',
    hint: 'Their key endorses people, ends keys and sets the policy.',
  },
]

interface Members {
  readonly value: readonly ExtraCap[]
  onChange(value: readonly ExtraCap[]): void
}

/** What a key may sign, beyond what every member signs. */
export const CapFields = ({ value, onChange }: Members) => (
  <fieldset className="grid gap-2">
    <legend className="mb-1 font-[550]">Beyond being a member</legend>
    {CAPS.map(({ cap, label, hint }) => (
      <CheckField
        key={cap}
        label={label}
        hint={hint}
        checked={value.includes(cap)}
        onChange={({ target }) => onChange(target.checked ? [...value, cap] : value.filter((one) => one !== cap))}
      />
    ))}
  </fieldset>
)
