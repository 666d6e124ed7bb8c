import { shellLine } from '@strongroom/contract'
import type { RotateVaultKey, Vault } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'

type Reason = NonNullable<RotateVaultKey['reason']>

const REASONS: readonly (readonly [Reason, string])[] = [
  ['scheduled', 'It is time'],
  ['member-removed', 'Somebody left'],
  ['key-compromised', 'A key may be known to others'],
]

interface Members {
  readonly vault: Vault
  readonly holders: number
  /** Only what is still under older keys: a rotation that was cut off goes on. */
  readonly isRest?: boolean
  onClose(): void
}

/** A new key for everybody on the list, and everything encrypted anew under it, in this page. */
export function RotateKeyForm({ vault, holders, isRest = false, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [reason, setReason] = useState<Reason>(vault.rotationDue ? 'member-removed' : 'scheduled')
  const [progress, setProgress] = useState<{ readonly done: number; readonly total: number }>()
  const rotate = useMutation({
    mutationFn: () => {
      const onProgress = (done: number, total: number): void => setProgress({ done, total })
      return isRest
        ? strongroom.vaults.reencrypt(vault.vaultId, { onProgress })
        : strongroom.vaults.rotateKey(vault.vaultId, { reason, onProgress })
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] })
      await queries.invalidateQueries({ queryKey: ['vaults'] })
    },
  })
  const title = isRest ? 'Encrypt the rest anew' : `New key for ${vault.name}`
  if (rotate.data) {
    const { items, fields, attachments } = rotate.data
    return (
      <Dialog title={title} open onClose={onClose}>
        <div className="grid gap-4 p-5">
          <p role="status">
            Done. {fields} {fields === 1 ? 'field' : 'fields'} of {items} {items === 1 ? 'item' : 'items'} and{' '}
            {attachments} {attachments === 1 ? 'file' : 'files'} are under the new key.
          </p>
          <p className="text-ink-2">
            Whoever had the old key may have copied what was under it: change values that they must not know.
          </p>
          <div className="flex justify-end">
            <Button kind="primary" onClick={onClose} autoFocus>
              Close
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <FormDialog
      title={title}
      open
      onClose={() => !rotate.isPending && onClose()}
      action={isRest ? 'Encrypt anew' : 'Rotate the key'}
      busy={rotate.isPending}
      problem={rotate.error}
      cli={shellLine`strongroom vault rotate ${vault.name}`}
      onSubmit={() => rotate.mutate()}
    >
      <p>
        {isRest
          ? 'A rotation was cut off: some values are still under an older key. They are opened here and encrypted under the current one.'
          : `A new key is made here and wrapped for ${holders} ${holders === 1 ? 'holder' : 'holders'}. Then ${vault.itemCount} ${vault.itemCount === 1 ? 'item is' : 'items are'} opened and encrypted anew in this page.`}
      </p>
      {!isRest && (
        <SelectField
          label="Why"
          hint="Said in the log."
          value={reason}
          onChange={(event) => setReason(event.target.value as Reason)}
        >
          {REASONS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </SelectField>
      )}
      {rotate.isPending && (
        <div role="status" className="grid gap-1">
          <span>{progress ? `${progress.done} of ${progress.total} encrypted anew` : 'Wrapping the new key'}</span>
          <progress
            aria-label="Encrypted anew"
            className="h-1.5 w-full accent-ink"
            {...(progress && { value: progress.done, max: Math.max(progress.total, 1) })}
          />
          <span className="text-ink-2">Keep this page open. If it is closed, the rest can be done later.</span>
        </div>
      )}
    </FormDialog>
  )
}
