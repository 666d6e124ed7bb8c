import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { needsQuery } from '../pages/approvals/queries.ts'
import { useLastVerified } from '../session/alarm.ts'
import { useOpenSession } from '../session/session.ts'
import { ago } from '../ui/when.tsx'
import { GROUPS, type Place } from './places.ts'

function RailLink({ place: { label, to } }: { readonly place: Place }) {
  return (
    <li>
      <Link
        to={to}
        activeOptions={{ exact: to === '/' }}
        className="flex min-h-8 items-center rounded-control px-2.5 text-ink-2 no-underline hover:bg-raised hover:text-ink hover:no-underline aria-[current=page]:bg-raised aria-[current=page]:font-[550] aria-[current=page]:text-ink"
      >
        {label}
        {to === '/approvals' && <Waiting />}
      </Link>
    </li>
  )
}

/** How much waits for somebody to decide. */
function Waiting() {
  const { strongroom, client } = useOpenSession()
  const { data: needs = [] } = useQuery(needsQuery(strongroom, client))
  if (needs.length === 0) return null
  return (
    <span className="ml-auto text-warn">
      <span className="sr-only">: </span>
      {needs.length}
      <span className="sr-only"> waiting</span>
    </span>
  )
}

/** When this browser last verified something, in the words of the seal. */
function LastVerified() {
  const last = useLastVerified()
  if (!last) return null
  return (
    <p className="px-2.5 text-label text-seal">
      ✓ verified here {ago(new Date(last.at))}, in{'\u00a0'}
      {Math.round(last.ms)}
      {'\u00a0'}ms
    </p>
  )
}

export function Rail({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <nav
      aria-label="Places"
      className={`${isOpen ? 'max-md:block' : 'max-md:hidden'} sticky top-12 h-[calc(100vh-48px)] w-52 shrink-0 overflow-y-auto border-r border-rule bg-bg px-3 py-3 max-md:fixed max-md:z-30`}
    >
      {GROUPS.map(({ title, places }) => (
        <div key={title ?? 'top'} className="mb-3">
          {title !== undefined && <h2 className="px-2.5 pb-0.5 text-label text-ink-3">{title}</h2>}
          <ul>
            {places.map((place) => (
              <RailLink key={place.to} place={place} />
            ))}
          </ul>
        </div>
      ))}
      <LastVerified />
    </nav>
  )
}
