import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useOpenSession } from '../../session/session.ts'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { needWords } from '../approvals/need-words.ts'
import { needsQuery } from '../approvals/queries.ts'

const SHOWN = 8

/** The first of what waits; all of it, and what can be done about it, is on the page of approvals. */
export function NeedsYou({ names }: { readonly names: Names }) {
  const { strongroom, client } = useOpenSession()
  const needs = useQuery(needsQuery(strongroom, client))
  return (
    <Answer of={needs} what="what waits" loading={<Skeleton rows={2} />}>
      {(all) =>
        all.length === 0 ? (
          <p className="text-ink-2">Nothing waits for you. What fails, changes hands or runs out stands here.</p>
        ) : (
          <>
            <ul className="border-t border-rule">
              {all.slice(0, SHOWN).map((need) => {
                const { tone, word, words, link, since } = needWords(need, names)
                return (
                  <li
                    key={need.id}
                    className="grid min-h-8 grid-cols-[124px_1fr_auto] items-center gap-x-3 border-b border-rule max-sm:grid-cols-[1fr_auto] max-sm:py-1"
                  >
                    <Status tone={tone}>{word}</Status>
                    <Link {...link} className="min-w-0 sm:truncate max-sm:order-1 max-sm:col-span-2">
                      {words}
                    </Link>
                    <span className="text-label text-ink-3">{since === null ? '' : <When at={since} />}</span>
                  </li>
                )
              })}
            </ul>
            {all.length > SHOWN && (
              <p className="pt-2">
                <Link to="/approvals">And {all.length - SHOWN} more</Link>
              </p>
            )}
          </>
        )
      }
    </Answer>
  )
}
