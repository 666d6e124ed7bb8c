import type { WebhookDelivery, WebhookDeliveryDetail } from '@strongroom/sdk'
import { CopyBlock } from '../../ui/copy.tsx'
import { When } from '../../ui/when.tsx'
import { TimeSplit } from './time-split.tsx'
import { gapText } from './timeline-scale.ts'
import { type Attempt, answerText, isTaken } from './webhook-words.tsx'

type Request = WebhookDeliveryDetail['attempts'][number]['request']

interface Members {
  readonly attempt: Attempt
  readonly before: Attempt | undefined
  readonly delivery: WebhookDelivery
  /** Undefined until it is there; null where it cannot be shown. */
  readonly request: Request | undefined
}

const headerLines = (url: string, headers: Readonly<Record<string, string>>): string =>
  [`POST ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')

/** One request as it went out, and where its time went. */
export function AttemptDetails({ attempt, before, delivery, request }: Members) {
  const { startedAt, url } = attempt
  const waited = Date.parse(startedAt) - Date.parse(before?.startedAt ?? delivery.createdAt)
  return (
    <details className="group border-b border-rule py-1">
      <summary className="flex min-h-8 cursor-pointer flex-wrap items-center gap-x-3">
        <span aria-hidden="true" className="group-open:rotate-90">
          ▸
        </span>
        <strong>Attempt {attempt.attempt}</strong>
        <span className={isTaken(attempt) ? 'text-seal' : 'text-danger'}>{answerText(attempt)}</span>
        <When at={startedAt} />
        <span className="text-label text-ink-3">
          {gapText(waited)} after {before ? 'the one before' : 'it happened'}
        </span>
      </summary>
      <div className="grid gap-3 py-2">
        <TimeSplit attempt={attempt} />
        {request && (
          <>
            <CopyBlock label={`Headers of attempt ${attempt.attempt}`} text={headerLines(url, request.headers)} />
            <CopyBlock label={`What attempt ${attempt.attempt} signed`} text={request.baseString} />
          </>
        )}
        {request === null && (
          <p className="text-ink-2">
            {attempt.durationMs === null ? 'Its request is shown when it has ended.' : 'Its request is not shown.'}
          </p>
        )}
        <p className="text-label text-ink-3">
          Of the answer only its status is kept: what stands behind an address is the receiver&rsquo;s.
        </p>
      </div>
    </details>
  )
}
