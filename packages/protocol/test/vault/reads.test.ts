// Catches: single reads that accept a row, a detail or a ciphertext that the head does not commit to, and lists that hide rows.
// Seen red: the path of a row not verified; `detailHash`, vault, item and row members not compared; the signer of a detail not
// looked up; the ciphertext hash not compared; a review refused what it is for (head, item), and every read a review.
import { beforeEach, describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { mapValue } from '../../src/log/map.ts'
import { valueText } from '../../src/values/field.ts'
import { verifyVaultAnswer } from '../../src/vault/answer.ts'
import { EMPTY_CONTENT, treesOf, verifyContent } from '../../src/vault/content.ts'
import { type EnvRow, type ItemDetailPayload, type ItemRow, itemDetail } from '../../src/vault/documents.ts'
import {
  openVerifiedField,
  type VerifiedField,
  type VerifiedItemRow,
  verifyEnvironment,
  verifyItem,
  verifyItemRow,
  verifyItems,
} from '../../src/vault/rows.ts'
import type { VerifiedHead } from '../../src/vault/vault.ts'
import { refusal } from '../log/refusal.ts'
import { revoke } from '../transition/desk.ts'
import { item, openWorld, type World } from '../world/world.ts'
import { headWithSigners, keysOf, proofOf, readItem, storedOf } from './desk.ts'

let world: World
let head: VerifiedHead
let bob: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ bob } = world.actors)
  head = await headWithSigners(world)
})
const rowOf = (itemId: string): ItemRow => storedOf(world).content.items.get(itemId) as ItemRow
const detailOf = (itemId: string): Envelope => storedOf(world).items.get(itemId)?.envelope as Envelope
const payloadOf = (itemId: string): ItemDetailPayload =>
  (storedOf(world).items.get(itemId) as { detail: ItemDetailPayload }).detail
const listed = () => [...storedOf(world).content.items.values()]

