import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FirstPerson } from '@strongroom/sdk'
import { inOrg } from '../src/context.ts'
import { agentWriter } from './agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from './harness.ts'
import { foundOrg } from './people.ts'
import { edit, makeVault, type Writer, writeItems } from './vault-writer.ts'

/** A server with a folder of its own, a vault with one item, and everybody who could want something of it. */
export interface AttachmentWorld {
  readonly h: Harness
  readonly alice: FirstPerson
  /** May write to the vault. */
  readonly bot: TestAgent & Writer
  /** In the organisation, and on no access list. */
  readonly stranger: TestAgent
  readonly foreign: TestAgent
  readonly vaultId: string
  /** Everything that a refused request must leave alone. */
  stored(): Promise<string>
  close(): Promise<void>
}

const TABLES = ['vault', 'vault_item', 'vault_asset', 'attachment', 'attachment_upload', 'log_leaf'] as const

export async function startAttachmentWorld(): Promise<AttachmentWorld> {
  const data = mkdtempSync(join(tmpdir(), 'sr-attachments-'))
  const h = await startHarness({ dataDirectory: data })
  const alice = await foundOrg(h)
  const bot = await agentWriter(h, alice, 'deploy')
  const stranger = await h.agent(alice, ['machine.all'])
  const foreign = await h.agent(await h.org('other'), ['machine.all'])
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  await writeItems(alice, vaultId, [edit('itm_main', { A: '1', note: 'n' })])
  return {
    h,
    alice,
    bot,
    stranger,
    foreign,
    vaultId,
    stored: () =>
      inOrg(h.deps, alice.orgId, async (db) => {
        const all: unknown[] = []
        for (const table of TABLES)
          all.push((await db.selectFrom(table).selectAll().execute()).map((row) => JSON.stringify(row)).sort())
        return JSON.stringify(all)
      }),
    close: async () => {
      await h.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}
