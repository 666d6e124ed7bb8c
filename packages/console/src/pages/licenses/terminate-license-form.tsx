import { type License, shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { When } from '../../ui/when.tsx'
import { moneyText } from '../billing/money.tsx'
import { refundAt } from './refund.ts'

type Effective = 'immediate' | 'period_end'

/** Said before anything is asked of the provider. */
function GivenBack({ license, effective }: { readonly license: License; readonly effective: Effective }) {
  const refund = effective === 'immediate' ? refundAt(license, new Date()) : undefined
  if (license.term === 'once') return <p>It was bought once and has no period: nothing is given back.</p>
  if (effective === 'period_end')
    return (
      <p>
        It runs until its period ends, <When at={license.periodEnd} />, and is not renewed. Nothing is given back.
      </p>
    )
  if (!refund) return <p>Its period is over: nothing is given back.</p>
  return (
    <p>
      <strong className="text-money">{moneyText(refund.amount)}</strong> of {moneyText(license.price)} are given back:{' '}
      {refund.daysLeft} of {refund.days} days are left. A day that has begun counts as used.
    </p>
  )
}

export function TerminateLicenseForm({ license, onClose }: { readonly license: License; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { licenseInstanceId, purchaseId, licenseId, name, itemId } = license
  const [effective, setEffective] = useState<Effective>('immediate')
  const [reason, setReason] = useState('')
  const terminate = useMutation({
    mutationFn: async () =>
      strongroom.licenses.terminate(licenseInstanceId, {
        effective,
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      }),
    onSuccess: async ({ id }) => {
      onClose()
      await navigate({
        to: '/licenses/purchases/$purchaseId',
        params: { purchaseId },
        search: { termination: id },
        replace: true,
      })
      await queries.invalidateQueries({ queryKey: ['licenses'] })
    },
  })
  const flags = [
    ...(effective === 'period_end' ? ['--at-period-end'] : []),
    ...(reason.trim() === '' ? [] : ['--reason', reason.trim()]),
  ]
  return (
    <ConfirmByName
      title={`End ${name}`}
      name={licenseId}
      open
      onClose={onClose}
      action="End the licence"
      busy={terminate.isPending}
      problem={terminate.error}
      cli={shellLine`strongroom license terminate ${licenseInstanceId} ${flags}`}
      onSubmit={() => terminate.mutate()}
    >
      <GivenBack license={license} effective={effective} />
      <p>
        Whatever uses its credential stops working.
        {itemId !== null && ' The item stays in its vault, and its credential opens nothing any more.'} This cannot be
        undone.
      </p>
      {license.term === 'month' && (
        <SelectField label="When" value={effective} onChange={({ target }) => setEffective(target.value as Effective)}>
          <option value="immediate">now</option>
          <option value="period_end">when its period ends</option>
        </SelectField>
      )}
      <TextField
        label="Reason"
        hint="For the record; may stay empty."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </ConfirmByName>
  )
}
