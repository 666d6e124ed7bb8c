import { assetRowOf, makeAssetCheckpoint } from '../../src/attachments/checkpoint.ts'
import { encryptAttachment } from '../../src/attachments/transfer.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { type KidState, kidName } from '../../src/log/state.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import type { ItemRow } from '../../src/vault/documents.ts'
import { item, ORG, type StoredVault, type World } from '../../test/world/world.ts'
import { sign } from './chronicle.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { readerOf, trustOf } from './read-desk.ts'
import { type Entry, hex, mapProof, sha256, utf8 } from './reference.ts'
import { nextHead } from './vault-desk.ts'
import { deskOf, fixedWorld } from './world-desk.ts'

// Sections 6.1 and 6.2: rows against a head, details against rows, values against details.

const hashOf = (row: object): Buffer => sha256(canonical(row))
const entryOf = (name: string, row: object): Entry => [sha256(utf8(name)), hashOf(row)]

async function* emptyFile(): AsyncGenerator<Uint8Array> {}

/** An archived item and an attachment besides what the small organisation has. */
async function fill(world: World): Promise<void> {
  const { bob } = world.actors
  await world.write(world.prod, [{ ...item('itm_old', 'Former', {}, { token: 'x' }), status: 'archived' }], bob)
  const stored = world.vaults.get(world.prod) as StoredVault
  const place = { org: ORG, vaultId: world.prod, assetId: 'ast_certificate', assetVersion: 1 }
  const file = await encryptAttachment({
    dek: stored.dek,
    place,
    source: emptyFile(),
    name: 'ca.pem',
    mediaType: 'text/plain',
  })
  for await (const chunk of file.ciphertext) if (chunk.length === 0) throw new Error('an empty chunk')
  const what = { place, itemId: 'itm_database', content: file.content(), at: world.now }
  const envelope = await makeAssetCheckpoint(what, bob)
  const head = await world.head(world.prod)
  const { commit } = await buildCommit(
    {
      org: ORG,
      vaultId: world.prod,
      base: head,
      content: stored.content,
      terms: termsOf(head.payload),
      assets: [{ row: assetRowOf(envelope, what), envelope }],
      at: world.now,
    },
    bob,
  )
  await world.commit(world.prod, commit)
}

async function answerFor(world: World): Promise<{ answer: object; wraps: readonly Envelope[] }> {
  const { wrappedKeys: wraps, fields, ...answer } = await world.answer(world.prod, readerOf(world, 'ed25519'))
  return { answer, wraps }
}

/** An answer that brings the writer of an item along, though the head is by somebody else. */
async function answerWith(world: World, writer: string): Promise<object> {
  const { rec } = world.host.state(kidName(writer)) as KidState
  const answer = await world.vaultAnswer(world.prod, { names: [kidName(writer)] })
  return { ...answer, records: [...answer.records, world.host.ledger.document(rec)] }
}

interface Desk {
  readonly world: World
  readonly stored: StoredVault
  readonly rows: readonly ItemRow[]
  readonly wraps: readonly Envelope[]
}

const proofOf = ({ rows }: Desk, itemId: string) =>
  mapProof(
    rows.map((row) => entryOf(`item/${row.itemId}`, row)),
    sha256(utf8(`item/${itemId}`)),
  )
const rowOf = ({ rows }: Desk, itemId: string): ItemRow => rows.find((row) => row.itemId === itemId) as ItemRow
const detailOf = ({ stored }: Desk, itemId: string): Envelope =>
  (stored.items.get(itemId) as { envelope: Envelope }).envelope

/** One item as a reader asks for it. */
const asked = (desk: Desk, itemId: string, change: object = {}) => ({
  answer: 'current',
  vaultId: desk.world.prod,
  row: rowOf(desk, itemId),
  proof: proofOf(desk, itemId),
  detail: detailOf(desk, itemId),
  ...change,
})

const fieldsOf = (envelope: Envelope) => {
  const { itemId, fields } = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  return fields.map(({ ct, dekVersion, env, fieldId, label, rev }: Record<string, unknown>) => ({
    itemId,
    ct,
    dekVersion,
    env,
    fieldId,
    label,
    rev,
  }))
}

const text = (value: string): string => hex(utf8(value))

function acceptedItems(desk: Desk): VectorCase[] {
  const { bob } = desk.world.actors
  const opening = {
    reader: { key: 'deploy', principal: 'agent:ag_deploy' },
    wraps: desk.wraps,
    values: Object.fromEntries(desk.stored.values),
  }
  return [
    ...['itm_database', 'itm_stripe', 'itm_old'].map((itemId) =>
      accepts('item', itemId, asked(desk, itemId), { by: bob.kid, fields: fieldsOf(detailOf(desk, itemId)) }),
    ),
    accepts('item', 'itm_database, opened', asked(desk, 'itm_database', { open: opening }), {
      by: bob.kid,
      opened: [
        { label: 'DATABASE_CA', env: true, type: 1, value: text('pem') },
        { label: 'DATABASE_URL', env: true, type: 1, value: text('postgres://u:p@db/prod') },
        { label: 'note', env: false, type: 1, value: text('rotate in june') },
      ],
    }),
    refuses(
      'item',
      'itm_stripe, opened with the value of another field',
      'field_swap',
      asked(desk, 'itm_stripe', {
        open: { ...opening, values: { fld_itm_stripe_STRIPE_KEY: opening.values.fld_itm_database_note } },
      }),
    ),
  ]
}

