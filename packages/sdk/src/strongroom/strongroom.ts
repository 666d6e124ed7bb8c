import { type Agents, agentsOf } from './agents.ts'
import { type Attachments, attachmentsOf } from './attachments.ts'
import { type Billing, type Budgets, billingOf, budgetsOf, type Domains, domainsOf } from './billing.ts'
import type { ApiPromise, RequestOptions } from './call.ts'
import { type Core, makeCore } from './core.ts'
import { type Feedback, feedbackOf } from './feedback.ts'
import type { PrincipalInfo, TenantContext } from './identity.ts'
import { type Items, itemsOf } from './items.ts'
import { type Licenses, licensesOf } from './licenses.ts'
import { type Monitoring, monitoringOf } from './monitoring.ts'
import { configOf, type Platform, type StrongroomOptions } from './options.ts'
import { type Permissions, permissionsOf } from './permissions.ts'
import { anyPlatform } from './platform-any.ts'
import { type Projects, projectsOf } from './projects.ts'
import type { RawRequest } from './request.ts'
import { type Search, searchOf } from './search.ts'
import { type Secrets, secretsOf } from './secrets.ts'
import { makeSession, type Session } from './session.ts'
import { type Transparency, transparencyOf } from './transparency.ts'
import { type Vaults, vaultsOf } from './vaults.ts'
import { type Webhooks, webhooksOf } from './webhooks.ts'

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** Options that change who speaks to whom: with one of them, nothing is shared any more. */
const OWN_SESSION = [
  'bundle',
  'server',
  'apiKey',
  'accessToken',
  'privateKey',
  'agentId',
  'userId',
  'trustAnchor',
  'trustStore',
  'cache',
  'verify',
] as const satisfies readonly (keyof StrongroomOptions)[]

const RESOURCES = {
  secrets: secretsOf,
  vaults: vaultsOf,
  items: itemsOf,
  attachments: attachmentsOf,
  projects: projectsOf,
  permissions: permissionsOf,
  agents: agentsOf,
  transparency: transparencyOf,
  search: searchOf,
  monitoring: monitoringOf,
  feedback: feedbackOf,
  billing: billingOf,
  budgets: budgetsOf,
  domains: domainsOf,
  licenses: licensesOf,
  webhooks: webhooksOf,
}

/** A client of one server with one credential. Verifies whatever it reads before it opens it. Prints nothing of what it was given. */
export class Strongroom {
  declare readonly secrets: Secrets
  declare readonly vaults: Vaults
  declare readonly items: Items
  declare readonly attachments: Attachments
  declare readonly projects: Projects
  declare readonly permissions: Permissions
  declare readonly agents: Agents
  declare readonly transparency: Transparency
  declare readonly search: Search
  declare readonly monitoring: Monitoring
  declare readonly feedback: Feedback
  declare readonly billing: Billing
  declare readonly budgets: Budgets
  declare readonly domains: Domains
  declare readonly licenses: Licenses
  declare readonly webhooks: Webhooks
  readonly #core: Core
  readonly #options: StrongroomOptions
  readonly #platform: Platform

  constructor(options: StrongroomOptions = {}, platform: Platform = anyPlatform, session?: Session) {
    this.#options = options
    this.#platform = platform
    this.#core = makeCore(configOf(options, platform), session ?? makeSession())
  }

  // Each is made when it is first asked for: programs use a few of them, and most programs are short.
  static {
    for (const [name, make] of Object.entries(RESOURCES))
      Object.defineProperty(Strongroom.prototype, name, {
        get(this: Strongroom) {
          const value = make(this.#core)
          Object.defineProperty(this, name, { value, enumerable: true })
          return value
        },
      })
  }

  /** The same client with other options; opened keys and what was verified are shared unless they concern them. */
  withOptions(overrides: StrongroomOptions): Strongroom {
    const shares = OWN_SESSION.every((name) => overrides[name] === undefined)
    const options = { ...this.#options, ...(shares && { trustStore: this.#core.config.trust }), ...overrides }
    // Of the same class: that of the entry point it came from.
    const Own = this.constructor as typeof Strongroom
    return new Own(options, this.#platform, shares ? this.#core.session : undefined)
  }

  me(options?: RequestOptions): ApiPromise<PrincipalInfo> {
    return this.#core.call(options, async ({ client, config, options: call }) => {
      const { ensuredInfo } = await import('./identity.ts')
      return ensuredInfo(config, await client.identity.me({}, call))
    })
  }

  tenantContext(options?: RequestOptions): ApiPromise<TenantContext> {
    return this.#core.call(options, async ({ client, config, options: call }) => {
      const { ensuredContext } = await import('./identity.ts')
      return ensuredContext(config, await client.identity.tenantContext({}, call))
    })
  }

  /** Any route that has no method here. Nothing of its answer is verified. */
  request<T = unknown>(request: RawRequest, options?: RequestOptions): ApiPromise<T> {
    return this.#core.call(options, async (scope) => {
      const { sendRaw } = await import('./request.ts')
      return (await sendRaw(scope, request)) as T
    })
  }

  toJSON(): { server: string } {
    return { server: this.#core.config.server }
  }

  toString(): string {
    return `Strongroom(${this.#core.config.server})`
  }

  [INSPECT](): string {
    return this.toString()
  }
}
