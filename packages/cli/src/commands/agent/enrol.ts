import { shellLine } from '@strongroom/contract'
import type { PendingKey } from '@strongroom/sdk'
import { ensureShowable, shownOnce } from '../../admin/shown-once.ts'
import { type Cli, confirm, serverOf } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { formatEnrolment, readEnrolment } from '../../keys/enrolment.ts'
import { inFours, typedFingerprint } from '../../keys/own-key.ts'
import { arg, command, flag } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { LIMIT_FLAGS } from './limits.ts'
import { dataOf } from './look.ts'
import { planOf, vaultRole } from './plan.ts'

// Agents whose private keys never leave the machine they run on: enrolled by a person, asked for by the agent, signed by the person.

const shapes = () => import('../../schemas/agent.ts')

export const enrol = command({
  summary: 'make an agent whose keys are made where it runs',
  about:
    'Prints an enrolment: one string with an API key that decrypts nothing. On the machine of the agent `strongroom agent request` makes the keys and asks you to sign for them; `strongroom agent endorse` signs and gives it vaults.',
  args: { name: arg.one('name of the agent') },
  flags: {
    permission: flag.many('a machine permission; by default what reading needs', 'NAME'),
    description: flag.text('what it is for, in words', 'TEXT'),
    ...LIMIT_FLAGS,
    out: flag.text('write the enrolment to a file, readable by you alone', 'FILE', { completes: 'file' }),
  },
  examples: [{ run: 'strongroom agent enrol edge-7 --out edge-7.enrolment', does: 'then move the file to edge-7' }],
  next: 'strongroom agent request FILE   on its machine',
  output: async () => (await shapes()).agentEnrolledShape,
  run: async (cli, { args, flags }) => {
    ensureShowable(cli, flags.out)
    const plan = await planOf(cli, args.name, { ...flags, vault: [], kind: undefined })
    const { orgId } = await cli.person()
    const { profile } = await cli.credential()
    const strongroom = await cli.strongroom()
    const { name, description, permissions, limits } = plan
    const enrolled = await strongroom.agents.enrol(
      { name, description, permissions, ...limits },
      { signal: cli.signal },
    )
    const { agent, apiKey, trustAnchor, endorser } = enrolled
    const secret = formatEnrolment({
      server: serverOf(cli) ?? profile?.server ?? '',
      org: orgId,
      agentId: agent.agentId,
      name: agent.name,
      apiKey: apiKey.reveal(),
      trustAnchor,
      endorser,
    })
    const shown = await shownOnce(cli, { name: 'enrolment', secret, out: flags.out })
    cli.say(`${safeText(agent.name)} is enrolled; it has no keys yet, and the enrolment is shown once`)
    return {
      data: { agent: dataOf(agent), endorser, ...shown },
      text: 'enrolment' in shown ? shown.enrolment : shown.file,
      next: 'strongroom agent request FILE   on its machine',
    }
  },
})

export const request = command({
  summary: 'on its machine: make its keys, ask for a signature',
  args: { file: arg.one('the enrolment, - for standard input', { completes: 'file' }) },
  flags: {
    out: flag.text('keep the bundle in this file instead of a profile', 'FILE', { completes: 'file' }),
    'passphrase-file': flag.text('passphrase for the keys of this machine, where there are none yet', 'FILE'),
  },
  examples: [
    { run: 'strongroom agent request edge-7.enrolment', does: 'a profile, and a fingerprint to tell' },
    { run: 'strongroom agent request - --out /etc/edge.bundle', does: 'for STRONGROOM_BUNDLE_FILE' },
  ],
  next: 'strongroom agent endorse FINGERPRINT   by whoever enrolled it',
  output: async () => (await shapes()).agentRequestShape,
  run: async (cli, { args, flags }) => {
    const { requestEndorsement } = await import('../../keys/request.ts')
    return requestEndorsement(cli, await readEnrolment(cli, args.file), flags)
  },
})

async function waiting(cli: Cli): Promise<readonly (PendingKey & { readonly agent: string })[]> {
  const { namesOf } = await import('../../place/principals.ts')
  const strongroom = await cli.strongroom()
  const keys = await strongroom.agents.pendingKeys({ signal: cli.signal })
  const nameOf = await namesOf(cli)
  return keys.map((key) => ({ ...key, agent: nameOf(`agent:${key.agentId}`) }))
}

