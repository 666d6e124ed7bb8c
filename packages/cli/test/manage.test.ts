import { memoryTrust, Strongroom } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf } from '../../server/test/people.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a change without asking, a grant to a name that two have, an own entry lost in passing, a value in the output of
// commands that show what there is, words on standard output, an answer that its schema does not describe, a list
// of archived items that shows the active ones. Seen red: the current item, and the current value, for that of a
// version; ids for names of signers; a vault restored under a name that is taken; what a compromised key signed signed anew without asking.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
})
afterAll(() => world.close())

/** The founder beside the command line. */
function founderClient(): Strongroom {
  const { accessToken, identity: privateKey, trustAnchor } = world.founder
  return new Strongroom({
    server: world.url,
    accessToken,
    privateKey,
    trustAnchor,
    trustStore: memoryTrust(),
    cache: false,
  })
}

interface Vault {
  readonly vaultId: string
  readonly name: string
  readonly status: string
  readonly classification: string
}
interface Entry {
  readonly principal: string
  readonly role: string
}

const refused = async (args: readonly string[], code: string, exitCode: number): Promise<void> => {
  const ended = await machine.call([...args, '--json'])
  expect(ended.stdout).toBe('')
  expect(ended.error()).toMatchObject({ code, exitCode })
  expect(ended.code).toBe(exitCode)
}

it('makes, lists, renames, classifies, archives and restores vaults; asks before one is put away', async () => {
  const made = await jsonOf<Vault>(machine, ['vault', 'create', 'tmp', '--class', 'restricted'])
  expect(made).toMatchObject({ name: 'tmp', classification: 'restricted' })
  expect(await jsonOf<Vault>(machine, ['vault', 'rename', 'tmp', 'old'])).toMatchObject({ name: 'old' })
  expect(await jsonOf<Vault>(machine, ['vault', 'classify', 'old', 'internal'])).toMatchObject({
    classification: 'internal',
  })
  const listed = await machine.call(['vault', 'list'])
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout).toMatch(/^NAME +ROLE +ITEMS/)
  await refused(['vault', 'archive', 'old'], 'confirmation_required', 2)
  expect(await jsonOf<Vault>(machine, ['vault', 'show', 'old'])).toMatchObject({ status: 'active' })
  expect(await jsonOf(machine, ['vault', 'archive', 'old', '--yes'])).toEqual({ archived: made.vaultId })
  expect((await jsonOf<Vault[]>(machine, ['vault', 'list'])).map(({ name }) => name)).not.toContain('old')
  expect((await jsonOf<Vault[]>(machine, ['vault', 'list', '--archived'])).map(({ name }) => name)).toContain('old')
  await refused(['vault', 'restore', 'never'], 'vault_not_found', 5)
  await jsonOf<Vault>(machine, ['vault', 'create', 'old'])
  await refused(['vault', 'restore', 'old'], 'name_taken', 6)
  await jsonOf<Vault>(machine, ['vault', 'rename', 'old', 'rival'])
  expect(await jsonOf<Vault>(machine, ['vault', 'restore', 'old'])).toMatchObject({ status: 'active', name: 'old' })
  await refused(['vault', 'restore', made.vaultId], 'vault_not_archived', 6)
  await refused(['vault', 'show', 'never'], 'vault_not_found', 5)
})

it('shows items with labels and versions, edits and moves them, and never prints a value', async () => {
  await jsonOf(machine, ['vault', 'create', 'staging'])
  await jsonOf(machine, ['vault', 'create', 'prod'])
  await jsonOf(machine, ['item', 'create', 'staging/stripe', '--website', 'https://stripe.com'])
  const client = founderClient()
  await client.secrets.set('sr://staging/stripe/key', 'sk_canary_4711')
  const shown = await machine.call(['item', 'show', 'staging/stripe'])
  expect(shown.stdout).toContain('key')
  expect(shown.stdout).not.toContain('canary')
  const renamed = ['item', 'edit', 'staging/stripe', '--rename-field', 'key=STRIPE_KEY', '--env', 'STRIPE_KEY']
  const edited = await jsonOf<{ fields: { label: string; isEnvironmentVariable: boolean }[] }>(machine, renamed)
  expect(edited.fields).toMatchObject([{ label: 'STRIPE_KEY', isEnvironmentVariable: true }])
  await refused(['item', 'edit', 'staging/stripe', '--env', 'absent'], 'field_not_found', 5)
  await jsonOf(machine, ['item', 'move', 'staging/stripe', 'prod'])
  expect(await jsonOf<unknown[]>(machine, ['item', 'list', 'staging'])).toEqual([])
  expect((await client.secrets.get('sr://prod/stripe/STRIPE_KEY')).reveal()).toBe('sk_canary_4711')
  const proof = await machine.call(['log', 'prove', 'prod/stripe/STRIPE_KEY', '--json'])
  expect(proof.json().data).toMatchObject({ inclusion: 'verified' })
  expect(proof.stdout).not.toContain('canary')
  await jsonOf(machine, ['item', 'archive', 'prod/stripe', '--yes'])
  await refused(['item', 'show', 'prod/stripe'], 'vault_item_not_found', 5)
  expect(await jsonOf<unknown[]>(machine, ['item', 'list', 'prod', '--archived'])).toMatchObject([{ name: 'stripe' }])
  await refused(['item', 'restore', 'prod/other'], 'vault_item_not_found', 5)
  const back = await machine.call(['item', 'restore', 'prod/stripe'])
  expect(back).toMatchObject({ code: 0 })
  expect(back.stdout).toContain('STRIPE_KEY')
  expect(back.stdout).not.toContain('canary')
  expect((await client.secrets.get('sr://prod/stripe/STRIPE_KEY')).reveal()).toBe('sk_canary_4711')
})

