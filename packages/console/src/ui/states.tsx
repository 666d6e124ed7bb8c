import type { ReactNode } from 'react'
import { isGone, isNoAccess, isUnsound, problemOf } from '../queries.ts'
import { Button } from './button.tsx'
import { CopyLine } from './copy.tsx'

/** What was refused, why, what next and where to read on: in place. */
export function ProblemNote({ error, onRetry }: { readonly error: unknown; onRetry?: () => void }) {
  const { code, message, fix, requestId } = problemOf(error)
  return (
    <div role="alert" className="grid gap-1 border-l-2 border-danger bg-raised px-3 py-2">
      <p>
        <strong className="text-danger">{code}</strong> {message}
      </p>
      {fix !== undefined && <p>{fix}</p>}
      <p className="text-label text-ink-3">
        <a href={`/docs/errors#${code}`}>Explain</a>
        {requestId !== undefined && <> · request {requestId}</>}
      </p>
      {onRetry && (
        <div>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </div>
  )
}

export function NoAccess({ what }: { readonly what: string }) {
  return (
    <div className="grid max-w-xl gap-2 px-6 py-8">
      <h2 className="text-dialog">You cannot see {what}</h2>
      <p className="text-ink-2">
        Your roles do not include it. Somebody who manages people can change that in People &amp; groups.
      </p>
    </div>
  )
}

interface EmptyMembers {
  readonly title: string
  readonly children: ReactNode
  /** The real command that fills this page. */
  readonly cli?: string
}

export function Empty({ title, children, cli }: EmptyMembers) {
  return (
    <div className="grid max-w-xl gap-3 px-6 py-8">
      <h2 className="text-dialog">{title}</h2>
      <div className="grid gap-3 text-ink-2">{children}</div>
      {cli !== undefined && <CopyLine label="In a terminal" text={cli} />}
    </div>
  )
}

/** Rows that are not there yet, at the height they will have: nothing shifts. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="px-6 py-2">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={row} className="flex h-8 items-center border-b border-rule">
          <div className="h-2 rounded-control bg-raised" style={{ width: `${24 + ((row * 37) % 50)}%` }} />
        </div>
      ))}
    </div>
  )
}

/** In place of what nobody has answered yet, or not to whoever asks. "None" would be a claim. */
export function NotKnown() {
  return (
    <span className="text-ink-3" title="Not known here yet, or not shown to you">
      –
    </span>
  )
}

interface Asked<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPending: boolean
  refetch(): unknown
}

/** What was in sight, after it could not be asked for again. */
function NotAnew({ of }: { readonly of: Asked<unknown> }) {
  return (
    <div className="grid gap-2 px-6 py-3">
      <p>This is how it was; it could not be asked for again.</p>
      <ProblemNote error={of.error} onRetry={() => void of.refetch()} />
    </div>
  )
}

/**
 * One question of a page in all its states. What was there before stays in sight while it is asked again, and where the server does not answer;
 * not where it says that there is no such thing any more, or not for whoever asks.
 */
export function Answer<T>({
  of,
  what,
  children,
  loading,
  unsound,
  gone,
}: {
  readonly of: Asked<T>
  /** For "You cannot see …". */
  readonly what: string
  readonly loading?: ReactNode
  /** In place of what a compromised key signed last, also where it was shown before. */
  readonly unsound?: (error: unknown) => ReactNode
  /** In place of what is not there any more, where there is more to say of it than that. */
  readonly gone?: ReactNode
  readonly children: (data: T) => ReactNode
}) {
  if (unsound && isUnsound(of.error)) return unsound(of.error)
  if (of.data !== undefined && !isGone(of.error))
    return (
      <>
        {of.error !== null && of.error !== undefined && <NotAnew of={of} />}
        {children(of.data)}
      </>
    )
  if (of.isPending) return loading ?? <Skeleton />
  if (gone !== undefined && isGone(of.error)) return gone
  if (isNoAccess(of.error)) return <NoAccess what={what} />
  return (
    <div className="max-w-2xl px-6 py-6">
      <ProblemNote error={of.error} onRetry={() => void of.refetch()} />
    </div>
  )
}
