import { matchesEventType, unknownPatterns } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { TextField } from '../../ui/field.tsx'
import { eventTypesQuery } from './queries.ts'

export const patternsOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[\s,]+/)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
]

/** Why these are no types of events; undefined where they are. */
export function patternsProblem(text: string): string | undefined {
  const unknown = unknownPatterns(patternsOf(text))
  return unknown.length === 0 ? undefined : `There is no such type: ${unknown.join(', ')}.`
}

const FAMILIES = ['license.*', 'billing.*', 'budget.*', 'vault.*', 'vault_item.*', 'agent.*', 'domain.*'] as const

/** Types of events as text, with the families to press, and what they come to. */
export function EventTypesField({ value, onChange }: { readonly value: string; onChange(text: string): void }) {
  const { data: types = [] } = useQuery(eventTypesQuery(useStrongroom()))
  const patterns = patternsOf(value)
  const heard = types.filter(({ type }) => matchesEventType(patterns, type))
  const toggle = (family: string): void =>
    onChange(
      (patterns.includes(family)
        ? patterns.filter((one) => one !== family)
        : [...patterns.filter((one) => one !== '*'), family]
      ).join(', '),
    )
  return (
    <div className="grid gap-2">
      <TextField
        label="Events"
        hint={`${heard.length} of ${types.length} types. With commas between them; * is everything.`}
        error={patternsProblem(value)}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        required
        spellCheck={false}
        className="font-mono text-code"
      />
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Families of events</legend>
        {FAMILIES.map((family) => (
          <button
            key={family}
            type="button"
            aria-pressed={patterns.includes(family)}
            onClick={() => toggle(family)}
            className="min-h-6 cursor-pointer rounded-control border border-rule px-2 font-mono text-code aria-pressed:border-ink aria-pressed:bg-raised hover:bg-raised"
          >
            {family}
          </button>
        ))}
      </fieldset>
    </div>
  )
}
