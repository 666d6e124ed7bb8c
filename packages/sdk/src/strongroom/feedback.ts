import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'

export interface FeedbackMessage {
  readonly summary: string
  /** What is missing, in your words. */
  readonly wanted: string
  readonly category?: 'missing_capability' | 'bug' | 'docs' | 'other'
  readonly context?: Readonly<Record<string, string>>
  readonly route?: string
  readonly requestId?: string
}

export interface Feedback {
  /** Of an agent. Refused here if it looks as if it held a credential. */
  send(message: FeedbackMessage, options?: RequestOptions): ApiPromise<{ readonly id: string }>
}

export const feedbackOf = (core: Core): Feedback => ({
  send: (message, options) =>
    core.call(options, async (scope) => (await import('./feedback-send.ts')).sendFeedback(scope, message)),
})
