import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textValue } from '@strongroom/protocol'
import { memoryCache } from '../../src/engine/cache.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import type { CreatedAgent, NewAgent } from '../../src/strongroom/agents.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { actorFor, type KeyName, keysOf, makeWire, startServer, type TestServer, type Wire } from '../engine/server.ts'

// A real server, its founder, and agents that the founder makes with the SDK itself.

export interface World extends TestServer {
  readonly alice: Strongroom
  /** The founder on another device, with somebody between it and the server. */
  device(options?: StrongroomOptions): { readonly client: Strongroom; readonly wire: Wire }
  agent(key: KeyName, more?: Partial<NewAgent>): Promise<Bot>
  /** A directory that is removed at the end. */
  directory(): string
}

export interface Bot extends CreatedAgent {
  readonly client: Strongroom
  readonly principal: string
  /** The same agent with a memory of its own. */
  again(options?: StrongroomOptions): Strongroom
}

let made = 0
export const unique = (name: string): string => {
  made += 1
  return `${name}-${made}`
}

export async function startWorld(): Promise<World> {
  const server = await startServer()
  const directories: string[] = []
  const { founder, url } = server
  const own = {
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.identity,
    trustAnchor: founder.trustAnchor,
  }
  const alice = new Strongroom({ ...own, trustStore: memoryTrust() })
  return {
    ...server,
    alice,
    device: (options = {}) => {
      const { wire, fetch } = makeWire()
      return { client: new Strongroom({ ...own, fetch, ...options }), wire }
    },
    agent: async (key, more = {}) => {
      const name = unique('bot')
      const created = await alice.agents.create({ name, keys: { material: keysOf(key) }, ...more })
      const again = (options: StrongroomOptions = {}): Strongroom =>
        new Strongroom({ bundle: created.bundle.reveal(), ...options })
      return { ...created, client: again(), again, principal: `agent:${created.agent.agentId}` }
    },
    directory: () => {
      const path = mkdtempSync(join(tmpdir(), 'sr-sdk-test-'))
      directories.push(path)
      return path
    },
    close: async () => {
      await server.close()
      for (const path of directories) rmSync(path, { recursive: true, force: true })
    },
  }
}

export { memoryCache }

/** An item under a name that may be taken, as a client without the manners of this one makes it; gives its id. */
export async function makeTwin(world: World, vault: string, name: string, label: string, value: string) {
  const actor = await actorFor(world, world.founder)
  const { vaultId } = await world.alice.vaults.get(vault)
  const { items } = await changeItems(actor, vaultId, {
    create: [{ name, fields: [{ label, value: textValue(value) }] }],
  })
  return items[0]?.itemId ?? ''
}

/** A field of a label that the item may have already, outside of the environment, made in the same way; gives its id. */
export async function makeTwinField(world: World, vault: string, item: string, label: string, value: string) {
  const actor = await actorFor(world, world.founder)
  const { vaultId, itemId, fields } = await world.alice.items.get(vault, item)
  const edit = [{ itemId, add: [{ label, value: textValue(value) }] }]
  const { items } = await changeItems(actor, vaultId, { edit })
  const before = new Set(fields.map(({ fieldId }) => fieldId))
  return items[0]?.fields.find(({ fieldId }) => !before.has(fieldId))?.fieldId ?? ''
}

/** The error of a call; fails if it was not refused. */
export async function errorOf(call: PromiseLike<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await call
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('expected a refusal')
}
