import type { Domain } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { AddDomainForm } from './add-domain-form.tsx'
import { domainsQuery } from './queries.ts'
import { RecordsPart } from './records-part.tsx'

const COLUMNS: readonly Column<Domain>[] = [
  {
    id: 'domain',
    header: 'Domain',
    grows: true,
    sort: ({ domain }) => domain,
    cell: ({ domain }) => (
      <Link to="/domains" search={{ domain }}>
        {domain}
      </Link>
    ),
  },
  {
    id: 'managed',
    header: 'Records',
    cell: ({ managed }) => (
      <Status tone={managed ? 'good' : 'quiet'}>{managed ? 'managed here' : 'kept elsewhere'}</Status>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
]

export function DomainsPage() {
  const { client } = useOpenSession()
  const domains = useQuery(domainsQuery(client))
  const { domain: asked } = useSearch({ from: '/domains' })
  const [isNew, setNew] = useState(false)
  return (
    <Page
      title="Domains"
      actions={
        domains.data && (
          <Button kind="primary" onClick={() => setNew(true)}>
            Add a domain
          </Button>
        )
      }
    >
      <Answer of={domains} what="the domains of the organisation">
        {(all) => {
          const shown =
            asked === undefined
              ? (all.find(({ managed }) => managed) ?? all[0])
              : all.find(({ domain }) => domain === asked)
          return all.length === 0 ? (
            <Empty title="No domain is known here" cli="strongroom domain records example.com">
              <p>
                A domain that is managed here has its DNS records where agents with the permission can read them, and
                nobody but who runs the organisation changes them.
              </p>
              <p>Others can be added too: they are then known to belong to you, and are not managed.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Domains"
                rows={all}
                columns={COLUMNS}
                keyOf={({ domain }) => domain}
                sortedBy={{ id: 'domain' }}
                current={shown?.domain}
              />
              {shown ? (
                <RecordsPart key={shown.domain} domain={shown} />
              ) : (
                <p className="px-6 py-4 text-ink-2">There is no domain {asked}.</p>
              )}
            </>
          )
        }}
      </Answer>
      {isNew && <AddDomainForm onClose={() => setNew(false)} />}
    </Page>
  )
}
