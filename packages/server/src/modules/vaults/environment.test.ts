import { openEnvironment, valueText } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes } from '../../../test/people.ts'
import { asSuperuser } from '../../../test/principals.ts'
import { edit, makeVault, trustOf, type Writer, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// The one statement behind an environment read. Catches: a right that the statement does not ask for (secret, status of key and
// agent, permission, access list), an audit row that is missing or that a refusal leaves behind, an answer kept for longer than
// it is right or given to another reader, a read that is answered although it could not be recorded. Seen red, each left out
// of the statement: the secret, the status of the key, the limits of the agent, the access list, the key that was given, the audit row.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let vaultId: string
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_env', { TOKEN: 'one' })])
})
afterAll(() => h.close())

const ask = (who: Pick<TestAgent, 'client'>, have?: number) =>
  who.client.vaults.environmentFields(
    { params: { vaultId }, query: { include: 'wrapped-key,signers' } },
    have === undefined ? {} : { have },
  )

async function open(who: Writer): Promise<Record<string, string>> {
  const { data, signed, wrappedKeys } = await ask(who)
  const answer = { ...signed, wrappedKeys, fields: data }
  const { fields } = await openEnvironment(answer, vaultId, trustOf(who), who.identity)
  return Object.fromEntries(fields.map(({ row, value }) => [row.label, valueText(value)]))
}

const audited = () =>
  inOrg(h.deps, alice.orgId, (db) =>
    db
      .selectFrom('audit_event')
      .select(['actor_id', 'outcome', 'error_code', 'targets', 'ip'])
      .where('action', 'in', ['vault.environment.read', 'vaults.environmentFields'])
      .orderBy('seq')
      .execute(),
  )

it('answers what is current, also right after a write and for many at once, and records each read once', async () => {
  const before = (await audited()).length
  expect(await open(bot)).toEqual({ TOKEN: 'one' })
  expect(await open(bot)).toEqual({ TOKEN: 'one' })
  await writeItems(alice, vaultId, [edit('itm_env', { TOKEN: 'two' })])
  const all = await Promise.all(Array.from({ length: 40 }, () => open(bot)))
  expect(new Set(all.map(({ TOKEN }) => TOKEN))).toEqual(new Set(['two']))
  const rows = (await audited()).slice(before)
  expect(rows).toHaveLength(42)
  const target = { type: 'vault', id: vaultId }
  for (const row of rows)
    expect(row).toEqual({
      actor_id: `agent:${bot.agentId}`,
      outcome: 'success',
      error_code: null,
      targets: [target],
      ip: '127.0.0.1',
    })
})

it('proves from the size that each reader knows', async () => {
  const { size } = await alice.client.transparency.checkpoint()
  expect((await ask(bot, 1)).signed?.transparency).toMatchObject({ consistency: { from: 1 } })
  expect((await ask(bot, 2)).signed?.transparency).toMatchObject({ consistency: { from: 2 } })
  expect((await ask(bot, size)).signed?.transparency).not.toHaveProperty('consistency')
})

it('gives the same by access token, which goes the ordinary way', async () => {
  expect(await open(alice)).toEqual({ TOKEN: 'two' })
})

