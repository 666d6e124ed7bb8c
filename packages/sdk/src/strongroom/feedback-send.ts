import type { Scope } from './call.ts'
import type { FeedbackMessage } from './feedback.ts'
import { ValidationError } from './public-errors.ts'

const CREDENTIALS = [
  /\bsra_[A-Za-z0-9]{8,}/,
  /\bsrb1\.[A-Za-z0-9_-]{16,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}/,
  /\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{16,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bBearer\s+[A-Za-z0-9._~+/-]{16,}/i,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:[^\s:/@]+@/i,
]

const looksLikeCredential = (text: string): boolean => CREDENTIALS.some((pattern) => pattern.test(text))

export async function sendFeedback({ client, options }: Scope, message: FeedbackMessage): Promise<{ id: string }> {
  const { summary, wanted, category = 'missing_capability', context = {}, route, requestId } = message
  const details = [wanted, ...Object.entries(context).map(([name, text]) => `${name}: ${text}`)].join('\n')
  if (looksLikeCredential(`${summary}\n${details}`))
    throw new ValidationError(
      {
        code: 'feedback_contains_secret',
        message: 'the feedback looks as if it contained a secret, and was not sent',
        hint: 'Remove it and send the rest.',
      },
      422,
    )
  const body = {
    category,
    summary,
    details,
    ...(route !== undefined && { route }),
    ...(requestId !== undefined && { requestId }),
  }
  return { id: (await client.feedback.send({ body }, options)).feedbackId }
}
