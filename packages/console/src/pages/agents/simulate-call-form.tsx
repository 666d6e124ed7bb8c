import { api, callsOf, type Route, shellLine } from '@strongroom/contract'
import type { Agent, Simulation } from '@strongroom/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { vaultsQuery } from '../vaults/queries.ts'

const CALLS = callsOf(api)

/** What agents do most, in words. */
const OFTEN: Readonly<Record<string, string>> = {
  'vaults.environmentFields': 'Read the environment of a vault',
  'items.get': 'Read an item',
  'vaults.list': 'List its vaults',
  'sync.sync': 'Sync its vaults',
  'search.query': 'Search',
  'items.update': 'Change an item',
  'attachments.ticket': 'Download a file',
  'projects.environment': 'Read the environment of a project',
  'billing.readiness': 'Ask whether it could spend',
  'licenses.purchase': 'Buy a licence',
}

type Check = Simulation['checks'][number]
type Texts = Readonly<Record<string, string>>

const QUESTIONS: Readonly<Record<Check['check'], string>> = {
  key: 'Has an API key that works',
  expiry: 'Its time is not over',
  network: 'May come from there',
  permission: 'Has the permission',
  input: 'Is well formed',
  service: 'The service answers it',
}

const RESULTS: Readonly<Record<Check['result'], readonly [Tone, string]>> = {
  passed: ['good', 'yes'],
  refused: ['bad', 'no'],
  not_tried: ['quiet', 'not tried'],
}

const namesIn = (schema: Route['params']): readonly string[] => Object.keys(schema?.properties ?? {})
const requiredIn = (schema: Route['query']): readonly string[] =>
  (schema as { required?: readonly string[] } | undefined)?.required ?? []
const only = (names: readonly string[], given: Texts): Texts =>
  Object.fromEntries(names.map((name) => [name, given[name] ?? '']))

/** Where the next step is taken: another page of the agent, or its form. */
function Next({ agentId, code, onEdit }: { readonly agentId: string; readonly code: string; onEdit(): void }) {
  const to = (page: 'access' | 'keys'): LinkProps => ({ to: `/agents/$agentId/${page}`, params: { agentId } })
  switch (code) {
    case 'agent_expired':
    case 'network_not_allowed':
      return <Button onClick={onEdit}>Edit its limits</Button>
    case 'machine_permission_denied':
    case 'wrapped_key_missing':
    case 'vault_not_found':
      return <Link {...to('access')}>Change what it may do under Access</Link>
    case 'invalid_api_key':
      return <Link {...to('keys')}>Give it another API key under Keys</Link>
    default:
      return null
  }
}

function Verdict({ of: { outcome, status, refusal }, children }: { readonly of: Simulation; children: ReactNode }) {
  if (!refusal)
    return (
      <p className="font-[550]">
        {outcome === 'answered'
          ? `It would be answered with ${status}.`
          : 'Nothing that was tried refuses it; what was not tried may.'}
      </p>
    )
  const { permission } = (refusal.details ?? {}) as { permission?: string }
  return (
    <div className="grid gap-1 border-l-2 border-danger bg-raised px-3 py-2">
      <p>
        It would be refused with {refusal.status} <strong className="text-danger">{refusal.code}</strong>
      </p>
      <p>
        It is told: “{refusal.message}”
        {permission !== undefined && (
          <>
            {' '}
            It lacks <code>{permission}</code>.
          </>
        )}
      </p>
      <p className="text-label text-ink-3">
        <a href={`/docs/errors#${refusal.code}`}>Explain</a>
      </p>
      {children}
    </div>
  )
}

function Checks({ of: { checks } }: { readonly of: Simulation }) {
  return (
    <ul aria-label="Checks" className="grid">
      {checks.map(({ check, result, reason }) => {
        const [tone, word] = RESULTS[result]
        return (
          <li key={check} className="grid grid-cols-[1fr_auto] gap-x-4 border-b border-rule py-1.5">
            <span>{QUESTIONS[check]}</span>
            <Status tone={tone}>{word}</Status>
            {reason !== undefined && <span className="text-label text-ink-3 col-span-2">{reason}</span>}
          </li>
        )
      })}
    </ul>
  )
}

interface PartsMembers {
  readonly names: readonly string[]
  readonly texts: Texts
  readonly vaults: readonly { readonly vaultId: string; readonly name: string }[]
  onChange(name: string, text: string): void
}

