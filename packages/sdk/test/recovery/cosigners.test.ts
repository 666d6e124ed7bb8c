import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { documentHash, parseTrustAnchor } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../server/test/harness.ts'
import { backup, restore } from '../../../server/test/operator.ts'
import { operatorOf } from '../../../server/test/operator-seed.ts'
import { FOUNDER, foundOrg } from '../../../server/test/people.ts'
import { seedOperator } from '../../../server/test/principals.ts'
import { edit, makeVault, writeItems } from '../../../server/test/vault-writer.ts'
import { createClient } from '../../src/client.ts'
import { makeAuditor } from '../../src/monitor/auditor.ts'
import { makeCosigner } from '../../src/monitor/cosigner.ts'
import { apiSource } from '../../src/monitor/log-source.ts'
import { openRecord } from '../../src/monitor/record.ts'
import { acceptRecovery } from '../../src/monitor/recovery.ts'
import { type FirstPerson, login } from '../../src/people.ts'
import { makeRecoveryStatement, sendRecovery } from '../../src/people-recovery.ts'
import { AUDITOR, type Ended, newDirectory, run, WITNESS, writeConfig } from '../monitor/processes.ts'
import { makeSigner } from '../monitor/small-log.ts'

// Witness and auditor when the server is restored from a backup: programs as an operator runs them, and an auditor that never
// stopped. Catches: a cosigner that goes on with a shorter log by itself, or never again; a statement that serves twice.
// Seen red: the statement of another hash taken, the use of a statement not kept, the replay kept over a recovery, a hash that begins with a
// dash taken for an option.

const REFUSED = 4
const FAILED = 1
const directory = newDirectory()
const archive = join(directory, 'yesterday.srb')
let source: Harness
let target: Harness
let url: string
let closeServer: () => Promise<void>
let alice: FirstPerson
let apiKey: string
let statement: string

const NAMES = ['witness', 'auditor'] as const
const PROGRAMS = { witness: WITNESS, auditor: AUDITOR }

function configure(server: string): void {
  const { origin, logVkeys } = parseTrustAnchor(alice.trustAnchor)
  const common = (name: string) => ({ name: `${name}.example/1`, key: `${name}.pem`, state: name, server })
  const logs = logVkeys.map((vkey) => ({ origin, vkey }))
  writeConfig(directory, { ...common('witness'), logs }, 'witness.json')
  writeConfig(directory, { ...common('auditor'), anchor: alice.trustAnchor }, 'auditor.json')
}

const program = (name: (typeof NAMES)[number], ...args: readonly string[]): Promise<Ended> =>
  run(PROGRAMS[name], [...args, '--config', join(directory, `${name}.json`)], { STRONGROOM_API_KEY: apiKey })
const look = (name: (typeof NAMES)[number]): Promise<Ended> => program(name, 'follow', '--once')
const recover = (name: (typeof NAMES)[number], hash: string): Promise<Ended> =>
  program(name, 'recover', '--statement', hash, ...(name === 'witness' ? ['--anchor', alice.trustAnchor] : []))

const living = () => {
  const stateDirectory = join(directory, 'living')
  const record = openRecord(stateDirectory)
  const cosigner = makeCosigner('living.example/1', makeSigner())
  return {
    record,
    directory: stateDirectory,
    auditor: makeAuditor({ cosigner, anchor: alice.trustAnchor, record, directory: stateDirectory }),
  }
}
let survivor: ReturnType<typeof living>
const sourceAt = (baseUrl: string) => createClient({ baseUrl, apiKey })

beforeAll(async () => {
  source = await startHarness()
  target = await startHarness()
  alice = await foundOrg(source)
  const operator = await seedOperator(source, alice)
  apiKey = operator.apiKey
  const vkeys: string[] = []
  for (const name of NAMES) {
    const { stdout } = await run(PROGRAMS[name], ['key', join(directory, `${name}.pem`), '--name', `${name}.example/1`])
    vkeys.push(stdout.trim())
  }
  await alice.client.transparency.setWitnesses({ body: { witnesses: vkeys.map((vkey) => ({ vkey })) } })
  configure(source.url)
  survivor = living()
  const vaultId = await makeVault(alice)
  await backup(operatorOf(source), archive)
  await writeItems(alice, vaultId, [edit('itm_one', { TOKEN: 'one' })])
  await writeItems(alice, vaultId, [edit('itm_two', { TOKEN_TWO: 'two' })])
  for (const name of NAMES) expect((await look(name)).code).toBe(0)
  await survivor.auditor.look(apiSource(sourceAt(source.url)))

  await restore(operatorOf(target), archive)
  const started = await target.sibling()
  url = started.url
  closeServer = started.close
  configure(url)
}, 180_000)
afterAll(async () => {
  await closeServer()
  await source.close()
  await target.close()
  rmSync(directory, { recursive: true, force: true })
})

it('cosign nothing of a restored log, before and after its statement', { timeout: 180_000 }, async () => {
  for (const name of NAMES) expect((await look(name)).code).toBe(REFUSED)
  const { passphrase, email } = FOUNDER
  const { deviceSecret } = alice.codes
  const admin = await login({ baseUrl: url, email, passphrase, deviceSecret, trustAnchor: alice.trustAnchor })
  const made = await makeRecoveryStatement(admin, { reason: 'disk failure', lost: { size: 99 } })
  await sendRecovery(admin, made)
  statement = documentHash(made)
  for (const name of NAMES) expect((await look(name)).code).toBe(REFUSED)
  const source = apiSource(sourceAt(url))
  await expect(survivor.auditor.look(source)).rejects.toMatchObject({ name: 'Contradiction' })
})

it('go on when their operator names the statement, and only that one', { timeout: 180_000 }, async () => {
  for (const name of NAMES) {
    // One hash in 64 begins like an option.
    const other = await recover(name, `-${'A'.repeat(42)}`)
    expect([other.code, other.stderr]).toEqual([FAILED, expect.stringContaining('no recovery')])
    expect((await look(name)).code).toBe(REFUSED)
    expect(await recover(name, statement)).toMatchObject({ code: 0, stdout: '' })
    expect(await look(name)).toMatchObject({ code: 0 })
  }
})

it('take a statement for one restore', { timeout: 180_000 }, async () => {
  for (const name of NAMES) {
    const again = await recover(name, statement)
    expect([again.code, again.stderr]).toEqual([FAILED, expect.stringContaining('accepted before')])
  }
})

it('replay the restored log from its first leaf, also where the auditor never stopped', async () => {
  const client = sourceAt(url)
  const { record, directory: stateDirectory, auditor } = survivor
  const accepted = await acceptRecovery({
    anchor: alice.trustAnchor,
    statement,
    record,
    directory: stateDirectory,
    client,
  })
  expect(await auditor.look(apiSource(client))).toMatchObject({ size: accepted.size })
})
