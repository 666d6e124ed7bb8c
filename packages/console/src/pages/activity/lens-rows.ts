import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { auditQuery, feedQuery, requestsQuery, type Wanted } from './queries.ts'
import { type ActivityRow, auditRow, feedRow, type Lens, requestRow, type Subject } from './rows.ts'

const EVERY_MS = 3000

export interface LensAnswer {
  readonly data: { readonly rows: readonly ActivityRow[]; readonly isAll: boolean } | undefined
  readonly error: unknown
  readonly isPending: boolean
  refetch(): unknown
}

/** The rows of one lens, asked again and again while the page is in sight. Requests say where by what the audit says of them. */
export function useLensRows(lens: Lens, wanted: Wanted): LensAnswer {
  const strongroom = useStrongroom()
  const live = (own: Lens) => ({ refetchInterval: lens === own ? EVERY_MS : (false as const) })
  const requests = useQuery({ ...requestsQuery(strongroom, wanted), ...live('requests'), enabled: lens === 'requests' })
  const audit = useQuery({ ...auditQuery(strongroom, wanted), ...live('audit'), enabled: lens !== 'feed' })
  const feed = useQuery({ ...feedQuery(strongroom), ...live('feed'), enabled: lens === 'feed' })
  const asked = { requests, audit, feed }[lens]
  const { error, isPending, refetch } = asked
  return { data: rowsOf(), error, isPending, refetch }

  function rowsOf(): LensAnswer['data'] {
    if (lens === 'audit') return audit.data && { ...audit.data, rows: audit.data.rows.map(auditRow) }
    if (lens === 'feed') return feed.data && { ...feed.data, rows: feed.data.rows.map(feedRow) }
    const targets = new Map<string, readonly Subject[]>()
    for (const { context, targets: about } of audit.data?.rows ?? []) targets.set(context.requestId, about)
    return (
      requests.data && {
        ...requests.data,
        rows: requests.data.rows.map((row) => requestRow(row, targets.get(row.requestId))),
      }
    )
  }
}

const OWN_READS = /^GET \/monitoring\/(?:request|audit|vault-activity)-events$/

/** Looking at requests makes requests: those of this page would fill it. */
export const isOwnRead = ({ what }: ActivityRow): boolean => OWN_READS.test(what)
