import { shellLine } from '@strongroom/contract'
import type { Secret, Strongroom } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton, CopyLine } from '../../ui/copy.tsx'
import { Reveal } from '../../ui/reveal.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { type DraftField, emptyField, FieldInputs, fieldProblem, labelProblem, newFieldOf } from './field-inputs.tsx'
import type { ShownItem } from './queries.ts'

type Field = ShownItem['fields'][number]

/** Asks for one value, and forgets the others that came with the item. */
async function openField(strongroom: Strongroom, item: ShownItem, fieldId: string): Promise<Secret> {
  const { fields } = await strongroom.items.get(item.vaultId, item.itemId)
  const wanted = fields.find((field) => field.fieldId === fieldId)
  for (const { secret } of fields) if (secret !== wanted?.secret && Symbol.dispose in secret) secret[Symbol.dispose]()
  if (!wanted) throw new Error('this field was removed meanwhile')
  return wanted.secret
}

function useItemChange(item: ShownItem, onDone: () => void) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  return useMutation({
    gcTime: 0,
    mutationFn: async (change: Parameters<Strongroom['items']['update']>[2]): Promise<void> => {
      await strongroom.items.update(item.vaultId, item.itemId, change)
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', item.vaultId] })
      onDone()
    },
  })
}

interface EditMembers {
  readonly vaultName: string
  readonly item: ShownItem
  readonly field?: Field
  onDone(): void
}

/** A field, or a new one, in place. */
function FieldEditor({ vaultName, item, field, onDone }: EditMembers) {
  const [draft, setDraft] = useState<DraftField>(field ? { ...field, value: '' } : emptyField)
  const change = useItemChange(item, onDone)
  const label = draft.label.trim()
  const changes = field && {
    ...(label !== field.label && { label }),
    ...(draft.isEnvironmentVariable !== field.isEnvironmentVariable && {
      isEnvironmentVariable: draft.isEnvironmentVariable,
    }),
    ...(draft.value !== '' && { value: draft.value }),
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!field) change.mutate({ add: [newFieldOf(draft)] })
    else if (changes && Object.keys(changes).length > 0)
      change.mutate({ edit: [{ fieldId: field.fieldId, ...changes }] })
    else onDone()
  }
  const isReady = field ? label !== '' && labelProblem(draft) === undefined : fieldProblem(draft) === undefined
  const cli = shellLine`strongroom set ${`${vaultName}/${item.name}/${field?.label ?? (label || 'FIELD')}`} ${draft.isEnvironmentVariable ? [] : ['--no-env']}`
  return (
    <form
      onSubmit={submit}
      aria-label={field ? `Edit ${field.label}` : 'New field'}
      className="grid gap-3 border-b border-rule bg-raised px-6 py-4"
    >
      <FieldInputs value={draft} onChange={setDraft} isThere={field !== undefined} autoFocus />
      {change.error && <ProblemNote error={change.error} />}
      <CopyLine label="Copy as CLI" text={cli} />
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={change.isPending} disabled={!isReady}>
          Encrypt and save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  )
}

interface RowMembers {
  readonly vaultName: string
  readonly item: ShownItem
  readonly field: Field
  readonly canWrite: boolean
  onEdit(): void
}

function FieldRow({ vaultName, item, field, canWrite, onEdit }: RowMembers) {
  const strongroom = useStrongroom()
  const { fieldId, label, isEnvironmentVariable, version, ref } = field
  const [isAsking, setAsking] = useState(false)
  const remove = useItemChange(item, () => toast(`Removed ${label}`))
  return (
    <li className="grid gap-1 border-b border-rule px-6 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <code className="min-w-0 break-all">{label}</code>
        <span className="text-label text-ink-3">
          {isEnvironmentVariable ? 'environment' : 'not exported'} · version {version}
        </span>
        <span className="ml-auto flex items-center gap-0.5">
          <CopyButton text={ref} label={`Copy the reference of ${label}`} />
          {canWrite && (
            <>
              <IconButton label={`Edit ${label}`} isSmall onClick={onEdit}>
                <Pencil size={14} strokeWidth={1.5} />
              </IconButton>
              <IconButton label={`Remove ${label}`} isSmall onClick={() => setAsking(true)}>
                <Trash2 size={14} strokeWidth={1.5} />
              </IconButton>
            </>
          )}
        </span>
      </div>
      <div>
        <Reveal label={label} open={() => openField(strongroom, item, fieldId)} />
      </div>
      {isAsking && (
        <div role="alertdialog" aria-label={`Remove ${label}`} className="flex flex-wrap items-center gap-2">
          <span>Its value stays in the earlier versions of the item.</span>
          <Button kind="danger" autoFocus busy={remove.isPending} onClick={() => remove.mutate({ remove: [fieldId] })}>
            Remove {label}
          </Button>
          <Button onClick={() => setAsking(false)}>Keep it</Button>
          <div className="w-full">
            <CopyLine label="Copy as CLI" text={shellLine`strongroom rm ${`${vaultName}/${item.name}/${label}`}`} />
          </div>
        </div>
      )}
      {remove.error && <ProblemNote error={remove.error} />}
    </li>
  )
}

interface Members {
  readonly vaultName: string
  readonly item: ShownItem
  readonly canWrite: boolean
  /** The field that is being edited; `new` for one more. */
  readonly editing: string | undefined
  onEditing(next: string | undefined): void
}

export function ItemFields({ vaultName, item, canWrite, editing, onEditing }: Members) {
  const done = (): void => onEditing(undefined)
  return (
    <section aria-label="Fields">
      <div className="flex items-center justify-between border-b border-rule px-6 pt-4 pb-2">
        <h3 className="text-dialog">Fields</h3>
        {canWrite && <Button onClick={() => onEditing('new')}>Add a field</Button>}
      </div>
      {editing === 'new' && <FieldEditor vaultName={vaultName} item={item} onDone={done} />}
      <ul>
        {item.fields.map((field) =>
          editing === field.fieldId ? (
            <li key={field.fieldId}>
              <FieldEditor vaultName={vaultName} item={item} field={field} onDone={done} />
            </li>
          ) : (
            <FieldRow
              key={field.fieldId}
              vaultName={vaultName}
              item={item}
              field={field}
              canWrite={canWrite}
              onEdit={() => onEditing(field.fieldId)}
            />
          ),
        )}
      </ul>
      {item.fields.length === 0 && editing !== 'new' && <p className="px-6 py-3 text-ink-2">No fields yet.</p>}
    </section>
  )
}