describe('one item', () => {
  it('is read by its row, its path and its detail, and each of its fields opens', async () => {
    const { row, document, fields } = await readItem(world, head, 'itm_database')
    expect(row).toEqual(rowOf('itm_database'))
    expect(document.payload.by).toBe(bob.kid)
    const keys = await keysOf(world, bob)
    const opened: Record<string, string> = {}
    for (const field of fields)
      opened[field.label] = valueText(
        await openVerifiedField(keys, field, storedOf(world).values.get(field.fieldId) as string),
      )
    expect(opened).toEqual({ DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', note: 'rotate in june' })
  })

  it('is refused with another row, another path, or the path of another vault', async () => {
    const { content } = storedOf(world)
    const proof = proofOf(content, 'itm_database')
    const row = rowOf('itm_database')
    const code = (candidate: unknown, path: unknown = proof) => refusal(() => verifyItemRow(head, candidate, path))
    expect(await code(row)).toBe('accepted')
    expect(await code({ ...row, name: 'Renamed' })).toBe('items_mismatch')
    expect(await code({ ...row, itemVersion: row.itemVersion + 1 })).toBe('items_mismatch')
    expect(await code(row, proofOf(content, 'itm_stripe'))).toBe('items_mismatch')
    expect(await code(row, proofOf(storedOf(world, world.staging).content, 'itm_sdatabase'))).toBe('items_mismatch')
    expect(await code({ ...row, extra: 1 })).toBe('malformed')
  })

  it('is refused with the detail of another item, version, vault or writer', async () => {
    const row = (itemId: string): VerifiedItemRow =>
      verifyItemRow(head, rowOf(itemId), proofOf(storedOf(world).content, itemId))
    const code = (envelope: Envelope, of = 'itm_database') => refusal(() => verifyItem(head, row(of), envelope))
    expect(await code(detailOf('itm_database'))).toBe('accepted')
    expect(await code(detailOf('itm_stripe'))).toBe('detail_mismatch')
    expect(await code({ ...detailOf('itm_database'), signatures: [] })).toBe('missing_signature')
    const { v: _v, t: _t, by: _by, ...members } = payloadOf('itm_database')
    const again = await makeDocument(itemDetail, members, [bob])
    expect(await code(again)).toBe('accepted')
    const byMallory = await makeDocument(itemDetail, members, [world.actors.mallory])
    expect(await code(byMallory)).toBe('unknown_signer')
    const byCarol = await makeDocument(itemDetail, members, [world.actors.carol])
    expect(await code(byCarol)).toBe('detail_mismatch')
  })

  it('of a dishonest writer whose row and detail disagree is refused', async () => {
    const { v: _v, t: _t, by: _by, ...members } = payloadOf('itm_database')
    const row = rowOf('itm_database')
    // A row that the head commits to, for a detail that says something else: only the writer could make both.
    const committed = (change: object): VerifiedItemRow => ({ ...row, ...change }) as VerifiedItemRow
    for (const [change, code] of [
      [{ name: 'Renamed' }, 'detail_mismatch'],
      [{ website: 'https://other.test' }, 'detail_mismatch'],
      [{ status: 'archived' }, 'detail_mismatch'],
      [{ itemVersion: 7 }, 'detail_mismatch'],
      [{ fieldCount: 0 }, 'detail_mismatch'],
      [{ itemId: 'itm_other' }, 'item_swap'],
    ] as const)
      expect(await refusal(() => verifyItem(head, committed(change), detailOf('itm_database')))).toBe(code)
    const elsewhere = await makeDocument(itemDetail, { ...members, vaultId: world.staging }, [bob])
    const moved = committed({ detailHash: documentHash(elsewhere) })
    expect(await refusal(() => verifyItem(head, moved, elsewhere))).toBe('vault_swap')
  })

  it('last written by a key that is compromised now is refused alone', async () => {
    const { alice } = world.actors
    await world.write(world.prod, [item('itm_fresh', 'Fresh', { FRESH: 'x' })], alice)
    await world.host.append([await revoke(world, bob.kid, 'compromised')], world.now)
    head = await headWithSigners(world)
    expect(await refusal(() => readItem(world, head, 'itm_database'))).toBe('signer_compromised')
    expect(await refusal(() => readItem(world, head, 'itm_fresh'))).toBe('accepted')
  })

  it('last written by such a key is shown to who reviews it, who is told every other lie (protocol.md 4.4)', async () => {
    await world.write(world.prod, [item('itm_theirs', 'Theirs', { THEIRS: 'x' })], bob)
    await world.host.append([await revoke(world, bob.kid, 'compromised')], world.now)
    const answer = await world.vaultAnswer(world.prod)
    const trust = world.trust(world.fresh())
    const read = (isReviewing: boolean) => verifyVaultAnswer(answer, world.prod, { ...trust, isReviewing })
    expect(await refusal(() => read(false))).toBe('signer_compromised')
    head = await read(true)
    expect((await readItem(world, head, 'itm_theirs')).document.payload.by).toBe(bob.kid)
    const renamed = { ...rowOf('itm_theirs'), name: 'Renamed' } as VerifiedItemRow
    expect(await refusal(() => verifyItem(head, renamed, detailOf('itm_theirs')))).toBe('detail_mismatch')
  })
})

describe('one field', () => {
  it('opens only with the ciphertext, key version and place that its detail names', async () => {
    const { fields } = await readItem(world, head, 'itm_database')
    const [field, other] = fields as [VerifiedField, VerifiedField]
    const keys = await keysOf(world, bob)
    const sealed = storedOf(world).values.get(field.fieldId) as string
    const code = (changed: VerifiedField, envelope = sealed) =>
      refusal(() => openVerifiedField(keys, changed, envelope))
    expect(await code(field)).toBe('accepted')
    expect(await code(field, storedOf(world).values.get(other.fieldId))).toBe('field_swap')
    expect(await code({ ...field, dekVersion: 2 })).toBe('unwrapped_key_missing')
    for (const change of [
      { label: 'OTHER' },
      { env: !field.env },
      { rev: 2 },
      { itemId: 'itm_stripe' },
      { fieldId: 'fld_x123' },
    ])
      expect(await code({ ...field, ...change })).toBe('aead')
  })
})

describe('a whole list', () => {
  it('is exactly what the head commits to: nothing missing, added, renamed or doubled', async () => {
    const code = (rows: readonly unknown[]) => refusal(() => verifyItems(head, rows))
    const rows = listed()
    expect(await code(rows)).toBe('accepted')
    expect(await code(rows.toReversed())).toBe('accepted')
    expect(await code(rows.slice(1))).toBe('items_mismatch')
    expect(await code([...rows, { ...rows[0], itemId: 'itm_more' }])).toBe('items_mismatch')
    expect(await code([{ ...rows[0], name: 'x' }, ...rows.slice(1)])).toBe('items_mismatch')
    expect(await code([rows[0], rows[0]])).not.toBe('accepted')
  })

  it('shows archived items like any other, and no row as a bare hash', async () => {
    const edit = { ...item('itm_stripe', 'Stripe', {}), status: 'archived' as const }
    await world.write(world.prod, [edit], bob)
    head = await headWithSigners(world)
    expect(await refusal(() => verifyItems(head, listed()))).toBe('accepted')
    const hidden = listed().map((row) =>
      row.status === 'archived' ? { itemId: row.itemId, valueHash: toBase64url(mapValue(row)) } : row,
    )
    expect(await refusal(() => verifyItems(head, hidden))).toBe('malformed')
  })

  it('of all three kinds is the content a writer goes on from', async () => {
    const { content } = storedOf(world)
    const lists = { items: listed(), env: [...content.env.values()], assets: [...content.assets.values()] }
    expect(verifyContent(head, lists)).toEqual(content)
    expect(await refusal(() => verifyContent(head, { ...lists, env: lists.env.slice(1) }))).toBe('env_mismatch')
    expect(await refusal(() => verifyContent(head, { ...lists, items: [] }))).toBe('items_mismatch')
    const asset = { assetId: 'ast_more', assetVersion: 1, docHash: head.hash, itemId: 'itm_stripe', status: 'active' }
    expect(await refusal(() => verifyContent(head, { ...lists, assets: [asset] }))).toBe('assets_mismatch')
  })
})

describe('an environment', () => {
  const rows = () => [...storedOf(world).content.env.values()]
  /** A head that a dishonest writer signed over these rows. */
  const over = (entries: readonly EnvRow[], change: object = {}): VerifiedHead => {
    const { env } = treesOf({ ...EMPTY_CONTENT, env: new Map(entries.map((row) => [row.fieldId, row])) })
    return { ...head, payload: { ...head.payload, env, ...change } }
  }

  it('is exactly what the head commits to, and is counted before it is read', async () => {
    const code = (list: readonly unknown[]) => refusal(() => verifyEnvironment(head, list))
    expect(await code(rows())).toBe('accepted')
    expect(await code(rows().slice(1))).toBe('env_mismatch')
    expect(await code([...rows(), 'not even a row'])).toBe('env_mismatch')
    expect(await code([...rows().slice(1), { ...rows()[0], rev: 9 }])).toBe('env_mismatch')
    const miscounted = { env: { ...head.payload.env, count: 4 } }
    const more = [...rows(), { ...rows()[0], fieldId: 'fld_more', label: 'MORE' }]
    expect(await refusal(() => verifyEnvironment(over(rows(), miscounted), more))).toBe('env_mismatch')
  })

  it('has no label twice and nothing under a retired key, even if its writer says so', async () => {
    const [first, second] = rows() as [EnvRow, EnvRow]
    const doubled = [first, { ...second, label: first.label }]
    expect(await refusal(() => verifyEnvironment(over(doubled), doubled))).toBe('duplicate_label')
    const code = (terms: object) => refusal(() => verifyEnvironment(over([first, second], terms), [first, second]))
    expect(await code({})).toBe('accepted')
    expect(await code({ oldestDek: 2, dekVersion: 2 })).toBe('env_mismatch')
    const future = [{ ...first, dekVersion: 2 }]
    expect(await refusal(() => verifyEnvironment(over(future), future))).toBe('env_mismatch')
  })

  it('and a list of items agree with the number their head signs', async () => {
    const { items } = head.payload
    const miscounted = { ...head, payload: { ...head.payload, items: { ...items, count: items.count + 1 } } }
    expect(await refusal(() => verifyItems(miscounted, listed()))).toBe('items_mismatch')
  })
})
