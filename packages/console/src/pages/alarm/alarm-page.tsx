import type { VerificationError } from '@strongroom/sdk'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { download } from '../../ui/download.ts'
import { Facts } from '../../ui/page.tsx'

/** Replaces every page when an answer did not verify. There is nothing to dismiss: what the server said is not to be believed. */
export function AlarmPage({ alarm }: { readonly alarm: VerificationError }) {
  useEffect(() => {
    document.title = 'Not verified · Strongroom'
  }, [])
  const save = (): void => download(`strongroom-evidence-${alarm.code}.json`, alarm.evidence, 'application/json')
  const details = Object.entries(alarm.details).map(([name, value]) => [name, String(value)] as const)
  const [at] = useState(() => new Date())
  return (
    <main id="page" className="mx-auto grid max-w-2xl gap-5 px-6 py-[10vh]">
      <div role="alert" className="grid gap-2 border-l-2 border-danger pl-4">
        <h1 className="text-title text-danger">The server gave an answer that does not verify</h1>
        <p>
          <strong>{alarm.code}</strong> {alarm.message}
        </p>
      </div>
      <p className="text-ink-2">
        Nothing of that answer was decrypted or shown, and this browser still trusts what it trusted before. It may be
        an attack, a restored backup or a fault. Do not enter your passphrase here again until somebody has looked into
        it.
      </p>
      {alarm.hint !== undefined && <p>{alarm.hint}</p>}
      <Facts of={[['Stage', alarm.stage], ['When', at.toLocaleString()], ...details]} />
      {alarm.evidence !== '' && (
        <div className="flex flex-wrap gap-2">
          <Button kind="primary" onClick={save}>
            Save the evidence
          </Button>
        </div>
      )}
      <p className="text-ink-2">
        The file holds no key and no value. Another browser checks it under Transparency, Evidence; a machine of yours
        tells with <code>strongroom verify</code> whether it sees the same.{' '}
        <a href={`/docs/errors#${alarm.code}`}>What {alarm.code} means</a>
      </p>
    </main>
  )
}
