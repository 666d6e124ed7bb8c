import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHarness } from '../../../server/test/harness.ts'
import { foundOrg } from '../../../server/test/people.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import type { FirstPerson } from '../../src/people.ts'
import type { NewAgent } from '../../src/strongroom/agents.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { type KeyName, keysOf } from '../engine/server.ts'

// A real server in this process, and the founder of its organisation.

export interface SmallWorld {
  readonly url: string
  readonly founder: FirstPerson
  readonly alice: Strongroom
  agent(key: KeyName, vaults?: NonNullable<NewAgent['vaults']>): Promise<SmallAgent>
  /** Removed at the end. */
  directory(): string
  close(): Promise<void>
}

export interface SmallAgent {
  readonly bundle: string
  client(options: StrongroomOptions): Strongroom
}

export async function startSmallWorld(): Promise<SmallWorld> {
  const h = await startHarness()
  const founder = await foundOrg(h)
  const { accessToken, identity: privateKey, trustAnchor } = founder
  const alice = new Strongroom({ server: h.url, accessToken, privateKey, trustAnchor, trustStore: memoryTrust() })
  const directories: string[] = []
  return {
    url: h.url,
    founder,
    alice,
    agent: async (key, vaults = []) => {
      const created = await alice.agents.create({ name: key, keys: { material: keysOf(key) }, vaults })
      const bundle = created.bundle.reveal()
      return { bundle, client: (options) => new Strongroom({ bundle, ...options }) }
    },
    directory: () => {
      const path = mkdtempSync(join(tmpdir(), 'sr-evil-'))
      directories.push(path)
      return path
    },
    close: async () => {
      await h.close()
      for (const path of directories) rmSync(path, { recursive: true, force: true })
    },
  }
}
