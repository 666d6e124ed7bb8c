import { shellLine } from '@strongroom/contract'
import type { ItemSummary } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import { type EnvLine, type EnvState, isSaved } from './env-diff.ts'
import { EnvText } from './env-text.tsx'
import { compareEnv, saveEnv } from './save-env.ts'

const TONES: Record<EnvState, Tone> = {
  new: 'good',
  changed: 'warn',
  same: 'quiet',
  'in several items': 'bad',
  'no value': 'quiet',
  'refused name': 'bad',
}

const ORDER: readonly EnvState[] = ['new', 'changed', 'same', 'in several items', 'refused name', 'no value']

const placeOf = ({ state, items }: EnvLine, into: string): string => {
  if (state === 'new') return `into ${into}`
  if (state === 'refused name') return 'left out: it changes how programs run'
  if (state === 'no value') return 'left out'
  const names = items.map(({ name }) => name).join(', ')
  return state === 'in several items' ? `left out: ${names}` : `in ${names}`
}

/** Names and what would become of them; no value of either side is shown. */
function DiffTable({ lines, into }: { readonly lines: readonly EnvLine[]; readonly into: string }) {
  const sorted = [...lines].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  return (
    <section
      aria-label="What changes"
      className="max-h-72 overflow-auto rounded-control border border-rule"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
    >
      <table aria-label="Variables" className="w-full border-collapse">
        <thead className="sr-only">
          <tr>
            <th scope="col">Variable</th>
            <th scope="col">State</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((line) => (
            <tr key={line.name} className="border-b border-rule last:border-b-0">
              <th scope="row" className="px-2.5 py-1 text-left font-mono text-code font-normal whitespace-nowrap">
                {line.name}
              </th>
              <td className="px-2.5 py-1">
                <Status tone={TONES[line.state]}>{line.state}</Status>
              </td>
              <td className="px-2.5 py-1 text-ink-2">{placeOf(line, into)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const countsOf = (lines: readonly EnvLine[]): string =>
  ORDER.flatMap((state) => {
    const count = lines.filter((line) => line.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  }).join(' · ')

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly items: readonly ItemSummary[]
  onClose(): void
}

/** Many variables at once: compared first, saved once. */
export function PasteEnvForm({ vault: { vaultId, name }, items, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [text, setText] = useState('')
  const [into, setInto] = useState('env')
  const [progress, setProgress] = useState<string>()
  const compare = useMutation({ mutationFn: () => compareEnv(strongroom, vaultId, items, text), gcTime: 0 })
  const lines = compare.data
  const save = useMutation({
    mutationFn: () =>
      saveEnv(strongroom, lines ?? [], {
        vaultId,
        into: items.find((item) => item.name === into.trim()) ?? into.trim(),
        onProgress: (done, total) => setProgress(`${done} of ${total} items`),
      }),
    onSuccess: (count) => {
      toast(`Saved ${count} ${count === 1 ? 'variable' : 'variables'} in ${name}`)
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['vault', vaultId] }),
  })
  const wanted = lines?.filter(isSaved).length ?? 0
  const isMaking = lines?.some(({ state }) => state === 'new') ?? false
  return (
    <FormDialog
      title="Paste a .env"
      open
      onClose={onClose}
      action={lines ? `Save ${wanted} ${wanted === 1 ? 'variable' : 'variables'}` : 'Compare'}
      busy={compare.isPending || save.isPending}
      problem={save.error ?? compare.error}
      disabled={lines ? wanted === 0 || (isMaking && into.trim() === '') : text.trim() === ''}
      cli={shellLine`strongroom import dotenv .env --vault ${name}`}
      onSubmit={() => (lines ? save.mutate() : compare.mutate())}
    >
      {lines ? (
        <>
          <p role="status" className="flex items-center justify-between gap-3">
            {countsOf(lines) || 'Nothing in it'}
            <Button kind="quiet" onClick={() => compare.reset()}>
              Back to the text
            </Button>
          </p>
          {lines.length > 0 && <DiffTable lines={lines} into={into.trim()} />}
          {isMaking && (
            <>
              <TextField
                label="Item for new variables"
                hint="One that is there, or the name of a new one."
                list="items-of-the-vault"
                value={into}
                onChange={(event) => setInto(event.target.value)}
                required
              />
              <datalist id="items-of-the-vault">
                {items.slice(0, 200).map(({ itemId, name: known }) => (
                  <option key={itemId} value={known} />
                ))}
              </datalist>
            </>
          )}
          {progress !== undefined && save.isPending && <p role="status">{progress}</p>}
        </>
      ) : (
        <EnvText value={text} onChange={setText} autoFocus />
      )}
    </FormDialog>
  )
}
