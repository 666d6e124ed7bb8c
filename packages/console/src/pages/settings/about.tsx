import { shellLine } from '@strongroom/contract'
import type { NamedConsole } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useOpenSession } from '../../session/session.ts'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { buildQuery, type ServedBuild } from './build.ts'
import { namedConsoleQuery } from './queries.ts'

function Build({ build, files, isThisPage }: ServedBuild) {
  return (
    <>
      <Facts
        of={[
          ['This console', isThisPage ? <MonoId key="build" id={build} keep={12} /> : 'of another build'],
          ...(isThisPage ? [] : ([['The server has', <MonoId key="served" id={build} keep={12} />]] as const)),
          ['Files', files],
        ]}
      />
      {!isThisPage && (
        <p role="status" className="text-warn">
          The scripts of this page are not those that the server lists now. After an update, load the page anew; if that
          changes nothing, type no passphrase here and ask whoever runs the server.
        </p>
      )}
    </>
  )
}

const command = (flag: string): string => shellLine`strongroom verify-console ${location.origin} ${flag}`

function ByLog({ named, served }: { readonly named: NamedConsole | null; readonly served: ServedBuild }) {
  if (!named)
    return (
      <>
        <p>The log names no console: nobody of this organisation has signed for one.</p>
        <CopyLine label="An administrator compares every file and signs for this build" text={command('--record')} />
      </>
    )
  const entry = (
    <Link to="/transparency" search={{ entry: String(named.entry) }}>
      Entry {named.entry.toLocaleString('en')} of the log
    </Link>
  )
  if (named.build === served.build)
    return (
      <>
        <p>
          {entry} names {served.isThisPage ? 'this build' : 'the build that the server has'}.
        </p>
        <CopyLine label="Hold every file against the log, from outside" text={command('--log')} />
      </>
    )
  return (
    <>
      <Facts of={[['The log names', <MonoId key="named" id={named.build} keep={12} />]]} />
      <p role="status" className="text-warn">
        {entry} names another build. After an upgrade an administrator signs for the new one; if there was none, type no
        passphrase here and ask whoever runs the server.
      </p>
      <CopyLine label="An administrator compares every file and signs for this build" text={command('--record')} />
    </>
  )
}

/** Which build this is, how to check it, and what cannot be checked from within. */
export function About() {
  const { strongroom } = useOpenSession()
  const build = useQuery(buildQuery)
  const named = useQuery(namedConsoleQuery(strongroom))
  return (
    <Section title="About">
      <div className="grid max-w-3xl gap-3">
        <Answer of={build} what="the list of this console’s files">
          {(served) => (
            <>
              <Build {...served} />
              <Answer of={named} what="the policy of the organisation" loading={<Skeleton rows={2} />}>
                {(console) => <ByLog named={console} served={served} />}
              </Answer>
            </>
          )}
        </Answer>
        <CopyLine
          label="Check it from outside, with the list that the command line was built with"
          text={shellLine`strongroom verify-console ${location.origin}`}
        />
        <p className="text-ink-2">
          End-to-end encryption in a browser trusts the JavaScript that the server sends, at every load, and a page
          cannot vouch for itself. The command line and the SDK are installed once and do not come from here: whoever
          cannot accept that trust uses them.{' '}
          <a href="/docs/explanation/limits" className="underline">
            Read why.
          </a>
        </p>
      </div>
    </Section>
  )
}
