import { useQuery } from '@tanstack/react-query'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { buildQuery, type ServedBuild } from './build.ts'

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

/** Which build this is, how to check it, and what cannot be checked from within. */
export function About() {
  const build = useQuery(buildQuery)
  return (
    <Section title="About">
      <div className="grid max-w-3xl gap-3">
        <Answer of={build} what="the list of this console’s files">
          {(served) => <Build {...served} />}
        </Answer>
        <CopyLine
          label="Check it from outside, with the list that the command line was built with"
          text={`strongroom verify-console ${location.origin}`}
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