it('refuses whoever lost a right at the next request, keeps no answer for them, and records the refusal alone', async () => {
  const lose: readonly [string, string, readonly unknown[]][] = [
    ['vault_not_found', 'update vault_access set role = null where principal = $1', [`agent:${bot.agentId}`]],
    [
      'machine_permission_denied',
      "update agent set permissions = '{machine.vault.read}' where agent_id = $1",
      [bot.agentId],
    ],
    ['agent_expired', "update agent set expires_at = now() - interval '1 minute' where agent_id = $1", [bot.agentId]],
    ['network_not_allowed', "update agent set networks = '{192.0.2.0/24,::/0}' where agent_id = $1", [bot.agentId]],
    ['invalid_api_key', "update agent set status = 'archived' where agent_id = $1", [bot.agentId]],
    ['invalid_api_key', "update api_key set status = 'rotated' where agent_id = $1", [bot.agentId]],
  ]
  const restore = [
    ["update vault_access set role = 'read' where principal = $1", [`agent:${bot.agentId}`]],
    ["update agent set permissions = '{machine.all}', status = 'active' where agent_id = $1", [bot.agentId]],
    ["update agent set expires_at = null, networks = '{}' where agent_id = $1", [bot.agentId]],
    ["update api_key set status = 'active' where agent_id = $1", [bot.agentId]],
  ] as const
  for (const [code, sql, values] of lose) {
    await expect(ask(bot)).resolves.toMatchObject({ headVersion: 3 })
    const before = (await audited()).length
    await asSuperuser(h, (client) => client.query(sql, [...values]))
    expect(await codeOf(ask(bot))).toBe(code)
    const rows = (await audited()).slice(before)
    expect(rows.map(({ outcome, error_code }) => [outcome, error_code])).toEqual(
      code === 'invalid_api_key' ? [] : [['refused', code]],
    )
    for (const [text, given] of restore) await asSuperuser(h, (client) => client.query(text, [...given]))
  }
})

it('costs an agent that keeps to its limits no other statement', async () => {
  const limit = (set: string) =>
    asSuperuser(h, (client) => client.query(`update agent set ${set} where agent_id = $1`, [bot.agentId]))
  const before = (await audited()).length
  const transactions = vi.spyOn(h.deps.database.kysely, 'transaction')
  await limit("expires_at = now() + interval '1 hour', networks = '{192.0.2.0/24,127.0.0.0/8}'")
  await ask(bot)
  expect(transactions).not.toHaveBeenCalled()
  transactions.mockRestore()
  await limit("expires_at = null, networks = '{}'")
  expect((await audited()).slice(before)).toMatchObject([{ outcome: 'success' }])
})

it('records nothing as read for whoever asks for a key and was given none', async () => {
  const keyless = await h.agent(alice, ['machine.all'])
  await asSuperuser(h, (client) =>
    client.query(
      "insert into vault_access (org_id, vault_id, principal, role, since_index) values ($1, $2, $3, 'read', 0)",
      [alice.orgId, vaultId, `agent:${keyless.agentId}`],
    ),
  )
  const before = (await audited()).length
  expect(await codeOf(ask(keyless))).toBe('wrapped_key_missing')
  const rows = (await audited()).slice(before)
  expect(rows.map(({ outcome, error_code }) => [outcome, error_code])).toEqual([['refused', 'wrapped_key_missing']])
  const plain = await keyless.client.vaults.environmentFields({ params: { vaultId } })
  expect(plain.data).toHaveLength(1)
})

it('does nothing for the right access key with a wrong secret', async () => {
  const before = (await audited()).length
  const other = await h.agent(alice, [])
  const swap = (to: string, from: string) =>
    asSuperuser(h, (client) =>
      client.query(
        'update api_key set secret_hmac = (select secret_hmac from api_key where agent_id = $2) where agent_id = $1',
        [to, from],
      ),
    )
  const spare = await h.agent(alice, [])
  await swap(spare.agentId, bot.agentId)
  await swap(bot.agentId, other.agentId)
  expect(await codeOf(ask(bot))).toBe('invalid_api_key')
  await swap(bot.agentId, spare.agentId)
  expect(await audited()).toHaveLength(before)
  expect(await open(bot)).toEqual({ TOKEN: 'two' })
})

it('answers nothing that it cannot record, to one or to many, and recovers by itself', async () => {
  await ask(bot)
  await asSuperuser(h, (client) => client.query('revoke insert on audit_event from strongroom_app'))
  try {
    expect(new Set(await outcomes(Array.from({ length: 20 }, () => ask(bot))))).toEqual(new Set(['audit_unavailable']))
  } finally {
    await asSuperuser(h, (client) => client.query('grant insert on audit_event to strongroom_app'))
  }
  expect(await open(bot)).toEqual({ TOKEN: 'two' })
})
