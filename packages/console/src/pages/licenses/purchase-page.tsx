import { type License, shellLine } from '@strongroom/contract'
import type { Purchase, Termination } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import { moneyText } from '../billing/money.tsx'
import { useNames } from '../vaults/principals.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { LicenseStatus, Price, PURCHASE_WORDS } from './license-words.tsx'
import { LifecycleRail } from './lifecycle-rail.tsx'
import { moneyRefusal } from './money-refusal.ts'
import {
  licensesQuery,
  movementsQuery,
  purchaseQuery,
  terminationIdQuery,
  terminationQuery,
  waitQuery,
} from './queries.ts'
import { railNodes } from './rail-nodes.ts'
import { TerminateLicenseForm } from './terminate-license-form.tsx'

interface Stopped {
  readonly id: string
  readonly failure: NonNullable<Purchase['failure']>
  readonly until: Date | null
  resume(): PromiseLike<unknown>
}

/** Why it has stopped, and the way on where there is one. */
function Failure({ of: { id, failure, until, resume } }: { readonly of: Stopped }) {
  const queries = useQueryClient()
  const go = useMutation({
    mutationFn: async () => {
      await resume()
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['purchase'] })
      await queries.invalidateQueries({ queryKey: ['termination'] })
      await queries.invalidateQueries({ queryKey: ['billing'] })
    },
  })
  return (
    <div role="alert" className="mt-5 grid max-w-3xl gap-2 border-l-2 border-danger bg-raised px-3 py-2">
      <p>
        <strong className="text-danger">{failure.code}</strong> {failure.message}.
      </p>
      {failure.resumable ? (
        <>
          <p>
            It goes on from what the provider and the ledger say of it
            {until && (
              <>
                ; that is possible until <When at={until} />
              </>
            )}
            .
          </p>
          <div>
            <Button kind="primary" busy={go.isPending} onClick={() => go.mutate()}>
              Resume
            </Button>
          </div>
          <CopyLine label="Copy as CLI" text={shellLine`strongroom license resume ${id}`} />
        </>
      ) : (
        <p>Nothing is owed for it. Begin anew if it is still wanted, or ask the operator about {id}.</p>
      )}
      {go.error && <ProblemNote error={go.error} />}
      {go.error && moneyRefusal(go.error) !== undefined && <p>{moneyRefusal(go.error)}</p>}
    </div>
  )
}

function useLife(purchase: Purchase, license: License | undefined, asked: string | undefined) {
  const strongroom = useStrongroom()
  const { data: found } = useQuery({ ...terminationIdQuery(strongroom, license), enabled: needsId(license, asked) })
  const terminationId = asked ?? found ?? undefined
  const { data: termination } = useQuery(terminationQuery(strongroom, terminationId))
  const ids = [purchase.id, ...(terminationId === undefined ? [] : [terminationId])]
  const version = purchase.history.length + (termination?.history.length ?? 0)
  const { data: movements = [] } = useQuery(movementsQuery(strongroom, ids, version))
  return { termination, movements }
}

const needsId = (license: License | undefined, asked: string | undefined): boolean =>
  asked === undefined && license !== undefined && license.status !== 'active'

/** In words what the page waits for; what was bought by somebody else only its buyer can open. */
function Waiting({ purchase, isOwn }: { readonly purchase: Purchase; readonly isOwn: boolean }) {
  const strongroom = useStrongroom()
  const wait = useQuery(waitQuery(strongroom, useQueryClient(), purchase))
  if (wait.error)
    return (
      <div className="mt-5">
        <ProblemNote error={wait.error} onRetry={() => void wait.refetch()} />
      </div>
    )
  if (!wait.isFetching) return null
  return (
    <p role="status" className="mt-5 text-ink-2">
      {purchase.state !== 'awaiting_handoff'
        ? 'It goes on by itself on the server. This page waits with it; you may leave.'
        : isOwn
          ? 'Opening the sealed credential here, encrypting it into the vault, and signing.'
          : 'Its credential is sealed to its buyer, who alone can put it into the vault.'}
    </p>
  )
}

