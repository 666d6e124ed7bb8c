import { money, shellLine } from '@strongroom/contract'
import type { LicenseDestination, Offer } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { problemOf } from '../../queries.ts'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { amountProblem, microUnits } from '../../ui/decimal.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Facts } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { moneyText, typedMoney } from '../billing/money.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { BuyReadiness } from './buy-readiness.tsx'
import { EnableLicenses } from './enable-licenses.tsx'
import { priceText } from './license-words.tsx'
import { moneyRefusal } from './money-refusal.ts'

const NEW = 'new'

function Offered({ offer }: { readonly offer: Offer }) {
  const { description, provider, schema, quantity } = offer
  return (
    <div className="grid gap-3">
      <h2 className="text-dialog">{offer.name}</h2>
      <p className="max-w-2xl">{description}</p>
      <Facts
        of={[
          [
            'Price',
            <strong key="price" className="text-money">
              {priceText(offer)}
            </strong>,
          ],
          ...(quantity > 1 ? [['For', `${quantity} of it`] as const] : []),
          ['Provider', provider],
          [
            'Brings',
            <span key="brings">
              {schema.map(({ label, isEnvironmentVariable }, at) => (
                <span key={label}>
                  {at > 0 && ', '}
                  {isEnvironmentVariable ? <code>{label}</code> : label}
                </span>
              ))}
            </span>,
          ],
          ['Pays', 'the credit of the organisation, within the budgets that apply to you'],
        ]}
      />
    </div>
  )
}

function useBuy(offer: Offer, vault: LicenseDestination | undefined, max: string) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { licenseId, quantity, price } = offer
  const order = JSON.stringify([licenseId, vault, quantity, max || price.amount])
  // One for each order: pressed again after an answer that was lost, it is bought once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another order has another key
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [order])
  return useMutation({
    mutationFn: async () => {
      if (!vault) return undefined
      const maxPrice = max === '' ? money(price.amount) : money(microUnits(max))
      return strongroom.licenses.buy({ license: licenseId, vault, quantity, maxPrice }, { idempotencyKey })
    },
    onSuccess: async (purchase) => {
      if (!purchase) return
      await queries.invalidateQueries({ queryKey: ['billing'] })
      await navigate({ to: '/licenses/purchases/$purchaseId', params: { purchaseId: purchase.id } })
    },
    onError: () => queries.invalidateQueries({ queryKey: ['billing'] }),
  })
}

/** A refusal in numbers where it was one of money; the way out where the organisation has not named the key yet. */
function Refused({ error, onEnabled }: { readonly error: unknown; onEnabled(): void }) {
  if (problemOf(error).code === 'provisioner_not_named') return <EnableLicenses onEnabled={onEnabled} />
  const said = moneyRefusal(error)
  return (
    <div className="grid gap-2">
      <ProblemNote error={error} />
      {said !== undefined && <p>{said}</p>}
    </div>
  )
}

export function BuyForm({ offer }: { readonly offer: Offer }) {
  const navigate = useNavigate()
  const { data: vaults } = useQuery(vaultsQuery(useStrongroom()))
  const [place, setPlace] = useState(NEW)
  const [name, setName] = useState(offer.licenseId)
  const [max, setMax] = useState('')
  const writable = (vaults ?? []).filter(({ status, role }) => status === 'active' && role !== null && role !== 'READ')
  const trimmed = name.trim()
  const vault = place !== NEW ? { existing: place } : trimmed === '' ? undefined : { create: trimmed }
  const buy = useBuy(offer, vault, max)
  const isTooLittle = max !== '' && !amountProblem(max) && BigInt(microUnits(max)) < BigInt(offer.price.amount)
  const vaultName = writable.find(({ vaultId }) => vaultId === place)?.name ?? place
  const target = place === NEW ? `new:${trimmed || 'NAME'}` : vaultName
  const quantity = offer.quantity > 1 ? ['--quantity', String(offer.quantity)] : []
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    buy.mutate()
  }
  return (
    <div className="grid gap-x-10 gap-y-6 px-6 py-5 lg:grid-cols-[minmax(0,640px)_minmax(320px,440px)]">
      <form onSubmit={submit} className="grid max-w-2xl content-start gap-4">
        <Offered offer={offer} />
        <TextField
          label="Quantity"
          type="number"
          min={1}
          max={1000}
          value={offer.quantity}
          onChange={({ target: { value } }) =>
            void navigate({ to: '/licenses/buy', search: (now) => ({ ...now, quantity: value }), replace: true })
          }
          className="max-w-32"
        />
        <SelectField
          label="Where its credential goes"
          hint="Encrypted in this browser. The place of a licence is not changed later."
          value={place}
          onChange={({ target: { value } }) => setPlace(value)}
        >
          <option value={NEW}>a new vault, made with the hand-off</option>
          {writable.map((one) => (
            <option key={one.vaultId} value={one.vaultId}>
              {one.name}
            </option>
          ))}
        </SelectField>
        {place === NEW && (
          <TextField
            label="Name of the new vault"
            value={name}
            onChange={({ target: { value } }) => setName(value)}
            required
          />
        )}
        <TextField
          label="At most, in US dollars"
          hint={`Refused where it costs more by then. Empty: not more than ${moneyText(offer.price)}.`}
          error={amountProblem(max) ?? (isTooLittle ? `It costs ${moneyText(offer.price)} now.` : undefined)}
          inputMode="decimal"
          placeholder={typedMoney(offer.price)}
          value={max}
          onChange={({ target: { value } }) => setMax(value.trim())}
        />
        {buy.error && <Refused error={buy.error} onEnabled={() => buy.reset()} />}
        <div className="flex flex-wrap items-center gap-3">
          <Button
            kind="primary"
            type="submit"
            busy={buy.isPending}
            disabled={!vault || isTooLittle || amountProblem(max) !== undefined}
          >
            Buy for {priceText(offer)}
          </Button>
          <span className="text-label text-ink-3">The price is held first, and taken when it is delivered.</span>
        </div>
        <CopyLine
          label="Copy as CLI"
          text={shellLine`strongroom license buy ${offer.licenseId} --vault ${target} ${quantity} --max ${max || typedMoney(offer.price)}`}
        />
      </form>
      <BuyReadiness offer={offer} />
    </div>
  )
}
