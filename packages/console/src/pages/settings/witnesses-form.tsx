import { shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { witnessesQuery } from './queries.ts'

export function WitnessesForm({ witnesses, onClose }: { readonly witnesses: readonly string[]; onClose(): void }) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const [text, setText] = useState(witnesses.join('\n'))
  const listed = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const body = { witnesses: listed.map((vkey) => ({ vkey })) }
  const save = useMutation({
    mutationFn: () => client.transparency.setWitnesses({ body }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(witnessesQuery(client))
    },
  })
  return (
    <FormDialog
      title="Witnesses and auditors"
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={listed.join() === witnesses.join()}
      cli={shellLine`echo ${JSON.stringify(body)} | strongroom api PUT /api/v1/platform/directory/witnesses --input -`}
      onSubmit={() => save.mutate()}
    >
      <TextArea
        label="Verifier keys"
        hint="One on each line, as each witness publishes its own: name+hash+key."
        value={text}
        onChange={({ target }) => setText(target.value)}
        spellCheck={false}
        className="font-mono text-code"
      />
    </FormDialog>
  )
}
