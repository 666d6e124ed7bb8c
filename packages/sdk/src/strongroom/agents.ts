import type { Permission, TenantRole } from '@strongroom/contract'
import type { Rotation } from '@strongroom/protocol'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'
import type { RuntimeKeyOptions } from './runtime-keys.ts'
import type { Secret } from './secret.ts'

export type MachinePermission = Permission | (string & {})

export interface Agent {
  readonly agentId: string
  readonly domainTenantId: string
  readonly name: string
  readonly description: string
  readonly status: 'active' | 'archived'
  readonly permissions: readonly string[]
  readonly securityGroups: readonly { readonly groupId: string; readonly name: string }[]
  /** Its keys are refused from then on; null: never. */
  readonly expiresAt: Date | null
  /** Addresses and networks its keys may be used from; none: anywhere. */
  readonly networks: readonly string[]
  readonly createdAt: Date
}

export interface NewAgent {
  readonly name: string
  readonly description?: string
  /** The agent is put on the access lists of these and gets their keys. */
  readonly vaults?: readonly { readonly vault: string; readonly role: 'read' | 'write' | 'admin' }[]
  /** What the roles in its vaults need if absent. */
  readonly permissions?: readonly MachinePermission[]
  readonly securityGroups?: readonly string[]
  /** Its keys are refused from then on. */
  readonly expiresAt?: Date
  /** Addresses and networks its keys may be used from, such as `10.1.0.0/16`. */
  readonly networks?: readonly string[]
  /** How its keys are made. */
  readonly keys?: Omit<RuntimeKeyOptions, 'principal'>
}

export interface CreatedAgent {
  readonly agent: Agent
  readonly apiKey: Secret
  readonly privateKeyPem: Secret
  /** All of it in one string, for `STRONGROOM_BUNDLE`. It is not to be had again. */
  readonly bundle: Secret
}

/** An agent without keys: they are made where it runs, and never leave it. */
export interface EnrolledAgent {
  readonly agent: Agent
  readonly apiKey: Secret
  /** Both for the agent, which asks with `agents.requestEndorsement`. */
  readonly trustAnchor: string
  readonly endorser: string
}

/** A key that has proven that it is held, and waits for the signature of the caller. */
export interface PendingKey {
  readonly keyId: string
  readonly agentId: string
  /** To be compared with what the agent shows, over a channel that the server does not control. */
  readonly fingerprint: string
  readonly requestedAt: Date
}

export interface RevokedKey {
  readonly keyId: string
  /** Vaults whose key it knew: give each another one with `vaults.rotateKey`. */
  readonly rotationDue: readonly string[]
}

export interface RuntimeKeyRotation {
  /** Stores the new credential before the server hears of it: whatever happens then, it is not lost. */
  readonly save: (credential: { readonly bundle?: Secret; readonly privateKeyPem: Secret }) => void | Promise<void>
  readonly keys?: Omit<RuntimeKeyOptions, 'principal'>
  /** For a person, whose new keys have to reach the server sealed as well: see `prepareRotation`. */
  readonly submit?: (rotation: Rotation) => Promise<unknown>
}

export interface RoleEntry {
  readonly tenantId: string
  readonly role: TenantRole
}

/** A call of the API reference, as an agent would make it. */
export interface SimulatedCall {
  /** By its name, such as `vaults.environmentFields`. */
  readonly call: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** The address it would come from; without one, limits to networks are not judged. */
  readonly from?: string
}

export interface Simulation {
  readonly call: string
  readonly method: string
  readonly path: string
  /** `admitted`: nothing that was tried refuses it, and not everything was tried. */
  readonly outcome: 'answered' | 'refused' | 'admitted'
  /** Of the answer; null where it is not known. */
  readonly status: number | null
  /** In the order in which a request meets them. */
  readonly checks: readonly {
    readonly check: 'key' | 'expiry' | 'network' | 'permission' | 'input' | 'service'
    readonly result: 'passed' | 'refused' | 'not_tried'
    readonly reason?: string
  }[]
  readonly refusal: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly hint: string
    readonly details?: Readonly<Record<string, unknown>>
  } | null
}

