import { orgTrustOf, textValue, valueText } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { type Actor, type ActorOptions, makeActor } from '../../src/engine/actor.ts'
import { readEnvironment } from '../../src/engine/environment.ts'
import type { NewItem } from '../../src/engine/item-changes.ts'
import { listItems, readItem } from '../../src/engine/items.ts'
import { moveItem } from '../../src/engine/move-item.ts'
import { readVault } from '../../src/engine/vaults.ts'
import { changeItems, importItems } from '../../src/engine/write-items.ts'
import { archiveVault, createVault, renameVault } from '../../src/engine/write-vaults.ts'
import { actorFor, makeWire, startServer, type TestServer, type Wire } from './server.ts'

// Catches: success reported for a commit that is not in the log, a lost answer that makes a change twice or not at all, a conflict
// whose material is believed, a rebase that drops what others wrote, writers that starve.

let server: TestServer
let alice: Actor
beforeAll(async () => {
  server = await startServer()
  alice = await actorFor(server, server.founder)
})
afterAll(() => server.close())

/** The founder on a device of their own. */
async function device(options: Partial<ActorOptions> = {}): Promise<{ actor: Actor; wire: Wire }> {
  const { wire, fetch } = makeWire()
  const client = createClient({ baseUrl: server.url, accessToken: server.founder.accessToken, fetch })
  return { actor: await actorFor(server, { client, identity: server.founder.identity, ...options }), wire }
}

const item = (name: string, fields: Readonly<Record<string, string>> = {}): NewItem => ({
  name,
  fields: Object.entries(fields).map(([label, value]) => ({
    label,
    env: label === label.toUpperCase(),
    value: textValue(value),
  })),
})
const fieldOf = (fields: readonly { fieldId: string; label: string }[], label: string): string =>
  fields.find((field) => field.label === label)?.fieldId ?? ''
const environmentOf = async (vaultId: string): Promise<Record<string, string>> => {
  const { actor } = await device()
  const { variables } = await readEnvironment(actor, vaultId)
  return Object.fromEntries(variables.map(({ label, value }) => [label, valueText(value)]))
}
const valuesOf = async (vaultId: string, itemId: string): Promise<Record<string, string>> => {
  const { fields } = await readItem((await device()).actor, vaultId, itemId)
  return Object.fromEntries(fields.map(({ label, value }) => [label, valueText(value)]))
}
async function vaultWith(fields: Readonly<Record<string, string>>) {
  const { vaultId } = await createVault(alice, { name: 'payments' })
  const { items } = await changeItems(alice, vaultId, { create: [item('service', fields)] })
  const [written] = items as readonly [(typeof items)[number]]
  return { vaultId, itemId: written.itemId, fields: written.fields }
}

it('creates, renames and archives a vault, each proven to be in the log', async () => {
  const created = await createVault(alice, { name: 'one', classification: 'restricted' })
  const { vaultId } = created
  expect(created.head.vault.state.headIndex).toBe(created.index)
  const renamed = await renameVault(alice, vaultId, { name: 'two' })
  expect(renamed.receipt).toMatchObject({ vaultId, headVersion: 2, signer: alice.identity.kid })
  expect(await readVault((await device()).actor, vaultId)).toMatchObject({ name: 'two', classification: 'restricted' })
  await archiveVault(alice, vaultId)
  expect((await readVault(alice, vaultId)).status).toBe('archived')
  await expect(renameVault(alice, vaultId, { name: 'three' })).rejects.toMatchObject({ code: 'vault_archived' })
})

