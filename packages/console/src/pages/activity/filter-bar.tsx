import { X } from 'lucide-react'
import { useId } from 'react'
import { inputClasses } from '../../ui/field.tsx'
import { type Filter, formatFilter, formatToken, parseFilter, TOKENS, type Token } from './filter-tokens.ts'

interface FilterBarMembers {
  readonly value: string
  onChange(text: string): void
  /** What can follow a token, by its kind. */
  readonly known: Readonly<Record<Token['kind'], readonly string[]>>
}

const without = (filter: Filter, token: Token): string =>
  formatFilter({ ...filter, tokens: filter.tokens.filter((one) => one !== token) })

/** Lines that complete what is being typed: the browser offers them under the field. */
function completions(text: string, known: FilterBarMembers['known']): readonly string[] {
  const at = text.lastIndexOf(' ') + 1
  const [before, last] = [text.slice(0, at), text.slice(at)]
  const kind = TOKENS.find((one) => last.startsWith(`${one}:`))
  if (kind === undefined) return TOKENS.filter((one) => one.startsWith(last)).map((one) => `${before}${one}:`)
  return known[kind].map((value) => `${before}${formatToken({ kind, value })}`)
}

/** Narrows the table by typed tokens and words. Each token can be taken away by itself. */
export function FilterBar({ value, onChange, known }: FilterBarMembers) {
  const id = useId()
  const filter = parseFilter(value)
  return (
    <div className="grid min-w-0 flex-1 gap-1.5 max-sm:basis-full">
      <input
        data-filter
        type="search"
        aria-label="Filter activity"
        placeholder="who:  status:  vault:  action:  or words"
        list={`${id}-known`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={`${inputClasses} max-w-2xl`}
        autoComplete="off"
        spellCheck={false}
      />
      <datalist id={`${id}-known`}>
        {completions(value, known).map((line) => (
          <option key={line} value={line} />
        ))}
      </datalist>
      {filter.tokens.length > 0 && (
        <ul aria-label="Filters" className="flex flex-wrap gap-1.5">
          {filter.tokens.map((token) => (
            <li key={formatToken(token)}>
              <button
                type="button"
                aria-label={`Take away ${formatToken(token)}`}
                onClick={() => onChange(without(filter, token))}
                className="flex min-h-6 cursor-pointer items-center gap-1 rounded-control border border-rule bg-raised px-1.5 text-label hover:border-edge"
              >
                <span className="text-ink-3">{token.kind}</span> {token.value}
                <X aria-hidden="true" size={12} strokeWidth={1.5} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
