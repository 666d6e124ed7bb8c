import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { idleMinutes, setIdleMinutes } from '../../session/idle.ts'
import { useOpenSession } from '../../session/session.ts'
import { areSingleKeysOn, setSingleKeys } from '../../shell/shortcuts.ts'
import { setTheme, type Theme, useTheme } from '../../shell/theme.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { About } from './about.tsx'
import { headQuery, witnessesQuery } from './queries.ts'
import { SETTINGS_TABS } from './settings-tabs.ts'
import { WitnessesForm } from './witnesses-form.tsx'

const IDLE = [1, 5, 10, 20, 30, 60] as const

function Appearance() {
  const theme = useTheme()
  const [single, setSingle] = useState(areSingleKeysOn)
  const [idle, setIdle] = useState(idleMinutes)
  return (
    <Section title="Appearance and keys">
      <div className="grid max-w-md gap-4">
        <SelectField
          label="Theme"
          hint="Kept in this browser."
          value={theme}
          onChange={({ target }) => setTheme(target.value as Theme)}
        >
          <option value="system">As the system has it</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </SelectField>
        <CheckField
          label="Single-key shortcuts"
          hint="Such as g v for vaults and / for the filter. Turn them off if you speak to your computer."
          checked={single}
          onChange={({ target }) => {
            setSingleKeys(target.checked)
            setSingle(target.checked)
          }}
        />
        <SelectField
          label="Lock when nobody is there for"
          hint="This page then forgets your keys; your passphrase opens it again."
          value={String(idle)}
          onChange={({ target }) => {
            setIdleMinutes(Number(target.value))
            setIdle(Number(target.value))
          }}
        >
          {IDLE.map((minutes) => (
            <option key={minutes} value={minutes}>
              {minutes === 1 ? '1 minute' : `${minutes} minutes`}
            </option>
          ))}
        </SelectField>
      </div>
    </Section>
  )
}

function Organisation() {
  const { strongroom, person } = useOpenSession()
  const head = useQuery(headQuery(strongroom))
  return (
    <Section
      title="Organisation"
      actions={
        head.data && (
          <Seal root={head.data.rootHash} says={`Verified here: a log of ${head.data.treeSize} entries`} size={20} />
        )
      }
    >
      <div className="grid max-w-3xl gap-4">
        <Answer of={head} what="the log">
          {({ origin, treeSize, timestamp }) => (
            <Facts
              of={[
                ['Id', <MonoId key="id" id={person.orgId} keep={12} />],
                ['Log', origin],
                ['Entries', treeSize],
                ['Last change', <When key="at" at={timestamp} />],
              ]}
            />
          )}
        </Answer>
        <CopyLine
          label="Trust anchor: pins this organisation and its log for whoever is given it"
          text={person.trustAnchor}
        />
      </div>
    </Section>
  )
}

function Witnesses() {
  const { client } = useOpenSession()
  const witnesses = useQuery(witnessesQuery(client))
  const [isChanging, setChanging] = useState(false)
  return (
    <Section
      title="Witnesses"
      actions={witnesses.data && <Button onClick={() => setChanging(true)}>Change the list</Button>}
    >
      <p className="mb-3 max-w-3xl text-ink-2">
        Their signatures are carried by the log. Whom clients believe, and how many of them, is in their trust anchor
        and not here.
      </p>
      <Answer of={witnesses} what="the list of witnesses">
        {(all) =>
          all.length === 0 ? (
            <p>
              None.{' '}
              <a href="/docs/how-to/witness-and-auditor" className="underline">
                How to run one
              </a>
            </p>
          ) : (
            <ul className="grid gap-1">
              {all.map(({ vkey }) => (
                <li key={vkey}>
                  <code className="break-all">{vkey}</code>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {isChanging && witnesses.data && (
        <WitnessesForm witnesses={witnesses.data.map(({ vkey }) => vkey)} onClose={() => setChanging(false)} />
      )}
    </Section>
  )
}

function Provisioner() {
  const { strongroom } = useOpenSession()
  const enable = useMutation({ mutationFn: () => strongroom.licenses.enable() })
  return (
    <Section title="Licences of this server">
      <div className="grid max-w-3xl gap-3">
        <p className="text-ink-2">
          What is bought is handed over sealed, and only by whom the policy of the organisation names. Directory
          administrators name the provisioning key of this server once.
        </p>
        {enable.error && <ProblemNote error={enable.error} />}
        {enable.data && (
          <p role="status">
            {enable.data.isNew ? 'The policy names it now: ' : 'The policy names it already: '}
            <MonoId id={enable.data.provisioner} keep={14} />
          </p>
        )}
        <div>
          <Button busy={enable.isPending} onClick={() => enable.mutate()}>
            Take hand-offs of this server
          </Button>
        </div>
        <CopyLine label="Copy as CLI" text="strongroom license enable" />
      </div>
    </Section>
  )
}

export function SettingsPage() {
  return (
    <Page title="Settings" tabs={SETTINGS_TABS}>
      <Appearance />
      <Organisation />
      <Witnesses />
      <Provisioner />
      <About />
    </Page>
  )
}