function Parts({ names, texts, vaults, onChange }: PartsMembers) {
  return names.map((name) =>
    name === 'vaultId' ? (
      <SelectField
        key={name}
        label="Vault"
        hint={vaults.length === 0 ? 'You see no vault.' : 'Those you see.'}
        value={texts[name]}
        onChange={({ target }) => onChange(name, target.value)}
      >
        {vaults.map((vault) => (
          <option key={vault.vaultId} value={vault.vaultId}>
            {vault.name}
          </option>
        ))}
      </SelectField>
    ) : (
      <TextField
        key={name}
        label={name}
        value={texts[name] ?? ''}
        onChange={({ target }) => onChange(name, target.value.trim())}
        className="font-mono"
        required
      />
    ),
  )
}

function useAsked() {
  const { data: all = [] } = useQuery(vaultsQuery(useStrongroom()))
  const vaults = all.filter(({ status }) => status === 'active')
  const [call, setCall] = useState('vaults.environmentFields')
  const [given, setGiven] = useState<Texts>({})
  const [from, setFrom] = useState('')
  const route = CALLS.get(call)
  const texts = { ...given, vaultId: given.vaultId ?? vaults[0]?.vaultId ?? '' }
  const params = only(namesIn(route?.params), texts)
  const query = only(requiredIn(route?.query), texts)
  return {
    ...{ call, setCall, from, setFrom, vaults, texts, params, query },
    give: (name: string, text: string) => setGiven({ ...given, [name]: text }),
    isComplete: Object.values({ ...params, ...query }).every((text) => text !== ''),
  }
}

function commandOf(agent: Agent, { call, params, query, from, vaults }: ReturnType<typeof useAsked>): string {
  const nameOf = (id: string): string => vaults.find(({ vaultId }) => vaultId === id)?.name ?? id
  const flags = [
    ...Object.entries(params).flatMap(([name, text]) => ['--param', `${name}=${nameOf(text)}`]),
    ...Object.entries(query).flatMap(([name, text]) => ['--query', `${name}=${text}`]),
    ...(from === '' ? [] : ['--from', from]),
  ]
  return shellLine`strongroom agent simulate ${agent.name} ${call} ${flags}`
}

interface FormMembers {
  readonly agent: Agent
  onClose(): void
  onEdit(): void
}

/** What a call of the agent would be answered now, and why. Nothing of it is done, and its key is not needed. */
export function SimulateCallForm({ agent, onClose, onEdit }: FormMembers) {
  const strongroom = useStrongroom()
  const asked = useAsked()
  const { call, params, query, from } = asked
  const simulate = useMutation({
    mutationFn: () => strongroom.agents.simulate(agent.agentId, { call, params, query, ...(from && { from }) }),
  })
  // What was told is of what was asked then.
  const changed = <A extends unknown[]>(change: (...given: A) => void) => {
    return (...given: A): void => {
      simulate.reset()
      change(...given)
    }
  }
  return (
    <FormDialog
      title={`Simulate a call of ${agent.name}`}
      open
      onClose={onClose}
      action="Simulate"
      busy={simulate.isPending}
      problem={simulate.error}
      disabled={!asked.isComplete}
      cli={commandOf(agent, asked)}
      onSubmit={() => simulate.mutate()}
    >
      <p className="text-ink-2">
        What would it be answered now, and why? Nothing is changed, counted or shown of what it would read.
      </p>
      <CallField value={call} onChange={changed(asked.setCall)} />
      <Parts
        names={[...Object.keys(params), ...Object.keys(query)]}
        texts={asked.texts}
        vaults={asked.vaults}
        onChange={changed(asked.give)}
      />
      <TextField
        label="From address"
        hint="Leave it empty where its networks are not to be judged."
        value={from}
        onChange={({ target }) => changed(asked.setFrom)(target.value.trim())}
        className="font-mono"
      />
      <div role="status" className="grid gap-3">
        {simulate.data && (
          <>
            <Verdict of={simulate.data}>
              <Next agentId={agent.agentId} code={simulate.data.refusal?.code ?? ''} onEdit={onEdit} />
            </Verdict>
            <Checks of={simulate.data} />
          </>
        )}
      </div>
    </FormDialog>
  )
}

function CallField({ value, onChange }: { readonly value: string; onChange(call: string): void }) {
  return (
    <SelectField
      label="Call"
      hint={CALLS.get(value)?.summary.replaceAll('`', '')}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <optgroup label="Made often">
        {Object.entries(OFTEN).map(([call, words]) => (
          <option key={call} value={call}>
            {words}
          </option>
        ))}
      </optgroup>
      <optgroup label="Every other, by name">
        {[...CALLS.keys()]
          .filter((call) => OFTEN[call] === undefined)
          .sort()
          .map((call) => (
            <option key={call}>{call}</option>
          ))}
      </optgroup>
    </SelectField>
  )
}
