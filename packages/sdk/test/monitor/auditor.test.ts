import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  appendLeaf,
  EMPTY_FRONTIER,
  type Envelope,
  type Frontier,
  formatTrustAnchor,
  frontierRoot,
  type JsonObject,
  leafHash,
  openEnvironment,
  parseTrustAnchor,
  peekCheckpoint,
  registerKey,
  valueText,
  vaultName,
  verifyTransparency,
} from '@strongroom/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { identityOf } from '../../../server/test/actors.ts'
import { agentWriter } from '../../../server/test/agent-writer.ts'
import { forgeLeaf, signAsLog } from '../../../server/test/forged-leaf.ts'
import { type Harness, startHarness, type TestAgent } from '../../../server/test/harness.ts'
import { foundOrg } from '../../../server/test/people.ts'
import { seedOperator } from '../../../server/test/principals.ts'
import { edit, makeVault, trustOf, type Writer, writeItems } from '../../../server/test/vault-writer.ts'
import type { Client } from '../../src/client.ts'
import { makeAuditor } from '../../src/monitor/auditor.ts'
import { makeCosigner } from '../../src/monitor/cosigner.ts'
import { apiSource, type LogSource } from '../../src/monitor/log-source.ts'
import { lookAsWitness } from '../../src/monitor/pull.ts'
import { openRecord } from '../../src/monitor/record.ts'
import { makeWitness } from '../../src/monitor/witness.ts'
import type { FirstPerson } from '../../src/people.ts'
import { AUDITOR, newDirectory, run, WITNESS, writeConfig } from './processes.ts'
import { makeSigner } from './small-log.ts'

// Witness and auditor against a real server. Catches: a leaf that is cosigned without being replayed, a false leaf that is
// forgotten by a restart, entries that are believed without being hashed into what is signed, a history that is replaced, an honest
// log that is accused because a document was withheld, a kept answer that never gets its cosignatures.
// Seen red: the refusal not kept, leaves not hashed into what is signed, the last cosigned root not compared, no second replay from
// the first leaf, the genesis not compared, answers kept without regard to cosignatures.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let operator: { apiKey: string; client: Client }
let vaultId: string
let directory: string
beforeEach(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_one', { TOKEN: 'one' })])
  operator = await seedOperator(h, alice)
  directory = newDirectory()
})
afterEach(async () => {
  await h.close()
  rmSync(directory, { recursive: true, force: true })
})

const anchorOf = () => parseTrustAnchor(alice.trustAnchor)
const sourceOf = (): LogSource => apiSource(operator.client)
const vaultState = async (): Promise<JsonObject> => {
  const { map } = await operator.client.transparency.state({ query: { name: vaultName(vaultId) } })
  return map[0]?.state as JsonObject
}

const newAuditor = (anchor = alice.trustAnchor, state = 'auditor') =>
  makeAuditor({
    cosigner: makeCosigner('auditor.example/a', makeSigner()),
    anchor,
    record: openRecord(join(directory, state)),
    directory: join(directory, state),
  })

const newWitness = () => {
  const { origin, logVkeys } = anchorOf()
  return makeWitness({
    cosigner: makeCosigner('witness.example/w', makeSigner()),
    logs: [{ origin, vkeys: logVkeys }],
    record: openRecord(join(directory, 'witness')),
  })
}
const lookAt = (witness: ReturnType<typeof newWitness>, source = sourceOf()) =>
  lookAsWitness(witness, anchorOf().origin, source)

const size = async (): Promise<number> => (await operator.client.transparency.checkpoint()).size

/** Sets the vault back to what it was when it was made: an old state that its admin once signed. */
async function forgeRollback(): Promise<number> {
  const { headHash } = (await vaultState()) as { headHash: string }
  const old = await vaultState()
  const { document } = await operator.client.transparency.document({ params: { hash: headHash } })
  await writeItems(alice, vaultId, [edit('itm_one', { TOKEN: 'two' })])
  const updates = [{ name: vaultName(vaultId), state: old }]
  return forgeLeaf(h, alice.orgId, { t: 'vault.commit', docs: [document as Envelope], updates })
}

const both = (witness: string, auditor: string): string =>
  `witness w ${witness}\nwitness a ${auditor}\ngroup both all w a\nquorum both\n`

