import type { Permission } from '@strongroom/contract'
import { principalOf, registerKey } from '@strongroom/protocol'
import { changeAccess, type NextAccess } from '../engine/access.ts'
import { refuseUnless } from '../engine/answers.ts'
import { keysOfAll } from '../engine/directory.ts'
import { rotateRuntimeKey } from '../engine/runtime-key.ts'
import { pinsOf } from '../engine/verified.ts'
import { agentOf, shownOnce } from './agent-rows.ts'
import type { CreatedAgent, NewAgent, RuntimeKeyRotation } from './agents.ts'
import { formatBundle } from './bundle.ts'
import type { KeyedPlace } from './core.ts'
import { vaultIdOf } from './names.ts'
import type { Config } from './options.ts'
import { ConfigError } from './public-errors.ts'
import { generateRuntimeKey, type RuntimeKey } from './runtime-keys.ts'
import { Secret } from './secret.ts'

// The keys of agents: made, endorsed, given their vaults, replaced.

const READING = ['machine.vault.read', 'machine.vault.secret.read', 'machine.transparency.read'] as const
const LISTENING = ['machine.monitoring.read'] as const

/** Reading verified, and being told of changes; writing where a vault is given for it. */
const permissionsFor = ({ permissions, vaults = [] }: NewAgent): Permission[] =>
  permissions
    ? ([...permissions] as Permission[])
    : [
        ...READING,
        ...LISTENING,
        ...(vaults.some(({ role }) => role !== 'read') ? (['machine.vault.write'] as const) : []),
      ]

/** The agent as the API takes it, without keys and vaults. */
export function bodyOf(given: NewAgent) {
  const { name, description, securityGroups, expiresAt, networks } = given
  return {
    name,
    permissions: permissionsFor(given),
    ...(description !== undefined && { description }),
    ...(securityGroups && { securityGroups: [...securityGroups] }),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    ...(networks && { networks: [...networks] }),
  }
}

export async function createAgent(config: Config, place: KeyedPlace, given: NewAgent): Promise<CreatedAgent> {
  const { actor, options } = place
  const { trustAnchor, server } = config
  if (trustAnchor === undefined)
    throw new ConfigError('the trust anchor is missing, and an agent needs it', {
      missing: ['STRONGROOM_TRUST_ANCHOR'],
    })
  const vaults = await vaultsFor(place, given.vaults ?? [])
  const { agent, apiKey: shown } = await actor.client.agents.create({ body: bodyOf(given) }, options)
  const { agentId } = agent
  const apiKey = shownOnce(shown, agentId)
  await ensureUnknown(place, `agent:${agentId}`)
  try {
    const key = await generateRuntimeKey({ ...given.keys, principal: `agent:${agentId}` })
    const pem = await introduce(place, key, vaults)
    const credential = {
      server,
      org: actor.org,
      agentId,
      trustAnchor,
      apiKey: apiKey.reveal(),
      privateKey: pem.reveal(),
    }
    const bundle = new Secret(formatBundle(credential), { ref: `bundle of agent:${agentId}`, name: 'bundle' })
    return { agent: agentOf(agent), apiKey, privateKeyPem: pem, bundle }
  } catch (error) {
    // An agent whose keys nobody has is of no use.
    await actor.client.agents.archive({ params: { id: agentId } }).catch(() => undefined)
    throw error
  }
}

/** The server chose the id. Signed under that of an agent that is there, the new key would be a further one of theirs, for all they can read. */
export async function ensureUnknown({ actor }: KeyedPlace, principal: string): Promise<void> {
  const { principals } = pinsOf(actor, await actor.trust.read()).org
  const isNew = !Object.hasOwn(principals, principal)
  refuseUnless(isNew, 'key_substitution', 'the server gives a new agent the id of one that has keys', { principal })
}

interface GivenVault {
  readonly vaultId: string
  readonly role: 'read' | 'write' | 'admin'
}

export async function vaultsFor(
  place: KeyedPlace,
  asked: NonNullable<NewAgent['vaults']>,
): Promise<readonly GivenVault[]> {
  const vaults: GivenVault[] = []
  for (const { vault, role } of asked) vaults.push({ vaultId: await vaultIdOf(place, vault), role })
  return vaults
}

/** Puts an agent on the access lists with the key that was just endorsed: under its id the server may have somebody else. */
export async function giveVaults(
  { actor, options }: KeyedPlace,
  kid: string,
  vaults: readonly GivenVault[],
): Promise<void> {
  const p = principalOf(kid)
  // Before any list: one that names them already would give another role to whoever that is.
  if (vaults.length > 0) await keysOfAll(actor, [p], { ...options, only: kid })
  for (const { vaultId, role } of vaults) {
    const next: NextAccess = (acl) => [...acl.filter((entry) => entry.p !== p), { p, role }]
    await changeAccess(actor, vaultId, next, { ...options, only: kid })
  }
}

/** Endorses the keys and gives them their vaults. */
async function introduce(
  place: KeyedPlace,
  { provider, exportPem }: RuntimeKey,
  vaults: readonly GivenVault[],
): Promise<Secret> {
  const { actor, options } = place
  const event = await registerKey({ org: actor.org, caps: ['agent'], at: actor.now() }, actor.identity, provider)
  await actor.client.keys.register({ body: { event } }, options)
  await giveVaults(place, provider.kid, vaults)
  return exportPem()
}

export async function rotateOwnKey(
  config: Config,
  { actor, options, scope, session }: KeyedPlace,
  { save, keys, submit }: RuntimeKeyRotation,
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<{ readonly keyId: string; readonly rewrapped: number }> {
  const { principal } = actor.identity.key
  const { trustAnchor, server } = config
  const next = await generateRuntimeKey({ ...keys, principal })
  const privateKeyPem = next.exportPem()
  const apiKey = (await config.credential())['x-api-key']
  const isWhole = apiKey !== undefined && trustAnchor !== undefined && principal.startsWith('agent:')
  const bundle = isWhole
    ? new Secret(
        formatBundle({
          server,
          org: actor.org,
          agentId: principal.slice('agent:'.length),
          trustAnchor,
          apiKey,
          privateKey: privateKeyPem.reveal(),
        }),
        { ref: `bundle of ${principal}`, name: 'bundle' },
      )
    : undefined
  await save({ privateKeyPem, ...(bundle && { bundle }) })
  const rotated = await rotateRuntimeKey(actor, next.provider, {
    ...options,
    ...(onProgress && { onProgress }),
    ...(submit && { submit }),
  })
  session.replace({ ...rotated.actor, client: scope.client })
  return { keyId: next.provider.kid, rewrapped: rotated.rewrapped }
}