it('creates, edits, renames, re-flags, adds, removes and archives, and reads nothing twice', async () => {
  const { actor, wire } = await device()
  const { vaultId } = await createVault(actor, { name: 'series' })
  const { items } = await changeItems(actor, vaultId, {
    create: [item('a', { KEY: 'k', note: 'n', OLD: 'o' }), item('b')],
  })
  const [a, b] = items as readonly [(typeof items)[number], (typeof items)[number]]
  wire.asked.length = 0
  const edited = await changeItems(actor, vaultId, {
    edit: [
      {
        itemId: a.itemId,
        name: 'renamed',
        edit: [{ fieldId: fieldOf(a.fields, 'KEY'), value: textValue('k2') }],
        add: [{ label: 'MORE', env: true, value: textValue('m') }],
        remove: [fieldOf(a.fields, 'OLD')],
      },
    ],
  })
  expect(wire.asked).toEqual([`PATCH /vault-item/${a.itemId}/update`])
  expect(edited.items).toMatchObject([{ itemId: a.itemId, itemVersion: 2, name: 'renamed' }])
  expect(await environmentOf(vaultId)).toEqual({ KEY: 'k2', MORE: 'm' })
  await changeItems(actor, vaultId, {
    edit: [{ itemId: a.itemId, edit: [{ fieldId: fieldOf(a.fields, 'note'), label: 'NOTE', env: true }] }],
  })
  expect(await environmentOf(vaultId)).toEqual({ KEY: 'k2', MORE: 'm', NOTE: 'n' })
  wire.asked.length = 0
  await changeItems(actor, vaultId, { archive: [a.itemId], create: [item('c', { KEY: 'again' })] })
  expect(wire.asked).toEqual([`POST /vault/${vaultId}/commits`])
  await changeItems(actor, vaultId, { archive: [b.itemId] })
  expect(await environmentOf(vaultId)).toEqual({ KEY: 'again' })
  const { items: rows } = await listItems((await device()).actor, vaultId)
  expect(rows.map(({ name, status }) => [name, status]).sort()).toEqual([
    ['b', 'archived'],
    ['c', 'active'],
    ['renamed', 'archived'],
  ])
})

it('refuses before sending what cannot be: an item or a field that is not there, one twice, a label twice', async () => {
  const { vaultId, itemId } = await vaultWith({ KEY: 'k' })
  const { actor, wire } = await device()
  await listItems(actor, vaultId)
  const refused = (edits: Parameters<typeof changeItems>[2]) => changeItems(actor, vaultId, edits)
  await expect(refused({ archive: ['itm_absent0000'] })).rejects.toMatchObject({ code: 'vault_item_not_found' })
  await expect(refused({ edit: [{ itemId, remove: ['fld_absent0000'] }] })).rejects.toMatchObject({
    code: 'field_not_found',
  })
  await expect(refused({ archive: [itemId, itemId] })).rejects.toMatchObject({ code: 'malformed' })
  await expect(refused({ create: [item('x', { KEY: 'two' })] })).rejects.toMatchObject({
    code: 'duplicate_label',
    details: { label: 'KEY' },
  })
  expect(wire.asked.filter((asked) => !asked.startsWith('GET'))).toEqual([])
})

it('rebases on what a conflict brings: both changes hold, and ciphertexts are not made twice', async () => {
  const { vaultId, itemId, fields } = await vaultWith({ ONE: '1', TWO: '2' })
  const [left, right] = [await device(), await device()]
  for (const { actor } of [left, right]) await readItem(actor, vaultId, itemId)
  for (const { actor } of [left, right]) await listItems(actor, vaultId)
  const edit = (label: string, value: string) => ({
    edit: [{ itemId, edit: [{ fieldId: fieldOf(fields, label), value: textValue(value) }] }],
  })
  expect((await changeItems(left.actor, vaultId, edit('ONE', 'left'))).rebases).toBe(0)
  const second = await changeItems(right.actor, vaultId, {
    ...edit('TWO', 'right'),
    create: [item('new', { NEW: 'n' })],
  })
  expect(second.rebases).toBe(1)
  expect(await environmentOf(vaultId)).toEqual({ ONE: 'left', TWO: 'right', NEW: 'n' })
  // The conflict itself brought all that was needed: between the refused try and the next one nothing was asked.
  expect(right.wire.asked.slice(-2)).toEqual(Array(2).fill(`POST /vault/${vaultId}/commits`))
  expect((await changeItems(left.actor, vaultId, edit('ONE', 'left again'))).rebases).toBe(1)
  expect(await environmentOf(vaultId)).toMatchObject({ ONE: 'left again', TWO: 'right' })
})

