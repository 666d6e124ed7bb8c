import { createClient } from '@strongroom/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemNote, Skeleton } from '../../ui/states.tsx'
import { meQuery, type Operator, statsOf } from './queries.ts'
import { SystemStats } from './system-stats.tsx'

/** The server itself is for its operator, whose key is nobody's in particular. It is kept in the memory of this page alone. */
function OperatorKey({ onOpen }: { onOpen(operator: Operator): void }) {
  const [apiKey, setApiKey] = useState('')
  const open = useMutation({
    mutationFn: async (): Promise<Operator> => {
      const operator = { client: createClient({ baseUrl: location.origin, apiKey: apiKey.trim() }) }
      await statsOf(operator)
      return operator
    },
    onSuccess: onOpen,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    open.mutate()
  }
  return (
    <form onSubmit={submit} className="grid max-w-xl gap-4 px-6 pb-8">
      <TextField
        label="Key of the operator"
        hint="Stays in the memory of this page, until it is locked or left."
        type="password"
        value={apiKey}
        onChange={({ target }) => setApiKey(target.value)}
        required
      />
      {open.error && <ProblemNote error={open.error} />}
      <div>
        <Button type="submit" busy={open.isPending} disabled={apiKey.trim() === ''}>
          Open with it
        </Button>
      </div>
      <CopyLine label="On the host of the server" text="strongroom admin global-admin-key create" />
    </form>
  )
}

export function SystemPage() {
  const { client } = useOpenSession()
  const me = useQuery(meQuery(client))
  const [operator, setOperator] = useState<Operator>()
  const allowed = operator ?? (me.data?.globalAdmin ? { client } : undefined)
  return (
    <Page title="System">
      {me.isPending ? (
        <Skeleton />
      ) : allowed ? (
        <SystemStats operator={allowed} />
      ) : (
        <>
          <div className="grid max-w-xl gap-2 px-6 py-8">
            <h2 className="text-dialog">You cannot see the server itself</h2>
            <p className="text-ink-2">
              It is for whoever runs it: no role of an organisation includes it. A key of the operator opens it here.
            </p>
          </div>
          <OperatorKey onOpen={setOperator} />
        </>
      )}
    </Page>
  )
}