describe('an honest log', () => {
  it('is cosigned by both, and a client that asks for both reads; without either it refuses', async () => {
    const [witness, auditor] = [newWitness(), newAuditor()]
    const vkeys = [witness.cosigner.vkey, auditor.cosigner.vkey] as const
    await alice.client.transparency.setWitnesses({ body: { witnesses: vkeys.map((vkey) => ({ vkey })) } })
    const demanding = { ...anchorOf(), tlogPolicy: both(...vkeys) }
    const reader: Writer = { ...bot, trustAnchor: formatTrustAnchor(demanding) }
    const read = async (): Promise<Record<string, string>> => {
      const { data, signed, wrappedKeys } = await bot.client.vaults.environmentFields({
        params: { vaultId },
        query: { include: 'wrapped-key,signers' },
      })
      const answer = { ...signed, wrappedKeys, fields: data }
      const { fields } = await openEnvironment(answer, vaultId, trustOf(reader), bot.identity)
      return Object.fromEntries(fields.map(({ row, value }) => [row.label, valueText(value)]))
    }
    const refused = { code: 'witness_quorum' }
    await expect(read()).rejects.toMatchObject(refused)
    const byWitness = await lookAt(witness)
    await sourceOf().deliver(byWitness.size, byWitness.line)
    await expect(read()).rejects.toMatchObject(refused)
    const byAuditor = await auditor.look(sourceOf())
    await sourceOf().deliver(byAuditor.size, byAuditor.line)
    expect(await read()).toEqual({ TOKEN: 'one' })
    await writeItems(alice, vaultId, [edit('itm_one', { TOKEN: 'two' })])
    await expect(read()).rejects.toMatchObject(refused)
    for (const { size, line } of [await lookAt(witness), await auditor.look(sourceOf())])
      await sourceOf().deliver(size, line)
    expect(await read()).toEqual({ TOKEN: 'two' })
  })

  it('is followed across restarts, and only from the beginning that the anchor names', async () => {
    expect((await newAuditor().look(sourceOf())).size).toBe(await size())
    await writeItems(alice, vaultId, [edit('itm_two', { OTHER: 'x' })])
    const again = newAuditor()
    expect((await again.look(sourceOf())).size).toBe(await size())
    expect((await again.look(sourceOf())).size).toBe(await size())
    const sparing: LogSource = {
      ...sourceOf(),
      leaves: async (start, end) => (await sourceOf().leaves(start, end)).slice(0, 2),
    }
    expect((await newAuditor(alice.trustAnchor, 'in pages').look(sparing)).size).toBe(await size())
    const genesis = 'A'.repeat(43)
    const elsewhere = newAuditor(formatTrustAnchor({ ...anchorOf(), genesis }), 'elsewhere')
    await expect(elsewhere.look(sourceOf())).rejects.toMatchObject({
      evidence: { leafIndex: 0, rule: 'genesis_mismatch' },
    })
  })

  it('is not accused where a document is withheld or leaves are swapped: nothing is cosigned, and nothing is held against it', async () => {
    const agent = await h.agent(alice, ['machine.all'])
    await expect(newAuditor().look(apiSource(agent.client))).rejects.toMatchObject({ name: 'Unproven' })
    const honest = sourceOf()
    const swapped: LogSource = {
      ...honest,
      leaves: async (start, end) => [...(await honest.leaves(start, end))].reverse(),
    }
    await expect(newAuditor().look(swapped)).rejects.toMatchObject({ name: 'LeavesDiffer' })
    const genesis = await operator.client.transparency.document({ params: { hash: anchorOf().genesis } })
    const confused = { transparency: { ...operator.client.transparency, document: async () => genesis } }
    await expect(newAuditor().look(apiSource(confused))).rejects.toMatchObject({ name: 'Unproven' })
    expect((await newAuditor().look(honest)).size).toBe(await size())
  })
})

