import { type Envelope, peekDocument } from '../../../src/identity/document.ts'
import type { Recipient } from '../../../src/identity/private-keys.ts'
import { type GrantState, grantName } from '../../../src/log/state.ts'
import { type Dek, dekBytes, deriveKey } from '../../../src/values/dek.ts'
import { MAX_VALUE_BYTES, sealField, valueText } from '../../../src/values/field.ts'
import { buildCommit, commitShape, type HeadTerms } from '../../../src/vault/commit.ts'
import { EMPTY_CONTENT } from '../../../src/vault/content.ts'
import { type ItemBase, type ItemEdit, planItem } from '../../../src/vault/edit.ts'
import { createVault } from '../../../src/vault/lifecycle.ts'
import { rebaseItem } from '../../../src/vault/rebase.ts'
import { unwrapDek, type VerifiedWrappedKey, wrappedDek } from '../../../src/wraps/wrapped-key.ts'
import { item, ORG, type StoredVault, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const storedIn = (world: World): StoredVault => world.vaults.get(world.prod) as StoredVault
const PLACE = { itemId: 'itm_a', fieldId: 'fld_a', rev: 1, label: 'A', env: true }
const STRIPE = item('itm_stripe', 'Stripe', { STRIPE_KEY: 'x' })
const base = (world: World): ItemBase => storedIn(world).items.get('itm_stripe') as ItemBase

const VALUES = [
  extra('dek-from-elsewhere', 'unwrapped_key_missing', () =>
    dekBytes({ org: ORG, vaultId: 'v', dekVersion: 1, dekCommit: '' } as Dek),
  ),
  extra('key-context-too-long', 'limit_exceeded', () => deriveKey(new Uint8Array(32), new Uint8Array(1025), 32)),
  extra('bytes-read-as-text', 'malformed', () => valueText({ type: 0, value: new Uint8Array(1) })),
  extra('value-too-large', 'limit_exceeded', async (open) => {
    const value = { type: 0, value: new Uint8Array(MAX_VALUE_BYTES + 1) } as const
    return sealField(storedIn(await open()).dek, PLACE, value)
  }),
]

/** Taken for verified, as only this test can: what the last step still refuses on its own. */
const wrapFor = (world: World, who: 'carol' | 'hybrid'): VerifiedWrappedKey => {
  const name = grantName(world.prod, world.actors[who].kid, 1)
  const { wrapHash } = world.host.state(name) as GrantState
  return peekDocument(wrappedDek, world.host.ledger.document(wrapHash) as Envelope) as unknown as VerifiedWrappedKey
}

/** A private key that must not be used. */
const untouchable = (recipient: Recipient): Recipient => ({
  ...recipient,
  rsaDecrypt: () => {
    throw new Error('used a private key')
  },
})

const WRAPS = [
  extra('wrap-opened-by-other', 'wrap_context', async (open) => {
    const world = await open()
    return unwrapDek(wrapFor(world, 'carol'), untouchable(world.actors.deploy))
  }),
  extra('wrap-opened-halved', 'malformed', async (open) => {
    const world = await open()
    const wrapped = wrapFor(world, 'hybrid')
    const { ct2: _ct2, box: _box, ...payload } = wrapped.payload
    return unwrapDek({ ...wrapped, payload } as VerifiedWrappedKey, world.actors.hybrid)
  }),
  extra('wrap-opened-without-ml-kem', 'alg_downgrade', async (open) => {
    const world = await open()
    const wrapped = wrapFor(world, 'hybrid')
    const { deploy } = world.actors
    return unwrapDek({ ...wrapped, payload: { ...wrapped.payload, to: deploy.kid } } as VerifiedWrappedKey, deploy)
  }),
]

const TERMS: HeadTerms = {
  meta: { name: 'x', classification: 'internal', status: 'active' },
  aclVersion: 1,
  aclHash: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  dekVersion: 1,
  dekCommit: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  oldestDek: 1,
}

const edited =
  (edit: ItemEdit, from: (world: World) => ItemBase | undefined = () => undefined) =>
  async (open: () => Promise<World>) => {
    const world = await open()
    return planItem(storedIn(world).dek, from(world), edit)
  }

const withoutValues = ({ fields, ...rest }: ItemEdit, label?: string): ItemEdit => ({
  ...rest,
  fields: fields.map(({ value: _value, ...field }) => ({ ...field, label: label ?? field.label })),
})

const rebasing =
  (change: (base: ItemBase) => ItemBase | undefined, dekVersion = 1, from: 'base' | 'nothing' = 'base') =>
  async (open: () => Promise<World>) => {
    const world = await open()
    const plan = await planItem(storedIn(world).dek, from === 'base' ? base(world) : undefined, STRIPE)
    return rebaseItem(plan, change(base(world)), dekVersion)
  }

const WRITING = [
  extra('commit-values-of-no-object', 'malformed', () =>
    commitShape(
      {
        expect: { headVersion: 0, headHash: '' },
        head: { payload: '', payloadType: '', signatures: [] },
        docs: [],
        values: [],
      },
      'commit',
    ),
  ),
  extra('commit-too-large', 'limit_exceeded', async (open) => {
    const world = await open()
    const moved = Array.from({ length: 501 }, (_, i) => `itm_${i}`)
    const input = { org: ORG, vaultId: world.prod, base: undefined, content: EMPTY_CONTENT, terms: TERMS, moved, at: 1 }
    return buildCommit(input, world.actors.bob)
  }),
  extra('edit-from-other-item', 'item_swap', edited(item('itm_other', 'Other', {}), base)),
  extra('edit-new-field-without-value', 'malformed', edited(withoutValues(STRIPE))),
  extra('edit-renamed-field-without-value', 'malformed', edited(withoutValues(STRIPE, 'RENAMED'), base)),
  extra('create-with-rsa-only-key', 'not_authorised', async (open) => {
    const { worker } = (await open()).actors
    const acl = [{ p: worker.key.principal, role: 'admin' }] as const
    return createVault({ org: ORG, meta: TERMS.meta, acl, recipients: [worker.key], at: 1 }, worker)
  }),
  extra(
    'rebase-under-new-key',
    'rebase_conflict',
    rebasing((one) => one, 2),
  ),
  extra(
    'rebase-item-made-twice',
    'rebase_conflict',
    rebasing((one) => one, 1, 'nothing'),
  ),
  extra(
    'rebase-same-field',
    'rebase_conflict',
    rebasing((one) => ({
      hash: 'other',
      detail: {
        ...one.detail,
        fields: one.detail.fields.map((field) => ({ ...field, rev: field.rev + 1, ct: TERMS.aclHash })),
      },
    })),
  ),
]

export const VAULT_CASES = [...VALUES, ...WRAPS, ...WRITING]
