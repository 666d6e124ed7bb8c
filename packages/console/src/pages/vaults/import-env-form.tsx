import { shellLine } from '@strongroom/contract'
import { parseDotenv } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { diffOf, isSaved } from './env-diff.ts'
import { EnvText } from './env-text.tsx'

/** The first vault of somebody, made of a .env that is read and encrypted in this page. */
export function ImportEnvForm() {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [name, setName] = useState('dev')
  const save = useMutation({
    gcTime: 0,
    mutationFn: async (): Promise<string> => {
      // Read first: a text that is no .env makes no vault.
      const all = diffOf(parseDotenv(text), [], () => false)
      const lines = all.filter(isSaved)
      const { vaultId } = await strongroom.vaults.create({ name: name.trim() })
      const fields = lines.map(({ name: label, value }) => ({ label, value, isEnvironmentVariable: true }))
      await strongroom.items.create(vaultId, { name: 'env', fields })
      const left = all.filter((line) => !isSaved(line)).map((line) => line.name)
      toast(
        `Imported ${lines.length} of ${all.length} variables${left.length > 0 ? `; left out ${left.join(', ')}` : ''}`,
      )
      return vaultId
    },
    onSuccess: async (vaultId) => {
      await queries.invalidateQueries({ queryKey: ['vaults'] })
      await navigate({ to: '/vaults/$vaultId', params: { vaultId } })
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit} aria-label="Import a .env" className="grid max-w-xl gap-4 px-6 pb-8">
      <EnvText value={text} onChange={setText} />
      <TextField label="Name of the vault" value={name} onChange={(event) => setName(event.target.value)} required />
      {save.error && <ProblemNote error={save.error} />}
      <CopyLine
        label="Copy as CLI"
        text={shellLine`strongroom vault create ${name.trim() || 'NAME'} && strongroom import dotenv .env --vault ${name.trim() || 'NAME'}`}
      />
      <div>
        <Button type="submit" kind="primary" busy={save.isPending} disabled={text.trim() === '' || name.trim() === ''}>
          Encrypt and import
        </Button>
      </div>
    </form>
  )
}