async function refusedItems(desk: Desk): Promise<VectorCase[]> {
  const { mallory, bob } = desk.world.actors
  const detail = detailOf(desk, 'itm_database')
  const payload = JSON.parse(Buffer.from(detail.payload, 'base64').toString())
  const no = (name: string, code: ProtocolErrorCode, change: object) =>
    refuses('item', name, code, asked(desk, 'itm_database', change))
  const row = rowOf(desk, 'itm_database')
  const [staged] = [...(desk.world.vaults.get(desk.world.staging) as StoredVault).items.values()]
  return [
    no('another name in the row', 'items_mismatch', { row: { ...row, name: 'Datenbank' } }),
    no('another website in the row', 'items_mismatch', { row: { ...row, website: 'https://evil.test' } }),
    no('another status in the row', 'items_mismatch', { row: { ...row, status: 'archived' } }),
    no('the row of another item', 'items_mismatch', { row: rowOf(desk, 'itm_stripe') }),
    no('the path of another item', 'items_mismatch', { proof: proofOf(desk, 'itm_stripe') }),
    no('a path that is no path', 'items_mismatch', { proof: {} }),
    no('a row with a member too many', 'malformed', { row: { ...row, note: '' } }),
    no('the detail of another item', 'detail_mismatch', { detail: detailOf(desk, 'itm_stripe') }),
    no('the detail of an item of another vault', 'detail_mismatch', { detail: staged?.envelope }),
    no('a detail with a field less', 'bad_signature', {
      detail: { ...detail, payload: Buffer.from(canonical({ ...payload, fields: [] })).toString('base64') },
    }),
    no('a detail signed anew by its writer', 'detail_mismatch', {
      detail: await sign('item-detail', { ...payload, itemVersion: 2 }, bob),
    }),
    no('a detail by a stranger', 'unknown_signer', {
      detail: await sign('item-detail', { ...payload, by: mallory.kid }, mallory),
    }),
    no('a detail without signature', 'missing_signature', { detail: { ...detail, signatures: [] } }),
    no('a head in place of the detail', 'wrong_type', { detail: (await desk.world.vaultAnswer(desk.world.prod)).head }),
  ]
}

function lists(desk: Desk): VectorCase[] {
  const { world, stored, rows } = desk
  const ask = (list: readonly unknown[]) => ({ answer: 'current', vaultId: world.prod, rows: list })
  const [first, second] = rows as [ItemRow, ItemRow]
  const ids = rows.map(({ itemId }) => itemId)
  const hidden = rows.map((row) =>
    row.status === 'archived' ? { itemId: row.itemId, valueHash: hashOf(row).toString('base64url') } : row,
  )
  const env = [...stored.content.env.values()]
  const assets = [...stored.content.assets.values()]
  const noItems = (name: string, code: ProtocolErrorCode, list: readonly unknown[]) =>
    refuses('items', name, code, ask(list))
  return [
    accepts('items', 'all of them', ask(rows), { shown: ids }),
    accepts('items', 'in another order', ask([...rows].reverse()), { shown: [...ids].reverse() }),
    noItems('the archived one as its hash alone', 'malformed', hidden),
    noItems('one left out', 'items_mismatch', rows.slice(1)),
    noItems('one added', 'items_mismatch', [...rows, { ...first, itemId: 'itm_more' }]),
    noItems('one in place of another', 'malformed', [first, ...rows.slice(2), first]),
    noItems('one renamed', 'items_mismatch', [{ ...first, name: 'Other' }, ...rows.slice(1)]),
    noItems('two whose names were exchanged', 'items_mismatch', [
      { ...first, name: second.name },
      { ...second, name: first.name },
      ...rows.slice(2),
    ]),
    noItems('none', 'items_mismatch', []),
    accepts('environment', 'all of it', ask(env), { labels: env.map(({ label }) => label) }),
    refuses('environment', 'one left out', 'env_mismatch', ask(env.slice(1))),
    accepts('assets', 'all of them', ask(assets), { assets: assets.map(({ assetId }) => assetId) }),
    refuses('assets', 'one left out', 'assets_mismatch', ask([])),
    refuses('assets', 'another version', 'assets_mismatch', ask(assets.map((row) => ({ ...row, assetVersion: 2 })))),
    refuses('assets', 'another item', 'assets_mismatch', ask(assets.map((row) => ({ ...row, itemId: 'itm_stripe' })))),
  ]
}

/** The writer of an item was compromised, and somebody else signed the vault since. */
async function compromised(desk: Desk): Promise<{ answer: object; cases: VectorCase[] }> {
  const acts = await deskOf(desk.world)
  const { alice, bob, host } = acts
  await host.append([await nextHead(acts, alice)], desk.world.now)
  await host.append([await sign('key.revoke', { kid: bob.kid, reason: 'compromised' }, alice)], desk.world.now)
  return {
    answer: await answerWith(desk.world, bob.kid),
    cases: [
      refuses(
        'item',
        'an item last written by a key that was compromised',
        'signer_compromised',
        asked(desk, 'itm_database', { answer: 'compromised' }),
      ),
    ],
  }
}

export async function makeDetail(): Promise<VectorFile> {
  const world = await fixedWorld()
  await fill(world)
  const stored = world.vaults.get(world.prod) as StoredVault
  const { answer: current, wraps } = await answerFor(world)
  const desk: Desk = { world, stored, rows: [...stored.content.items.values()], wraps }
  const cases = [...acceptedItems(desk), ...(await refusedItems(desk)), ...lists(desk)]
  const trust = trustOf(world)
  const later = await compromised(desk)
  return {
    vectors: 'detail',
    section: '6.2',
    comment:
      'Lists and single items against a verified head. item: row, path and detail of one item, and its values where `open` gives wraps and ciphertexts. items, environment, assets: complete lists.',
    given: { trust, answers: { current, compromised: later.answer } },
    cases: [...cases, ...later.cases],
  }
}
