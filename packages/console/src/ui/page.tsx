import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'

interface Tab {
  readonly label: string
  readonly link: LinkProps
}

const NEAREST = { block: 'nearest', inline: 'nearest' } as const

interface PageMembers {
  readonly title: string
  /** Beside the title: a state, a seal. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly tabs?: readonly Tab[]
  readonly children: ReactNode
}

/** A page: its title, what can be done on it, its tabs, and what it is about. */
export function Page({ title, beside, actions, tabs, children }: PageMembers) {
  useEffect(() => {
    document.title = `${title} · Strongroom`
  }, [title])
  return (
    <main id="page" tabIndex={-1} className="min-w-0 flex-1 pb-16 outline-none">
      <header className="border-b border-rule px-6 pt-4">
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-6 gap-y-2 pb-3">
          <div className="flex min-w-0 items-center gap-x-3 max-sm:flex-wrap">
            <h1 className="truncate text-title">{title}</h1>
            {beside !== undefined && <span className="flex shrink-0 items-center gap-3">{beside}</span>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
        {tabs && (
          <nav
            // On a narrow screen they go on beyond its edge; the one that is open is in sight.
            ref={(parts) => parts?.querySelector('[aria-current=page]')?.scrollIntoView(NEAREST)}
            aria-label={`Parts of ${title}`}
            className="-mx-6 -mb-px flex gap-5 overflow-x-auto scroll-px-6 px-6 max-sm:gap-4"
          >
            {tabs.map(({ label, link }) => (
              <Link
                key={label}
                {...link}
                activeOptions={{ exact: true, includeSearch: false }}
                className="min-h-8 border-b-2 border-transparent py-1 whitespace-nowrap text-ink-2 no-underline hover:text-ink hover:no-underline aria-[current=page]:border-ink aria-[current=page]:text-ink"
              >
                {label}
              </Link>
            ))}
          </nav>
        )}
      </header>
      {children}
    </main>
  )
}

/** A part of a page with a heading of its own, between hairlines. */
export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section aria-label={title} className="border-b border-rule px-6 py-5">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-dialog">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

/** Names and what they stand for. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(96px,max-content)_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      {of.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
