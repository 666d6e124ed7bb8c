import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { useRowKeys } from '../../ui/row-keys.ts'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { useSubjectNames } from '../activity/subjects.tsx'
import { NeedActions } from './need-actions.tsx'
import { NeedForm } from './need-form.tsx'
import { needWords } from './need-words.ts'
import { type Need, needsQuery } from './queries.ts'
import { RotateAllForm } from './rotate-all-form.tsx'

interface RowMembers {
  readonly need: Need
  readonly names: Names
  onAsk(need: Need): void
}

function NeedRow({ need, names, onAsk }: RowMembers) {
  const { tone, word, words, effect, link, since } = needWords(need, names)
  return (
    <li className="grid grid-cols-[132px_minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-b max-md:gap-y-2 border-rule px-6 py-2 focus-within:bg-raised max-md:grid-cols-[1fr_auto]">
      <Status tone={tone}>{word}</Status>
      <div className="min-w-0 max-md:order-1 max-md:col-span-2">
        <Link {...link} data-row className="font-[550]">
          {words}
        </Link>
        <p className="text-ink-2">{effect}</p>
      </div>
      <div className="flex flex-wrap items-center justify-end gap-2 max-md:contents">
        <span className="text-label text-ink-3 max-md:text-right">{since === null ? '' : <When at={since} />}</span>
        <span className="flex flex-wrap items-center gap-1 max-md:order-2 max-md:col-span-2">
          <NeedActions need={need} names={names} onAsk={onAsk} />
        </span>
      </div>
    </li>
  )
}

const Key = ({ of }: { readonly of: string }) => (
  <kbd className="rounded-control border border-rule bg-surface px-1.5 py-px">{of}</kbd>
)

/** Presses what the row offers, if it offers that. */
const press =
  (what: string) =>
  (row: HTMLElement | undefined): void =>
    row?.closest('li')?.querySelector<HTMLElement>(`[data-${what}]`)?.click()

const WAIT_MS = 60_000

const dueVaults = (needs: readonly Need[]): readonly Vault[] =>
  needs.flatMap((need) => (need.kind === 'vault key' && need.vault.role === 'ADMIN' ? [need.vault] : []))

/** Everything that waits for a person, with what can be done about it beside it. */
export function ApprovalsPage() {
  const { strongroom, client } = useOpenSession()
  const names = useSubjectNames()
  // Whoever is here waits for it; elsewhere it is a number at the side.
  const needs = useQuery({ ...needsQuery(strongroom, client), refetchInterval: WAIT_MS, refetchOnMount: 'always' })
  const [asked, setAsked] = useState<Need>()
  const [rotated, setRotated] = useState<readonly Vault[]>()
  useRowKeys({ a: press('accept'), d: press('decline'), o: (row) => row?.click() })
  const due = dueVaults(needs.data ?? [])
  return (
    <Page
      title="Approvals"
      actions={due.length > 1 && <Button onClick={() => setRotated(due)}>Rotate {due.length} vault keys</Button>}
    >
      <Answer of={needs} what="what waits">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing waits for you" cli="strongroom agent pending">
              <p>Agents that need something will ask here. So do people who join, and keys that are due.</p>
            </Empty>
          ) : (
            <>
              <p className="border-b border-rule px-6 py-2 text-ink-2">
                {all.length === 1 ? 'One thing waits' : `${all.length} things wait`} for somebody to decide.
                <span className="max-md:hidden">
                  {' '}
                  <Key of="j" /> <Key of="k" /> move, <Key of="a" /> accepts, <Key of="d" /> declines, <Key of="o" />{' '}
                  opens.
                </span>
              </p>
              <ul aria-label="What waits">
                {all.map((need) => (
                  <NeedRow key={need.id} need={need} names={names} onAsk={setAsked} />
                ))}
              </ul>
            </>
          )
        }
      </Answer>
      {asked && <NeedForm need={asked} names={names} onClose={() => setAsked(undefined)} />}
      {rotated && <RotateAllForm vaults={rotated} onClose={() => setRotated(undefined)} />}
    </Page>
  )
}