it('names what collided where both changed the same, and changes nothing', async () => {
  const { vaultId, itemId, fields } = await vaultWith({ ONE: '1' })
  const [left, right] = [await device(), await device()]
  for (const { actor } of [left, right]) {
    await listItems(actor, vaultId)
    await readItem(actor, vaultId, itemId)
  }
  const fieldId = fieldOf(fields, 'ONE')
  const edit = (value: string, name: string) => ({
    edit: [{ itemId, name, edit: [{ fieldId, value: textValue(value) }] }],
  })
  await changeItems(left.actor, vaultId, edit('left', 'by left'))
  await expect(changeItems(right.actor, vaultId, edit('right', 'by right'))).rejects.toMatchObject({
    code: 'rebase_conflict',
    details: {
      itemId,
      collisions: [
        { itemId, what: 'name' },
        { itemId, what: fieldId },
      ],
    },
  })
  expect(await environmentOf(vaultId)).toEqual({ ONE: 'left' })
  expect(orgTrustOf(await right.actor.trust.read(), right.actor.org).alarms).toEqual([])
  // Somebody who wants their value in any case says so; and what was refused does not stand in the way of the next change.
  await changeItems(left.actor, vaultId, edit('left again', 'by left'))
  await changeItems(right.actor, vaultId, edit('right', 'by right'), { collisions: 'overwrite' })
  expect(await environmentOf(vaultId)).toEqual({ ONE: 'right' })
  await changeItems(left.actor, vaultId, { create: [item('elsewhere')] })
  await changeItems(right.actor, vaultId, edit('right', 'by right'))
  expect(await environmentOf(vaultId)).toEqual({ ONE: 'right' })
})

it('reads again where a conflict brings nothing, and refuses one that lies', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const { actor, wire } = await device()
  await listItems(actor, vaultId)
  await changeItems(alice, vaultId, { create: [item('quicker', { Q: 'q' })] })
  type Refused = {
    error?: { code: string; details: { current: { changed: { detail: { payload: string } }[] } | null } }
  }
  const tampering = (
    change: (current: NonNullable<NonNullable<Refused['error']>['details']['current']>) => unknown,
  ) => {
    wire.tamper = (_, answer) => {
      const { error } = answer as Refused
      if (error?.code !== 'vault_head_conflict' || !error.details.current) return undefined
      return { error: { ...error, details: { ...error.details, current: change(error.details.current) } } }
    }
  }
  tampering((current) => ({ ...current, changed: [] }))
  const lied = changeItems(actor, vaultId, { create: [item('mine', { M: 'm' })] })
  await expect(lied).rejects.toMatchObject({ code: 'items_mismatch' })
  expect(orgTrustOf(await actor.trust.read(), actor.org).alarms).toMatchObject([{ code: 'items_mismatch' }])
  tampering(() => null)
  expect((await changeItems(actor, vaultId, { create: [item('mine', { M: 'm' })] })).rebases).toBe(1)
  expect(await environmentOf(vaultId)).toEqual({ ONE: '1', Q: 'q', M: 'm' })
})

it('makes a change once however many answers are lost, and also if others wrote in between', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const { actor, wire } = await device()
  await listItems(actor, vaultId)
  for (const others of [0, 1, 3]) {
    let lost = 0
    wire.after = async (asked) => {
      if (!asked.startsWith('POST') || lost >= 2) return
      lost += 1
      for (let i = 0; lost === 1 && i < others; i += 1)
        await changeItems(alice, vaultId, { create: [item(`other ${others} ${i}`)] })
      throw new TypeError('socket hang up')
    }
    const before = (await listItems(alice, vaultId)).items.length
    const written = await changeItems(actor, vaultId, { create: [item(`mine ${others}`)] })
    expect(lost).toBe(2)
    expect((await listItems(alice, vaultId)).items).toHaveLength(before + 1 + others)
    expect(written.items).toMatchObject([{ name: `mine ${others}`, itemVersion: 1 }])
  }
  wire.after = undefined
  await changeItems(actor, vaultId, { create: [item('still in step')] })
})

