import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { useState } from 'react'
import { needsQuery } from '../pages/approvals/queries.ts'
import { useLastVerified } from '../session/alarm.ts'
import { useOpenSession } from '../session/session.ts'
import { IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { ago } from '../ui/when.tsx'
import { GROUPS, type Place } from './places.ts'

// On a narrow screen the rail lies over the page and is never narrow itself.

interface Width {
  /** Only the signs of the places; their names are said and shown on hover. */
  readonly isNarrow: boolean
}

function RailLink({ place: { label, icon: Icon, to }, isNarrow }: Width & { readonly place: Place }) {
  return (
    <li>
      <Link
        to={to}
        activeOptions={{ exact: to === '/' }}
        title={isNarrow ? label : undefined}
        className={classes(
          'relative flex min-h-8 items-center gap-2.5 rounded-control px-2.5 text-ink-2 no-underline hover:bg-raised hover:text-ink hover:no-underline aria-[current=page]:bg-raised aria-[current=page]:font-[550] aria-[current=page]:text-ink',
          isNarrow && 'md:justify-center md:px-0',
        )}
      >
        <Icon size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
        <span className={isNarrow ? 'md:sr-only' : undefined}>{label}</span>
        {to === '/approvals' && <Waiting isNarrow={isNarrow} />}
      </Link>
    </li>
  )
}

/** How much waits for somebody to decide. */
function Waiting({ isNarrow }: Width) {
  const { strongroom, client } = useOpenSession()
  const { data: needs = [] } = useQuery(needsQuery(strongroom, client))
  if (needs.length === 0) return null
  return (
    <span className={classes('ml-auto text-warn', isNarrow && 'md:absolute md:top-0 md:right-0.5 md:text-label')}>
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

const WIDTH = 'rail'

export function Rail({ isOpen }: { readonly isOpen: boolean }) {
  const [isNarrow, setNarrow] = useState(() => localStorage.getItem(WIDTH) === 'narrow')
  const change = (): void => {
    localStorage.setItem(WIDTH, isNarrow ? 'wide' : 'narrow')
    setNarrow(!isNarrow)
  }
  const Icon = isNarrow ? PanelLeftOpen : PanelLeftClose
  return (
    <nav
      aria-label="Places"
      className={classes(
        'sticky top-12 flex h-[calc(100vh-48px)] w-52 shrink-0 flex-col overflow-y-auto border-r border-rule bg-bg px-3 py-3 max-md:fixed max-md:z-30',
        !isOpen && 'max-md:hidden',
        isNarrow && 'md:w-12 md:px-[7px]',
      )}
    >
      {GROUPS.map(({ title, places }) => (
        <div key={title ?? 'top'} className={classes('mb-3', isNarrow && 'md:mb-2')}>
          {title !== undefined && (
            <h2 className={classes('px-2.5 pb-0.5 text-label text-ink-3', isNarrow && 'md:sr-only')}>{title}</h2>
          )}
          <ul className={classes(isNarrow && title !== undefined && 'md:border-t md:border-rule md:pt-2')}>
            {places.map((place) => (
              <RailLink key={place.to} place={place} isNarrow={isNarrow} />
            ))}
          </ul>
        </div>
      ))}
      <div className={classes(isNarrow && 'md:sr-only')}>
        <LastVerified />
      </div>
      <IconButton
        label={isNarrow ? 'Show the names of the places' : 'Show only the signs of the places'}
        onClick={change}
        className="mt-auto shrink-0 max-md:hidden"
      >
        <Icon size={16} strokeWidth={1.5} />
      </IconButton>
    </nav>
  )
}
