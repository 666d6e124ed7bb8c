import { money, shellLine } from '@strongroom/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { amountProblem, microUnits } from '../../ui/decimal.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'

const WAITS = { '1h': 3600, '24h': 86_400, '7d': 604_800 } as const
type Wait = keyof typeof WAITS
const WAIT_WORDS: Record<Wait, string> = { '1h': 'an hour', '24h': 'a day', '7d': 'a week' }

export function NewFundingForm({ onClose }: { onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [amount, setAmount] = useState('')
  const [asset, setAsset] = useState('')
  const [wait, setWait] = useState<Wait>('24h')
  const fund = useMutation({
    mutationFn: async () =>
      strongroom.billing.fund({
        amount: money(microUnits(amount)),
        ...(asset !== '' && { asset }),
        expiresInSeconds: WAITS[wait],
      }),
    onSuccess: async ({ intentId }) => {
      await navigate({ to: '/billing/funding', search: { intent: intentId }, replace: true })
      await queries.invalidateQueries({ queryKey: ['billing', 'intents'] })
    },
  })
  const flags = [...(asset === '' ? [] : ['--asset', asset]), '--expires', wait]
  return (
    <FormDialog
      title="Pay credit in"
      open
      onClose={onClose}
      action="Ask for an address"
      busy={fund.isPending}
      problem={fund.error}
      disabled={amount === '' || amountProblem(amount) !== undefined}
      cli={shellLine`strongroom billing fund ${amount || 'USD'} ${flags}`}
      onSubmit={() => fund.mutate()}
    >
      <TextField
        label="Amount in US dollars"
        hint="What is aimed at. Whatever arrives is credited, however much it is and whenever it comes."
        inputMode="decimal"
        error={amountProblem(amount)}
        value={amount}
        onChange={({ target }) => setAmount(target.value.trim())}
        required
        autoFocus
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Stablecoin"
          hint="Its symbol; may stay empty where there is one alone."
          placeholder="USDC"
          value={asset}
          onChange={({ target }) => setAsset(target.value.trim().toUpperCase())}
        />
        <SelectField label="Wait for it" value={wait} onChange={({ target }) => setWait(target.value as Wait)}>
          {(Object.keys(WAITS) as Wait[]).map((one) => (
            <option key={one} value={one}>
              {WAIT_WORDS[one]}
            </option>
          ))}
        </SelectField>
      </div>
      <p className="text-ink-2">Nothing is paid by this page: a wallet pays to the address that you get.</p>
    </FormDialog>
  )
}
