import { shellLine } from '@strongroom/contract'
import type { WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { EventTypesField, patternsOf, patternsProblem } from './event-types-field.tsx'

export function EditWebhookForm({ endpoint, onClose }: { readonly endpoint: WebhookEndpoint; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [url, setUrl] = useState(endpoint.url)
  const [events, setEvents] = useState(endpoint.eventTypes.join(', '))
  const [description, setDescription] = useState(endpoint.description)
  const save = useMutation({
    mutationFn: async () =>
      strongroom.webhooks.update(endpoint.webhookId, {
        url: url.trim(),
        eventTypes: [...patternsOf(events)],
        description: description.trim(),
      }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['webhook', endpoint.webhookId] })
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  const flags = [
    '--url',
    url.trim(),
    '--events',
    patternsOf(events).join(','),
    ...(description === endpoint.description ? [] : ['--description', description.trim()]),
  ]
  return (
    <FormDialog
      title="Change the endpoint"
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={url.trim() === '' || patternsOf(events).length === 0 || patternsProblem(events) !== undefined}
      cli={shellLine`strongroom webhook update ${endpoint.webhookId} ${flags}`}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Address" type="url" value={url} onChange={({ target }) => setUrl(target.value)} required />
      <EventTypesField value={events} onChange={setEvents} />
      <TextField label="What it is for" value={description} onChange={({ target }) => setDescription(target.value)} />
    </FormDialog>
  )
}
