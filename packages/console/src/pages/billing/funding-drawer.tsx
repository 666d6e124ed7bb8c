import { shellLine } from '@strongroom/contract'
import type { FundingIntent } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Circle } from 'lucide-react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/page.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import { FUNDING_WORDS, stepsOf } from './funding-words.ts'
import { MoneyAmount, moneyText } from './money.tsx'
import { QrCode } from './qr-code.tsx'
import { intentQuery } from './queries.ts'

function Progress({ intent }: { readonly intent: FundingIntent }) {
  return (
    <ol aria-label="Progress" aria-live="polite" className="grid grid-cols-2 border-y border-rule sm:grid-cols-4">
      {stepsOf(intent).map(({ name, isDone, says }) => (
        <li key={name} className="grid grid-cols-[16px_1fr] items-start gap-2 py-3 pr-2">
          <span className={`mt-0.5 ${isDone ? 'text-seal' : 'text-ink-3'}`}>
            {isDone ? <Check size={16} aria-label="Done" /> : <Circle size={16} aria-label="Open" />}
          </span>
          <span className="grid">
            <strong>{name}</strong>
            <span className="text-label text-ink-2">{says}</span>
          </span>
        </li>
      ))}
    </ol>
  )
}

const CAN_PAY: ReadonlySet<FundingIntent['status']> = new Set(['requires_payment', 'processing', 'partially_funded'])

function HowToPay({ intent }: { readonly intent: FundingIntent }) {
  const { asset, address, paymentUri, target } = intent
  return (
    <div className="flex flex-wrap items-start gap-5">
      <QrCode text={paymentUri} label={`QR code: pay ${moneyText(target)} in ${asset.symbol}`} />
      <div className="grid min-w-0 flex-1 basis-64 gap-3">
        <CopyLine label={`Pay ${asset.symbol} to this address`} text={address} />
        <CopyLine label="Link for a wallet (EIP-681)" text={paymentUri} />
        <p className="text-label text-ink-3">The address is of this payment alone. What comes late is credited too.</p>
      </div>
    </div>
  )
}

function Deposits({ intent: { deposits, confirmationsRequired } }: { readonly intent: FundingIntent }) {
  if (deposits.length === 0) return null
  return (
    <section aria-label="Payments" className="grid gap-2">
      <h3 className="text-body">Payments</h3>
      <ul>
        {deposits.map(({ txHash, ordinal, state, amount, confirmations, paidAt }) => (
          <li key={`${txHash}-${ordinal}`} className="flex min-h-8 flex-wrap items-center gap-x-4 border-b border-rule">
            <MoneyAmount of={amount} />
            <span>{state === 'seen' ? `${confirmations} of ${confirmationsRequired} confirmations` : state}</span>
            <When at={paidAt} />
            <MonoId id={txHash} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Cancel({ intent: { intentId } }: { readonly intent: FundingIntent }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: async () => strongroom.billing.cancelIntent(intentId),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['billing', 'intents'] }),
  })
  return (
    <div className="grid justify-items-start gap-2">
      <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
        Stop waiting for it
      </Button>
      {cancel.error && <ProblemNote error={cancel.error} />}
    </div>
  )
}

function About({ intent }: { readonly intent: FundingIntent }) {
  const { status, exceptions, asset, network, expiresAt, createdAt, intentId } = intent
  const { word, tone } = FUNDING_WORDS[status]
  return (
    <div className="grid gap-5 p-5">
      <Progress intent={intent} />
      {CAN_PAY.has(status) && <HowToPay intent={intent} />}
      <Facts
        of={[
          [
            'State',
            <Status
              key="state"
              tone={tone}
            >{`${word}${exceptions.length > 0 ? ` (${exceptions.join(', ').replaceAll('_', ' ')})` : ''}`}</Status>,
          ],
          [
            'Token',
            <span key="token">
              {asset.symbol} <MonoId id={asset.contract} /> on {network}
            </span>,
          ],
          ['Waits until', <When key="until" at={expiresAt} />],
          ['Asked for', <When key="asked" at={createdAt} />],
          ['Id', <MonoId key="id" id={intentId} keep={8} />],
        ]}
      />
      <Deposits intent={intent} />
      <CopyLine label="Copy as CLI" text={shellLine`strongroom billing intent ${intentId} --wait`} />
      {status === 'requires_payment' && <Cancel intent={intent} />}
    </div>
  )
}

/** One payment that is waited for; looked at again every other second while something may still come of it. */
export function FundingDrawer({ intentId, onClose }: { readonly intentId: string; onClose(): void }) {
  const intent = useQuery(intentQuery(useStrongroom(), intentId))
  return (
    <Drawer title={intent.data ? `Pay in ${moneyText(intent.data.target)}` : 'Pay in'} open onClose={onClose}>
      <Answer of={intent} what="this payment">
        {(found) => <About intent={found} />}
      </Answer>
    </Drawer>
  )
}
