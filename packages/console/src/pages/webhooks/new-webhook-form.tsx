import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { EventTypesField, patternsOf, patternsProblem } from './event-types-field.tsx'
import { SigningSecret, useShownOnce } from './signing-secret.tsx'

export function NewWebhookForm({ onClose }: { onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('*')
  const [description, setDescription] = useState('')
  const [isPublic, setPublic] = useState(false)
  const [secret, setSecret] = useShownOnce()
  const [madeId, setMadeId] = useState<string>()
  const done = async (webhookId: string | undefined): Promise<void> => {
    onClose()
    if (webhookId !== undefined) await navigate({ to: '/webhooks/$webhookId', params: { webhookId } })
  }
  const create = useMutation({
    // Answers nothing: the secret is not to stay in the memory of a mutation.
    mutationFn: async () => {
      const { endpoint, signingSecret } = await strongroom.webhooks.create({
        url: url.trim(),
        eventTypes: [...patternsOf(events)],
        signing: isPublic ? 'ed25519' : 'hmac',
        ...(description.trim() !== '' && { description: description.trim() }),
      })
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      setMadeId(endpoint.webhookId)
      if (signingSecret) setSecret(signingSecret.reveal())
      else await done(endpoint.webhookId)
    },
    gcTime: 0,
  })
  if (secret !== undefined)
    return (
      <Dialog title="The endpoint is made" open onClose={() => void done(madeId)} closesBy="buttons">
        <SigningSecret
          secret={secret}
          says={`Every delivery to ${url.trim()} is signed with this secret.`}
          onDone={() => void done(madeId)}
        />
      </Dialog>
    )
  const flags = [
    ...(events.trim() === '*' ? [] : ['--events', patternsOf(events).join(',')]),
    ...(description.trim() === '' ? [] : ['--description', description.trim()]),
    ...(isPublic ? ['--ed25519'] : []),
  ]
  return (
    <FormDialog
      title="New endpoint"
      open
      onClose={onClose}
      action="Create"
      busy={create.isPending}
      problem={create.error}
      disabled={url.trim() === '' || patternsOf(events).length === 0 || patternsProblem(events) !== undefined}
      cli={shellLine`strongroom webhook create ${url.trim() || 'https://hooks.example.com/strongroom'} ${flags}`}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label="Address"
        hint="https, and reachable from the server. It takes POST requests and answers 2xx within 15 seconds."
        type="url"
        placeholder="https://hooks.example.com/strongroom"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
        required
        autoFocus
      />
      <EventTypesField value={events} onChange={setEvents} />
      <TextField
        label="What it is for"
        hint="May stay empty."
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <CheckField
        label="Sign with the key of the organisation"
        hint="ed25519: the receiver needs a public key only, and there is no secret to keep."
        checked={isPublic}
        onChange={({ target }) => setPublic(target.checked)}
      />
      <p className="text-ink-2">It is yours, and hears exactly what you can read at the moment of each delivery.</p>
    </FormDialog>
  )
}