describe('a false leaf', () => {
  it('that sets a vault back is cosigned by a witness and refused by the auditor, for ever', async () => {
    const [witness, auditor] = [newWitness(), newAuditor()]
    await lookAt(witness)
    await auditor.look(sourceOf())
    const leafIndex = await forgeRollback()
    expect((await lookAt(witness)).size).toBe(leafIndex + 1)
    const evidence = { kind: 'false-leaf', leafIndex, rule: 'head_conflict', org: alice.orgId }
    await expect(auditor.look(sourceOf())).rejects.toMatchObject({ name: 'FalseLeaf', evidence })
    const file = JSON.parse(readFileSync(join(directory, 'auditor', 'refused.json'), 'utf8'))
    expect(file).toMatchObject(evidence)
    expect(peekCheckpoint(file.checkpoint).size).toBe(leafIndex + 1)
    for (const again of [auditor, newAuditor()])
      await expect(again.look(sourceOf())).rejects.toMatchObject({ name: 'AlreadyRefused' })
    // A client without memory believes the witness alone; one that asks for the auditor as well does not.
    const answer = await operator.client.transparency.state({ query: { name: vaultName(vaultId) } })
    const { org, origin, logVkeys } = anchorOf()
    const pin = { org, origin, logKeys: logVkeys, seen: null }
    const freshness = { now: Date.now(), maxStaleMs: 60_000 }
    await expect(
      verifyTransparency(answer, { ...pin, witnessPolicy: 'quorum none\n' }, freshness),
    ).resolves.toBeDefined()
    const witnessPolicy = both(witness.cosigner.vkey, auditor.cosigner.vkey)
    await expect(verifyTransparency(answer, { ...pin, witnessPolicy }, freshness)).rejects.toMatchObject({
      code: 'witness_quorum',
    })
  })

  it('is named with the rule it breaks: a key that nobody entitled brought in', async () => {
    const mallory = await identityOf('mallory', 'agent:ag_mallory')
    const endorser = await identityOf('malloryNext', 'user:ou_mallory')
    const event = await registerKey({ org: alice.orgId, caps: ['agent'], at: Date.now() }, endorser, mallory)
    const { kid } = mallory
    const index = await size()
    const state = { kid, status: 'active', added: index, end: null, rec: 'A'.repeat(43), capSets: [] }
    await forgeLeaf(h, alice.orgId, { t: 'key.add', docs: [event], updates: [{ name: `kid/${kid}`, state }] })
    // The endorser is nobody, so its signature counts as none (2.3).
    const refused = newAuditor().look(sourceOf())
    await expect(refused).rejects.toMatchObject({ evidence: { leafIndex: index, rule: 'missing_signature' } })
  })

  it('that changes more than its documents ask breaks bad_transition', async () => {
    const identity = await identityOf('worker', 'agent:ag_worker')
    const event = await registerKey({ org: alice.orgId, caps: ['agent'], at: Date.now() }, alice.identity, identity)
    const index = await size()
    const updates = [{ name: vaultName(vaultId), state: { ...(await vaultState()), headVersion: 77 } }]
    await forgeLeaf(h, alice.orgId, { t: 'key.add', docs: [event], updates })
    await expect(newAuditor().look(sourceOf())).rejects.toMatchObject({
      evidence: { leafIndex: index, rule: 'bad_transition' },
    })
  })
})

describe('a log that is not the one that was cosigned', () => {
  const another = async (at: number): Promise<LogSource> => {
    const note = await signAsLog(h, alice.orgId, { size: at, root: new Uint8Array(32).fill(9) })
    return { ...sourceOf(), newest: async () => note, since: async () => ({ note, proof: [] }) }
  }
  const shorter = async (): Promise<LogSource> => {
    const note = await sourceOf().checkpointOf(2)
    return { ...sourceOf(), newest: async () => note }
  }

  it('has another root for the same size: refused by both as a fork', async () => {
    const [witness, auditor] = [newWitness(), newAuditor()]
    await lookAt(witness)
    await auditor.look(sourceOf())
    const forked = await another(await size())
    const refused = { name: 'Contradiction', evidence: { code: 'log_fork', served: await forked.newest() } }
    await expect(lookAt(witness, forked)).rejects.toMatchObject(refused)
    await expect(auditor.look(forked)).rejects.toMatchObject(refused)
    await expect(newAuditor().look(forked)).rejects.toThrow()
    await expect(lookAt(witness, await another((await size()) + 1))).rejects.toMatchObject({ name: 'Contradiction' })
    expect((await lookAt(witness)).size).toBe(await size())
    expect((await auditor.look(sourceOf())).size).toBe(await size())
  })

  it('is shorter than it was: refused by both, and by an auditor who was told the least size', async () => {
    const [witness, auditor] = [newWitness(), newAuditor()]
    await lookAt(witness)
    await auditor.look(sourceOf())
    const refused = { name: 'Contradiction', evidence: { code: 'log_rollback' } }
    await expect(lookAt(witness, await shorter())).rejects.toMatchObject(refused)
    for (const one of [auditor, newAuditor()]) await expect(one.look(await shorter())).rejects.toMatchObject(refused)
    const { root } = peekCheckpoint(await sourceOf().newest())
    const minimum = { size: await size(), root: Buffer.from(root).toString('base64url') }
    const told = newAuditor(formatTrustAnchor({ ...anchorOf(), minimum }), 'told')
    await expect(told.look(await shorter())).rejects.toMatchObject(refused)
  })

  it('has another past and has grown since: refused as a fork, also by an auditor that never stopped', async () => {
    const auditor = newAuditor()
    await auditor.look(sourceOf())
    const known = await size()
    const leaves = [...(await sourceOf().leaves(0, known))]
    // The last leaf but one is left out, and others follow.
    const past = [...leaves.slice(0, -2), ...leaves.slice(-1), ...leaves.slice(-3)]
    let frontier: Frontier = EMPTY_FRONTIER
    for (const { leaf } of past) frontier = appendLeaf(frontier, leafHash(leaf)).frontier
    const note = await signAsLog(h, alice.orgId, { size: past.length, root: frontierRoot(frontier) })
    const rewritten: LogSource = {
      ...sourceOf(),
      newest: async () => note,
      leaves: async (start, end) => past.slice(start, end),
    }
    const refused = { name: 'Contradiction', evidence: { code: 'log_fork' } }
    await expect(auditor.look(rewritten)).rejects.toMatchObject(refused)
    await expect(newAuditor().look(rewritten)).rejects.toMatchObject(refused)
  })
})