it('says that it does not know where no answer ever comes, and a hung server is asked again', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const { actor, wire } = await device({ policy: { maxResends: 2, timeoutMs: 2_000 } })
  await listItems(actor, vaultId)
  let sent = 0
  wire.before = (asked) => {
    if (!asked.startsWith('POST')) return
    sent += 1
    throw new TypeError('fetch failed')
  }
  await expect(changeItems(actor, vaultId, { create: [item('x')] })).rejects.toMatchObject({
    name: 'UncertainWriteError',
    vaultIds: [vaultId],
  })
  expect(sent).toBe(3)
  let isHung = true
  const hanging = createClient({
    baseUrl: server.url,
    accessToken: server.founder.accessToken,
    fetch: (input, init) => {
      if (init?.method !== 'POST' || !isHung) return fetch(input, init)
      isHung = false
      return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    },
  })
  const { identity, org, trust } = actor
  const patient = makeActor({ client: hanging, identity, org, trust, policy: { timeoutMs: 300 } })
  await changeItems({ ...patient, policy: { ...patient.policy, timeoutMs: 1_500 } }, vaultId, {
    create: [item('late')],
  })
  expect((await listItems(alice, vaultId)).items.map(({ name }) => name)).toContain('late')
})

it('ends at once where the caller gives up', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const { actor, wire } = await device()
  await listItems(actor, vaultId)
  const controller = new AbortController()
  wire.before = () => controller.abort(new Error('enough'))
  await expect(changeItems(actor, vaultId, { create: [item('x')] }, { signal: controller.signal })).rejects.toThrow()
  expect(wire.asked.filter((asked) => asked.startsWith('POST'))).toEqual([])
})

it('reports no success for a receipt that does not prove the change', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const cases: readonly (readonly [string, (receipt: { index: number; signed: object }, stale: unknown) => unknown])[] =
    [
      ['bad_inclusion', (receipt) => ({ ...receipt, index: receipt.index - 1 })],
      ['malformed', (receipt) => ({ ...receipt, index: 'x' })],
      ['malformed', ({ index }) => ({ index })],
      ['log_rollback', ({ index }, stale) => ({ index, signed: stale })],
    ]
  for (const [code, lie] of cases) {
    const { actor, wire } = await device()
    await listItems(actor, vaultId)
    const { signed: stale } = await actor.client.vaults.get({ params: { vaultId } })
    await changeItems(actor, vaultId, { create: [item('moves the pin')] })
    wire.tamper = (asked, answer) =>
      asked.startsWith('POST') ? lie(answer as { index: number; signed: object }, stale) : undefined
    await expect(changeItems(actor, vaultId, { create: [item('x')] })).rejects.toMatchObject({ code })
    expect(orgTrustOf(await actor.trust.read(), actor.org).alarms).toMatchObject([{ code }])
  }
})

it('refuses success where the server did nothing and shows the vault as it was', async () => {
  const { vaultId } = await vaultWith({ ONE: '1' })
  const { actor } = await device()
  const { index } = await changeItems(actor, vaultId, { create: [item('first')] })
  const swallowed: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init)
    const { signed } = await actor.client.vaults.get({ params: { vaultId } })
    return Response.json({ index, vault: {}, signed }, { status: 201 })
  }
  const client = createClient({ baseUrl: server.url, accessToken: server.founder.accessToken, fetch: swallowed })
  await expect(changeItems({ ...actor, client }, vaultId, { create: [item('never')] })).rejects.toMatchObject({
    code: 'bad_inclusion',
  })
})

