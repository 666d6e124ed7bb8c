import { shellLine } from '@strongroom/contract'
import type { WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { eventTypesQuery } from './queries.ts'
import { answerText } from './webhook-words.tsx'

const DEFAULT = 'webhook.test'

/** One synthetic event, sent while one waits; how it went is said here. */
export function TestWebhookForm({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: types = [] } = useQuery(eventTypesQuery(strongroom))
  const [eventType, setEventType] = useState(DEFAULT)
  const test = useMutation({
    mutationFn: async () => strongroom.webhooks.test(endpoint.webhookId, { eventType }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhook', endpoint.webhookId] }),
  })
  const last = test.data?.attempts.at(-1)
  const isTaken = test.data?.state === 'delivered'
  return (
    <FormDialog
      title="Send a test"
      open
      onClose={onClose}
      action={test.data ? 'Send another' : 'Send'}
      busy={test.isPending}
      problem={test.error}
      cli={shellLine`strongroom webhook test ${endpoint.webhookId} ${eventType === DEFAULT ? [] : ['--event', eventType]}`}
      onSubmit={() => test.mutate()}
    >
      <p>A synthetic event goes to {endpoint.url} now, signed like every other, also if the endpoint is disabled.</p>
      <SelectField label="Type" value={eventType} onChange={({ target }) => setEventType(target.value)}>
        {(types.length === 0 ? [DEFAULT] : types.map(({ type }) => type)).map((type) => (
          <option key={type}>{type}</option>
        ))}
      </SelectField>
      {test.data && (
        <p role="status" className={isTaken ? 'text-seal' : 'text-danger'}>
          {isTaken ? 'It was taken' : 'It was not taken'}: {last ? answerText(last) : test.data.state}.
        </p>
      )}
    </FormDialog>
  )
}
