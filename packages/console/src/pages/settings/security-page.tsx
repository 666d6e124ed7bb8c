import type { ExposedKey } from '@strongroom/sdk'
import { keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { ChangePassphraseForm } from './change-passphrase-form.tsx'
import { ownKeysQuery, sealedKeysQuery } from './queries.ts'
import { RecoveryCodeForm } from './recovery-code-form.tsx'
import { RotateOwnKeyForm } from './rotate-own-key-form.tsx'
import { SETTINGS_TABS } from './settings-tabs.ts'

const COLUMNS: readonly Column<ExposedKey>[] = [
  { id: 'words', header: 'Words', grows: true, cell: ({ keyId }) => <strong>{keyWords(keyId)}</strong> },
  {
    id: 'print',
    header: 'Fingerprint',
    cell: ({ keyId }) => <MonoId id={keyId.slice(keyId.lastIndexOf(':') + 1)} keep={8} />,
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ status }) => (
      <Status tone={status === 'active' ? 'good' : status === 'compromised' ? 'bad' : 'quiet'}>{status}</Status>
    ),
  },
  { id: 'since', header: 'Since', cell: ({ added }) => <When at={added.at} /> },
  {
    id: 'ended',
    header: 'Ended',
    cell: ({ ended }) => (ended ? <When at={ended.at} /> : <span className="text-ink-3">–</span>),
  },
]

export function SecurityPage() {
  const { strongroom, client, person } = useOpenSession()
  const sealed = useQuery(sealedKeysQuery(client))
  const keys = useQuery(ownKeysQuery(strongroom, person.userId))
  const [form, setForm] = useState<'passphrase' | 'recovery' | 'key'>()
  const close = (): void => setForm(undefined)
  return (
    <Page title="Settings" tabs={SETTINGS_TABS}>
      <Section title="Passphrase" actions={<Button onClick={() => setForm('passphrase')}>Change passphrase</Button>}>
        <p className="max-w-3xl text-ink-2">
          It never leaves this browser, not even to sign in. Changing it seals your keys anew and ends every session,
          this one excepted.
        </p>
      </Section>
      <Section title="Recovery" actions={<Button onClick={() => setForm('recovery')}>New recovery code</Button>}>
        <Answer of={sealed} what="your sealed keys">
          {({ hasRecovery, updatedAt }) => (
            <Facts
              of={[
                [
                  'Recovery code',
                  <Status key="code" tone={hasRecovery ? 'good' : 'warn'}>
                    {hasRecovery ? 'there is one' : 'there is none'}
                  </Status>,
                ],
                ['Keys sealed', <When key="at" at={updatedAt} />],
              ]}
            />
          )}
        </Answer>
      </Section>
      <Section title="Your key" actions={<Button onClick={() => setForm('key')}>Rotate my key</Button>}>
        <p className="max-w-3xl text-ink-2">
          It opens your vaults and signs what you change. All keys you ever had are read here from the whole log.
        </p>
      </Section>
      <Answer of={keys} what="your keys">
        {(all) => <Table label="Your keys" rows={all} columns={COLUMNS} keyOf={({ keyId }) => keyId} />}
      </Answer>
      {form === 'passphrase' && <ChangePassphraseForm onClose={close} />}
      {form === 'recovery' && <RecoveryCodeForm onClose={close} />}
      {form === 'key' && <RotateOwnKeyForm onClose={close} />}
    </Page>
  )
}