describe('the programs', () => {
  const { STRONGROOM_API_KEY: _, ...clean } = process.env

  async function programs() {
    const { origin, logVkeys } = anchorOf()
    const key = async (program: string, name: string) =>
      (await run(program, ['key', join(directory, `${name}.pem`), '--name', `${name}.example/1`])).stdout.trim()
    const vkeys = [await key(WITNESS, 'witness'), await key(AUDITOR, 'auditor')]
    await alice.client.transparency.setWitnesses({ body: { witnesses: vkeys.map((vkey) => ({ vkey })) } })
    writeFileSync(join(directory, 'api-key'), `${operator.apiKey}\n`, { mode: 0o600 })
    const common = (name: string) => ({ name: `${name}.example/1`, key: `${name}.pem`, state: name, server: h.url })
    const logs = logVkeys.map((vkey) => ({ origin, vkey }))
    const witness = writeConfig(directory, { ...common('witness'), logs }, 'witness.json')
    const auditor = writeConfig(directory, { ...common('auditor'), anchor: alice.trustAnchor }, 'auditor.json')
    const once = (program: string, config: string) =>
      run(program, ['follow', '--config', config, '--once'], {
        ...clean,
        STRONGROOM_API_KEY_FILE: join(directory, 'api-key'),
      })
    return { vkeys, witness: () => once(WITNESS, witness), auditor: () => once(AUDITOR, auditor), config: auditor }
  }

  it('bring their cosignatures to the server, and end with 3 and the evidence at a false leaf', async () => {
    const { vkeys, witness, auditor } = await programs()
    expect(await witness()).toMatchObject({ code: 0, stdout: '' })
    expect(await auditor()).toMatchObject({ code: 0, stdout: '' })
    const { checkpoint } = await operator.client.transparency.checkpoint()
    for (const vkey of vkeys) expect(checkpoint).toContain(`\u2014 ${vkey.split('+')[0]} `)
    const leafIndex = await forgeRollback()
    expect((await witness()).code).toBe(0)
    const refused = await auditor()
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain(`leaf ${leafIndex} breaks the rule head_conflict`)
    expect(readdirSync(join(directory, 'auditor'))).toContain('refused.json')
    expect((await auditor()).code).toBe(3)
    const cosigned = (await operator.client.transparency.checkpoint()).checkpoint
    expect(cosigned).toContain('\u2014 witness.example/1 ')
    expect(cosigned).not.toContain('\u2014 auditor.example/1 ')
  })

  it('end with 2 without a credential, and with 5 where the server refuses them', async () => {
    const { config } = await programs()
    const bare = await run(AUDITOR, ['follow', '--config', config, '--once'], clean)
    expect(bare.code).toBe(2)
    const wrong = await run(AUDITOR, ['follow', '--config', config, '--once'], { ...clean, STRONGROOM_API_KEY: 'x.y' })
    expect(wrong.code).toBe(5)
    expect(wrong.stderr).not.toContain('x.y')
  })
})