it('shows the versions of an item, reads what it was, and restores it; only `read` gives a value', async () => {
  await jsonOf(machine, ['vault', 'create', 'past'])
  const client = founderClient()
  for (const value of ['first_canary', 'second_canary']) await client.secrets.set('sr://past/db/URL', value)
  const history = await machine.call(['item', 'history', 'past/db'])
  const row = (version: number): string => ` +${version} .* Alice@Example\\.com \\([a-z2-7]{32}\\) +URL +yes\n`
  expect(history.stdout).toMatch(new RegExp(`VERSION +WRITTEN +SIGNED BY +FIELDS +READABLE\n${row(2)}${row(1)}`))
  await jsonOf(machine, ['vault', 'signers', 'past'])
  expect((await machine.call(['vault', 'signers', 'past'])).stdout).toMatch(
    /^Alice@Example\.com \([a-z2-7]{32}\) +active/m,
  )
  expect(await jsonOf<unknown[]>(machine, ['item', 'history', 'past/db'])).toMatchObject([
    { version: 2, isReadable: true, labels: ['URL'] },
    { version: 1, isReadable: true, name: 'db' },
  ])
  const shown = await machine.call(['item', 'show', 'past/db', '--version', '1', '--json'])
  expect(shown.json().data).toMatchObject({ version: 1, fields: [{ label: 'URL', version: 1 }] })
  expect(await jsonOf(machine, ['read', 'past/db/URL', '--version', '1'])).toMatchObject({ value: 'first_canary' })
  await refused(['read', 'past/db/OTHER', '--version', '1'], 'field_not_found', 5)
  await refused(['item', 'show', 'past/db', '--version', '3'], 'item_version_not_found', 5)
  const restored = await machine.call(['item', 'restore', 'past/db', '--version', '1'])
  expect(restored.stderr).toContain('strongroom item restore past/db --version 2')
  expect((await client.secrets.get('sr://past/db/URL')).reveal()).toBe('first_canary')
  await refused(['item', 'restore', 'past/db', '--version', '1'], 'validation_failed', 6)
  for (const { stdout } of [history, shown, restored]) expect(stdout).not.toContain('canary')
})

it('changes access by one entry, names who it went to, and keeps the caller from locking themselves out', async () => {
  await jsonOf(machine, ['vault', 'create', 'shared'])
  const bot = await world.h.agent(world.founder, ['machine.all'])
  const own = `user:${world.founder.userId}`
  await refused(['vault', 'share', 'shared', '--with', 'nobody'], 'principal_not_found', 5)
  await refused(['access', 'grant', `agent:${bot.agentId}`, 'read'], 'usage', 2)
  // Its key is not in the log: there is nothing to wrap the vault key for.
  expect((await machine.call(['vault', 'share', 'shared', '--with', `agent:${bot.agentId}`])).code).not.toBe(0)
  await refused(['access', 'revoke', own, '--vault', 'shared'], 'last_admin', 6)
  expect(await jsonOf<Entry[]>(machine, ['access', 'list', '--vault', 'shared'])).toMatchObject([
    { principal: own, role: 'ADMIN' },
  ])
  expect(await jsonOf(machine, ['access', 'explain', own, 'shared'])).toMatchObject({
    canDecrypt: true,
    canShare: true,
  })
  const deploy = await founderClient().agents.create({ name: 'deploy', keys: { material: keysOf('bob') } })
  const principal = `agent:${deploy.agent.agentId}`
  const granted = await jsonOf<Entry[]>(machine, ['vault', 'share', 'shared', '--with', 'deploy'])
  expect(granted).toContainEqual({ principal, role: 'READ', name: 'deploy' })
  const explained = () => jsonOf(machine, ['access', 'explain', 'deploy', 'shared'])
  expect(await explained()).toMatchObject({ canDecrypt: true, canWrite: false })
  expect(await jsonOf<Entry[]>(machine, ['vault', 'unshare', 'shared', '--with', 'deploy'])).toHaveLength(1)
  expect(await explained()).toMatchObject({ canDecrypt: false })
  expect(await jsonOf<unknown[]>(machine, ['access', 'who-can-decrypt', 'shared/any/thing'])).toHaveLength(1)
})