function About({ purchase, license }: { readonly purchase: Purchase; readonly license: License | undefined }) {
  const names = useNames()
  const { data: vaults } = useQuery(vaultsQuery(useStrongroom()))
  const { vault, itemId } = purchase
  const known = vaults?.find(({ vaultId }) => vaultId === vault.vaultId)?.name ?? vault.name
  const name = known ?? (vaults ? 'a vault you do not see' : 'a vault')
  return (
    <Facts
      of={[
        ['Licence', <code key="license">{purchase.license}</code>],
        ['Price', <Price key="price" of={purchase} />],
        ...(purchase.quantity > 1 ? [['Quantity', purchase.quantity] as const] : []),
        ...(license ? [['Bought by', names(license.buyer)] as const] : []),
        [
          'Vault item',
          vault.vaultId !== null && itemId !== null ? (
            <Link key="item" to="/vaults/$vaultId" params={{ vaultId: vault.vaultId }} search={{ item: itemId }}>
              {name}
            </Link>
          ) : (
            `${vault.mode === 'new' ? 'the new vault ' : ''}${name}, once it is handed over`
          ),
        ],
        ...(license?.periodEnd
          ? [
              [
                license.status === 'active' ? 'Renews' : 'Period ends',
                <When key="end" at={license.periodEnd} />,
              ] as const,
            ]
          : []),
        ['Purchase', <MonoId key="id" id={purchase.id} keep={8} />],
        ...(license ? [['Instance', <MonoId key="instance" id={license.licenseInstanceId} keep={8} />] as const] : []),
      ]}
    />
  )
}

function Ended({ termination }: { readonly termination: Termination }) {
  const { refund, effectiveAt, state } = termination
  return (
    <p role="status" className="mt-5">
      {state === 'completed' ? 'It has ended' : 'It is being ended'}
      {effectiveAt && (
        <>
          {' '}
          (<When at={effectiveAt} />)
        </>
      )}
      .{' '}
      {refund === null
        ? 'What is given back is not known yet.'
        : /[1-9]/.test(refund.amount)
          ? `${moneyText(refund)} were given back.`
          : 'Nothing was given back.'}
    </p>
  )
}

function Life({ purchase }: { readonly purchase: Purchase }) {
  const { strongroom, person } = useOpenSession()
  const { termination: asked } = useSearch({ from: '/licenses/purchases/$purchaseId' })
  const { data: licenses } = useQuery(licensesQuery(strongroom))
  const license = licenses?.find(({ purchaseId }) => purchaseId === purchase.id)
  const { termination, movements } = useLife(purchase, license, asked)
  const isOwn = license === undefined || license.buyer === `user:${person.userId}`
  return (
    <>
      <Section title="Lifecycle">
        <LifecycleRail nodes={railNodes({ purchase, license, termination, movements })} />
        <Waiting purchase={purchase} isOwn={isOwn} />
        {purchase.failure && purchase.state !== 'cancelled' && (
          <Failure
            of={{
              id: purchase.id,
              failure: purchase.failure,
              until: purchase.resumableUntil,
              resume: () => purchase.resume(),
            }}
          />
        )}
        {termination?.failure && (
          <Failure
            of={{
              id: termination.id,
              failure: termination.failure,
              until: null,
              resume: () => termination.resume(),
            }}
          />
        )}
        {termination && !termination.failure && <Ended termination={termination} />}
      </Section>
      <Section title="About it">
        <About purchase={purchase} license={license} />
      </Section>
      {license?.status === 'active' && itemRun(license)}
    </>
  )
}

const itemRun = ({ itemId, licenseInstanceId }: License) =>
  itemId === null ? null : (
    <Section title="Use it">
      <div className="max-w-2xl">
        <CopyLine
          label="Its variables for one command"
          text={shellLine`strongroom run --license ${licenseInstanceId} -- COMMAND`}
        />
      </div>
    </Section>
  )

function Terminate({ purchaseId }: { readonly purchaseId: string }) {
  const { data: licenses } = useQuery(licensesQuery(useStrongroom()))
  const [isOpen, setOpen] = useState(false)
  const license = licenses?.find((one) => one.purchaseId === purchaseId)
  if (license?.status !== 'active') return null
  return (
    <>
      <Button onClick={() => setOpen(true)}>End the licence</Button>
      {isOpen && <TerminateLicenseForm license={license} onClose={() => setOpen(false)} />}
    </>
  )
}

function State({ purchase }: { readonly purchase: Purchase }) {
  const { data: licenses } = useQuery(licensesQuery(useStrongroom()))
  const license = licenses?.find(({ purchaseId }) => purchaseId === purchase.id)
  if (license) return <LicenseStatus of={license} />
  const { tone, word } = PURCHASE_WORDS[purchase.state]
  return <Status tone={tone}>{word}</Status>
}

/** One purchase and what became of it. While it is under way the page waits with it, and takes it into its vault. */
export function PurchasePage() {
  const { purchaseId } = useParams({ from: '/licenses/purchases/$purchaseId' })
  const purchase = useQuery(purchaseQuery(useStrongroom(), purchaseId))
  return (
    <Page
      title={purchase.data?.name ?? 'Purchase'}
      beside={purchase.data && <State purchase={purchase.data} />}
      actions={<Terminate purchaseId={purchaseId} />}
    >
      <Answer of={purchase} what="this purchase">
        {(found) => <Life purchase={found} />}
      </Answer>
    </Page>
  )
}
