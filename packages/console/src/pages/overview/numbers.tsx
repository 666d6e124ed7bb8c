import { Link, type LinkProps } from '@tanstack/react-router'

export interface Figure {
  readonly label: string
  readonly value: string
  /** Beside it: a share, a whole. */
  readonly beside?: string | undefined
  readonly link: LinkProps
  readonly tone?: 'danger' | 'money' | undefined
}

const TONES = { danger: 'text-danger', money: 'text-money' } as const

/** Four numbers; each leads to what it was counted from. */
export function Numbers({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <ul aria-label="In numbers" className="grid grid-cols-4 border-b border-rule max-md:grid-cols-2">
      {figures.map(({ label, value, beside, link, tone }) => (
        <li
          key={label}
          className="border-r border-rule last:border-r-0 max-md:border-b max-md:even:border-r-0 max-sm:even:[&>a]:px-4"
        >
          <Link
            {...link}
            className="grid h-full content-start gap-0.5 px-6 py-3 text-ink no-underline hover:bg-raised hover:no-underline"
          >
            <span className="text-label text-ink-3">{label}</span>
            <span className="flex flex-wrap items-baseline gap-x-2">
              <span className={`text-figure ${tone ? TONES[tone] : ''}`}>{value}</span>
              {beside !== undefined && <span className="text-ink-2">{beside}</span>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