it('lists what a compromised key signed last, asks, and signs it anew for everybody', async () => {
  await jsonOf(machine, ['vault', 'create', 'written'])
  const { agent, bundle } = await founderClient().agents.create({
    name: 'writer',
    keys: { material: keysOf('carol') },
    vaults: [{ vault: 'written', role: 'write' }],
  })
  const writer = new Strongroom({ bundle: bundle.reveal(), trustStore: memoryTrust(), cache: false })
  await writer.items.create('written', { name: 'app', fields: [{ label: 'KEY', value: 'theirs' }] })
  const [key] = await founderClient().transparency.keys(`agent:${agent.agentId}`)
  const by = String(key?.keyId)
  await founderClient().agents.revokeKey(by, 'compromised')
  const read = await machine.call(['read', 'written/app/KEY', '--json'])
  expect(read.error()).toMatchObject({
    ...{ code: 'signer_compromised', exitCode: 9 },
    hint: 'strongroom vault attest VAULT',
  })
  await refused(['vault', 'attest', 'written'], 'confirmation_required', 2)
  const attested = await machine.call(['vault', 'attest', 'written', '--yes'])
  expect(attested.stderr).toMatch(
    /^the vault as a whole {3}last signed by writer \(.+\)\napp \(KEY\) {3}last signed by writer \(/m,
  )
  expect(attested.stdout).toContain('✓ written is signed by you')
  expect((await machine.call(['read', 'written/app/KEY'])).stdout).toBe('theirs')
  const again = await jsonOf(machine, ['vault', 'attest', 'written', '--yes'])
  expect(again).toMatchObject({ name: 'written', head: null, access: null, items: [] })
})

it('makes projects of vaults, verified, by slug', async () => {
  await jsonOf(machine, ['vault', 'create', 'web'])
  const made = ['project', 'create', 'Storefront', '--slug', 'storefront', '--vault', 'web']
  expect(await jsonOf(machine, made)).toMatchObject({ slug: 'storefront', isVerified: true })
  expect((await machine.call(['project', 'show', 'storefront'])).stdout).toContain('web')
  expect(await jsonOf(machine, ['project', 'rename', 'storefront', '--name', 'Shop'])).toMatchObject({ name: 'Shop' })
  expect(await jsonOf(machine, ['project', 'link', 'storefront'])).toMatchObject({ vaultIds: [] })
  expect(await jsonOf<unknown[]>(machine, ['project', 'list'])).toHaveLength(1)
  await refused(['project', 'show', 'nothing'], 'project_not_found', 5)
  await jsonOf(machine, ['project', 'archive', 'storefront', '--yes'])
})

it('shows a project that a compromised key signed last, asks, and signs it anew', async () => {
  const { agent, bundle } = await founderClient().agents.create({
    name: 'planner',
    keys: { material: keysOf('dave') },
    permissions: ['machine.all'],
  })
  const planner = new Strongroom({ bundle: bundle.reveal(), trustStore: memoryTrust(), cache: false })
  await planner.projects.create({ name: 'Planned', slug: 'planned' })
  const own = `user:${world.founder.userId}`
  await planner.permissions.grant({ project: 'planned' }, { principal: own, role: 'ADMIN' })
  const sound = await machine.call(['project', 'attest', 'planned'])
  expect(sound.stdout).toContain('✓ nothing in Planned has to be signed anew')
  const [key] = await founderClient().transparency.keys(`agent:${agent.agentId}`)
  await founderClient().agents.revokeKey(String(key?.keyId), 'compromised')
  const show = await machine.call(['project', 'show', 'planned', '--json'])
  expect(show.error()).toMatchObject({
    ...{ code: 'signer_compromised', exitCode: 9 },
    hint: 'strongroom project attest PROJECT',
  })
  await refused(['project', 'attest', 'planned'], 'confirmation_required', 2)
  const attested = await machine.call(['project', 'attest', 'planned', '--yes'])
  expect(attested.stderr).toMatch(/administered by +planner, .*\n.*last signed by +planner \(/)
  expect(attested.stdout).toContain('✓ Planned is signed by you')
  expect(await jsonOf(machine, ['project', 'show', 'planned'])).toMatchObject({ slug: 'planned', isVerified: true })
  expect(await jsonOf(machine, ['project', 'attest', 'planned'])).toMatchObject({ content: null, admins: null })
})