it('moves an item in one leaf: encrypted anew, with the same ids, and gone from where it was', async () => {
  const source = await vaultWith({ KEY: 'k', note: 'n' })
  const target = await createVault(alice, { name: 'target' })
  const { actor } = await device()
  const move = { itemId: source.itemId, from: source.vaultId, to: target.vaultId }
  await listItems(actor, source.vaultId)
  await listItems(actor, target.vaultId)
  // Both vaults have moved on since they were read.
  await changeItems(alice, source.vaultId, { create: [item('left behind', { LEFT: 'l' })] })
  await changeItems(alice, target.vaultId, { create: [item('was there', { THERE: 't' })] })
  const moved = await moveItem(actor, move)
  expect(moved.rebases).toBeGreaterThan(0)
  expect(moved.from.head.vault.state.headIndex).toBe(moved.index)
  expect(moved.to.head.vault.state.headIndex).toBe(moved.index)
  expect(await environmentOf(source.vaultId)).toEqual({ LEFT: 'l' })
  expect(await environmentOf(target.vaultId)).toEqual({ KEY: 'k', THERE: 't' })
  expect(await valuesOf(target.vaultId, source.itemId)).toEqual({ KEY: 'k', note: 'n' })
  // A writer who knows the item in its old place learns that it is gone, and moving back works.
  const late = changeItems(alice, source.vaultId, { edit: [{ itemId: source.itemId, name: 'late' }] })
  await expect(late).rejects.toMatchObject({ code: 'vault_item_not_found' })
  await moveItem(alice, { itemId: source.itemId, from: target.vaultId, to: source.vaultId })
  expect(await environmentOf(source.vaultId)).toEqual({ KEY: 'k', LEFT: 'l' })
})

it('imports in batches of 500 and tells how far it is', async () => {
  const { vaultId } = await createVault(alice, { name: 'import' })
  const progress: (readonly [number, number])[] = []
  const items = Array.from({ length: 620 }, (_, i) => item(`item ${i}`, { [`KEY_${i}`]: `value ${i}` }))
  const { items: written, commits } = await importItems(alice, vaultId, items, {
    onProgress: (done, total) => progress.push([done, total]),
  })
  expect(progress).toEqual([
    [500, 620],
    [620, 620],
  ])
  expect([written.length, commits.length]).toEqual([620, 2])
  expect((await environmentOf(vaultId)).KEY_619).toBe('value 619')
})

it('lets writers of one process wait for each other instead of conflicting', async () => {
  const { vaultId } = await createVault(alice, { name: 'one process' })
  const { actor } = await device()
  const written = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      changeItems(actor, vaultId, { create: [item(`w${i}`, { [`W${i}`]: String(i) })] }),
    ),
  )
  expect(written.map(({ rebases }) => rebases)).toEqual(Array(8).fill(0))
  expect(Object.keys(await environmentOf(vaultId))).toHaveLength(8)
})

it('lets sixteen writers at once all succeed, each with at most eight rebases, and loses no update', async () => {
  const { vaultId, itemId } = await vaultWith({ BASE: 'b' })
  const writers = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const { actor } = await device()
      await listItems(actor, vaultId)
      return actor
    }),
  )
  // Half of them add to one item, half make items of their own.
  const written = await Promise.all(
    writers.map((actor, i) => {
      const field = { label: `FIELD_${i}`, env: true, value: textValue(`value ${i}`) }
      return changeItems(
        actor,
        vaultId,
        i % 2 ? { edit: [{ itemId, add: [field] }] } : { create: [{ name: `item ${i}`, fields: [field] }] },
      )
    }),
  )
  const rebases = written.map((one) => one.rebases)
  expect(Math.max(...rebases)).toBeLessThanOrEqual(8)
  const expected = Object.fromEntries(writers.map((_, i) => [`FIELD_${i}`, `value ${i}`]))
  expect(await environmentOf(vaultId)).toEqual({ BASE: 'b', ...expected })
  expect(new Set(written.map(({ index }) => index)).size).toBe(16)
  expect((await readVault(alice, vaultId)).headVersion).toBe(2 + 16)
})
