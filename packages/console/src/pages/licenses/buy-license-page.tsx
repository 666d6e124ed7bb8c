import { shellLine } from '@strongroom/contract'
import type { Offer } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { BuyForm } from './buy-form.tsx'
import { Price } from './license-words.tsx'
import { offerQuery, offersQuery } from './queries.ts'

const COLUMNS: readonly Column<Offer>[] = [
  {
    id: 'name',
    header: 'Licence',
    cell: ({ licenseId, name }) => (
      <Link to="/licenses/buy" search={(now) => ({ ...now, slug: licenseId })}>
        {name}
      </Link>
    ),
  },
  { id: 'about', header: 'What it is', grows: true, cell: ({ description }) => description },
  { id: 'provider', header: 'Provider', cell: ({ provider }) => provider },
  { id: 'price', header: 'Price', align: 'right', cell: (offer) => <Price of={offer} /> },
]

function Found({ text }: { readonly text: string }) {
  const offers = useQuery(offersQuery(useStrongroom(), text))
  return (
    <Answer of={offers} what="what can be bought">
      {(all) =>
        all.length === 0 ? (
          <Empty title="Nothing found under these words" cli={shellLine`strongroom license search ${text}`}>
            <p>What your organisation may not buy, or what is sold no more, is left out.</p>
          </Empty>
        ) : (
          <Table label="Offers" rows={all} columns={COLUMNS} keyOf={({ licenseId }) => licenseId} />
        )
      }
    </Answer>
  )
}

function Chosen({ slug, quantity }: { readonly slug: string; readonly quantity: number }) {
  const offer = useQuery(offerQuery(useStrongroom(), slug, quantity))
  return (
    <Answer of={offer} what="this offer">
      {(found) => <BuyForm key={found.licenseId} offer={found} />}
    </Answer>
  )
}

const quantityOf = (text: string | undefined): number =>
  Math.min(1000, Math.max(1, Number.parseInt(text ?? '1', 10) || 1))

/** First what is looked for, then what it costs and where it goes. The address keeps both. */
export function BuyLicensePage() {
  const { search = '', slug, quantity } = useSearch({ from: '/licenses/buy' })
  const navigate = useNavigate()
  if (slug !== undefined)
    return (
      <Page
        title="Buy a licence"
        actions={
          <Link to="/licenses/buy" search={search === '' ? {} : { search }} className={buttonClasses()}>
            Another one
          </Link>
        }
      >
        <Chosen slug={slug} quantity={quantityOf(quantity)} />
      </Page>
    )
  return (
    <Page title="Buy a licence">
      <FilterField
        label="Search licences, or type a slug"
        value={search}
        onChange={(text) =>
          void navigate({ to: '/licenses/buy', search: text === '' ? {} : { search: text }, replace: true })
        }
      />
      {search.trim() === '' ? (
        <Empty title="What do you need?" cli="strongroom license search sandbox">
          <p>
            Search by name, or try the{' '}
            <Link to="/licenses/buy" search={{ search: 'sandbox' }}>
              licences of the sandbox
            </Link>
            . Nothing is held before you agree to a price.
          </p>
        </Empty>
      ) : (
        <Found text={search.trim()} />
      )}
    </Page>
  )
}