/** An agent is named by its id, `agt_…`, wherever one is asked for. */
export interface Agents {
  list(params?: ListParams & { readonly status?: 'active' | 'archived' }, options?: RequestOptions): PagePromise<Agent>
  get(agent: string, options?: RequestOptions): ApiPromise<Agent>
  me(options?: RequestOptions): ApiPromise<Agent>
  /** An agent with keys made here, endorsed by the caller, on the access lists of its vaults. */
  create(agent: NewAgent, options?: RequestOptions): ApiPromise<CreatedAgent>
  update(
    agent: string,
    change: {
      readonly name?: string
      readonly description?: string
      readonly permissions?: readonly MachinePermission[]
      readonly securityGroups?: readonly string[]
      /** Null takes it away. */
      readonly expiresAt?: Date | null
      /** In place of all it has; none: anywhere. */
      readonly networks?: readonly string[]
    },
    options?: RequestOptions,
  ): ApiPromise<Agent>
  /** For good: its API key is dead from the next request on. */
  archive(agent: string, options?: RequestOptions): ApiPromise<void>
  /** An agent whose private keys stay where they are made; see `requestEndorsement`, `pendingKeys` and `endorse`. */
  enrol(agent: Omit<NewAgent, 'vaults' | 'keys'>, options?: RequestOptions): ApiPromise<EnrolledAgent>
  /** For the agent itself: asks a person to endorse the key of this client. */
  requestEndorsement(endorser: string, options?: RequestOptions): ApiPromise<{ readonly keyId: string }>
  /** Keys that wait for the caller's signature. */
  pendingKeys(options?: RequestOptions): ApiPromise<readonly PendingKey[]>
  /** Endorses one of them and gives it vaults. */
  endorse(
    keyId: string,
    options?: RequestOptions & { readonly vaults?: NonNullable<NewAgent['vaults']> },
  ): ApiPromise<{ readonly keyId: string }>
  /** Ends a key, of an agent or of a person. What it could decrypt is in `transparency.exposure`. */
  revokeKey(
    keyId: string,
    reason: 'removed' | 'compromised' | 'superseded',
    options?: RequestOptions,
  ): ApiPromise<RevokedKey>
  /** The old key is dead from then on. */
  rotateApiKey(agent: string, options?: RequestOptions): ApiPromise<Secret>
  /** What a call of the agent would be answered now, and why; nothing of it is done, and its key is not needed. */
  simulate(agent: string, call: SimulatedCall, options?: RequestOptions): ApiPromise<Simulation>
  /** Other keys for this client's own agent, or person; it goes on with them. The old ones can be forgotten when this returns. */
  rotateRuntimeKey(
    rotation: RuntimeKeyRotation,
    options?: RequestOptions & { readonly onProgress?: (done: number, total: number) => void },
  ): ApiPromise<{ readonly keyId: string; readonly rewrapped: number }>
  /** In tenants: its own, and those it has from groups. */
  roles(
    agent: string,
    options?: RequestOptions,
  ): ApiPromise<{ readonly direct: readonly RoleEntry[]; readonly inherited: readonly RoleEntry[] }>
  /** In place of all its own. */
  setRoles(
    agent: string,
    direct: readonly RoleEntry[],
    options?: RequestOptions,
  ): ApiPromise<{ readonly direct: readonly RoleEntry[] }>
}

const rows = () => import('./agent-rows.ts')
const endorsing = () => import('./agent-endorsement.ts')

export function agentsOf(core: Core): Agents {
  return {
    list: ({ status, ...params } = {}, options) =>
      numberedPages(
        core,
        async (page, client, call) => {
          const { agents, meta } = await client.agents.list({ query: { ...page, ...(status && { status }) } }, call)
          return { data: agents.map((await rows()).agentOf), meta }
        },
        params,
        options,
      ),
    get: (id, options) =>
      core.call(options, async ({ client, options: call }) =>
        (await rows()).agentOf((await client.agents.get({ params: { id } }, call)).agent),
      ),
    me: (options) =>
      core.call(options, async ({ client, options: call }) =>
        (await rows()).agentOf((await client.agents.me({}, call)).agent),
      ),
    create: (agent, options) =>
      core.keyed(options, async (place) => (await import('./agent-keys.ts')).createAgent(core.config, place, agent)),
    update: (id, change, options) =>
      core.call(options, async ({ client, options: call }) => {
        const { agentOf, changeOf } = await rows()
        return agentOf((await client.agents.update({ params: { id }, body: changeOf(change) }, call)).agent)
      }),
    archive: (id, options) =>
      core.call(options, async ({ client, options: call }) => {
        await client.agents.archive({ params: { id } }, call)
      }),
    enrol: (agent, options) =>
      core.keyed(options, async (place) => (await endorsing()).enrolAgent(core.config, place, agent)),
    requestEndorsement: (endorser, options) =>
      core.keyed(options, async (place) => (await endorsing()).requestOwn(place, endorser)),
    pendingKeys: (options) => core.keyed(options, async (place) => (await endorsing()).pendingKeys(place)),
    endorse: (keyId, { vaults = [], ...options } = {}) =>
      core.keyed(options, async (place) => (await endorsing()).endorse(place, keyId, vaults)),
    revokeKey: (keyId, reason, options) =>
      core.keyed(options, async (place) => (await endorsing()).revokeKey(place, keyId, reason)),
    rotateApiKey: (id, options) =>
      core.call(options, async ({ client, options: call }) =>
        (await rows()).shownOnce((await client.agents.regenerateApiKey({ params: { id } }, call)).apiKey, id),
      ),
    simulate: (id, body, options) =>
      core.call(options, ({ client, options: call }) => client.agents.simulate({ params: { id }, body }, call)),
    rotateRuntimeKey: (rotation, { onProgress, ...options } = {}) =>
      core.keyed(options, async (place) =>
        (await import('./agent-keys.ts')).rotateOwnKey(core.config, place, rotation, onProgress),
      ),
    roles: (id, options) =>
      core.call(options, async ({ client, options: call }) => client.agents.tenantRoles({ params: { id } }, call)),
    setRoles: (id, direct, options) =>
      core.call(options, async ({ client, options: call }) => {
        const input = { params: { id }, body: { tenantRoles: [...direct] } }
        return { direct: (await client.agents.replaceTenantRoles(input, call)).direct }
      }),
  }
}