export const pending = command({
  summary: 'keys that wait for your signature',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom agent pending', does: 'agents, fingerprints, and since when' }],
  next: 'strongroom agent endorse FINGERPRINT',
  output: async () => (await shapes()).agentPendingShape,
  run: async (cli) => {
    const { keyWords } = await import('@strongroom/sdk')
    const rows = (await waiting(cli)).map(({ requestedAt, ...key }) => ({
      ...key,
      words: keyWords(key.keyId),
      requestedAt: requestedAt.toISOString(),
    }))
    if (rows.length === 0) cli.say('no key waits for your signature')
    const text = table(
      rows,
      [
        { title: 'AGENT', of: ({ agent }) => agent },
        { title: 'WORDS', of: ({ words }) => words },
        { title: 'FINGERPRINT', of: ({ fingerprint }) => inFours(fingerprint) },
        { title: 'SINCE', of: ({ requestedAt }) => shortTime(requestedAt) },
      ],
      cli.style,
    )
    return { data: rows, ...(rows.length > 0 && { text }), next: 'strongroom agent endorse FINGERPRINT' }
  },
})

/** By fingerprint, which somebody compared; by name only where a person can be shown the fingerprint. */
async function findPending(cli: Cli, asked: string): Promise<string> {
  const all = await waiting(cli)
  const typed = typedFingerprint(asked)
  const exact = all.find(({ fingerprint }) => fingerprint === typed)
  if (exact) return exact.keyId
  const named = all.filter(({ agent, agentId }) => agent === asked || agentId === asked.replace(/^agent:/, ''))
  const [only] = named
  if (!only || named.length > 1)
    throw new CliError('key_not_found', 'no key with this fingerprint waits for your signature', {
      fix: 'strongroom agent pending',
    })
  if (!cli.isInteractive || cli.globals.yes)
    throw new CliError('fingerprint_required', `a name is only what the server says: name the key of ${only.agent}`, {
      fix: 'ask the agent for its fingerprint, and give that',
    })
  await confirm(cli, `Does ${only.agent} show ${inFours(only.fingerprint)} on its own screen?`)
  return only.keyId
}

export const endorse = command({
  summary: 'sign for a key an agent made itself, and give it vaults',
  about:
    'The fingerprint comes from the agent’s own screen, over a channel that the server does not control: whoever signs for another key gives the vaults to somebody else.',
  args: { fingerprint: arg.one('as the agent showed it: a fingerprint or key id') },
  flags: {
    vault: flag.many('a vault it gets, with read, write or admin: prod or prod:write', 'NAME:ROLE', {
      completes: 'vault',
    }),
  },
  examples: [{ run: 'strongroom agent endorse u4wqtz5r… --vault prod', does: 'it can read prod from now on' }],
  next: 'strongroom access list --vault VAULT',
  output: async () => (await shapes()).agentEndorsedShape,
  run: async (cli, { args, flags }) => {
    const vaults = flags.vault.map(vaultRole)
    const strongroom = await cli.strongroom()
    for (const { vault } of vaults) await strongroom.vaults.get(vault, { signal: cli.signal })
    const keyId = await findPending(cli, args.fingerprint)
    await strongroom.agents.endorse(keyId, { signal: cli.signal, vaults })
    return {
      data: { keyId, vaults },
      text: `${cli.style.good('✓')} ${keyId} is signed by you; ${vaults.length} vault ${vaults.length === 1 ? 'key' : 'keys'} wrapped for it`,
      ...(vaults.length === 0 && { next: 'strongroom vault share VAULT --with NAME' }),
    }
  },
})

const REASONS = ['removed', 'compromised', 'superseded'] as const

export const revokeKey = command({
  summary: 'end a key for good, of an agent or a person',
  about:
    'Signed by you and written into the log. It decrypts nothing new from then on; what it could decrypt it may have kept. The vaults it held are named: each wants a new key.',
  args: { key: arg.one('the whole key id, as strongroom key list shows it') },
  flags: { reason: flag.choice('why, for the log; removed if not given', REASONS) },
  examples: [{ run: 'strongroom agent revoke-key agent:a_1:u4wq… --reason compromised', does: 'asks first' }],
  next: 'strongroom access exposure NAME',
  output: async () => (await shapes()).agentRevokedShape,
  run: async (cli, { args, flags }) => {
    if (!/^(?:user|agent):[A-Za-z0-9_-]+:[a-z2-7]{32}$/.test(args.key))
      throw new CliError('usage', 'this is no key id', { fix: 'strongroom key list NAME' })
    await confirm(cli, `End ${args.key} for good?`)
    const strongroom = await cli.strongroom()
    const data = await strongroom.agents.revokeKey(args.key, flags.reason ?? 'removed', { signal: cli.signal })
    return {
      data,
      text: `${cli.style.good('✓')} ${args.key} has ended; ${data.rotationDue.length} vaults want a new key`,
      next: data.rotationDue.length > 0 ? 'strongroom key due' : shellLine`strongroom access exposure ${args.key}`,
    }
  },
})
