import type { Purchase } from '@strongroom/contract'
import {
  buildCommit,
  type Commit,
  documentHash,
  type Envelope,
  type HandoffField,
  type ItemEdit,
  makeHandoffReceipt,
  makeId,
  createVault as makeVault,
  openHandoff,
  ProtocolError,
  peekDocument,
  planItem,
  signItem,
  termsOf,
  type VerifiedHandoff,
  vaultHead,
  verifyHandoff,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { checkReceipts } from './commit.ts'
import { planEdit } from './item-changes.ts'
import { readPolicy } from './policy.ts'
import { sendUntilAnswered } from './send.ts'
import { readVerified } from './verified.ts'
import { commitItems } from './write-items.ts'
import { recipientsOf } from './write-vaults.ts'

// Docs/reference/protocol.md 6.5, the buyer's side: what was sealed to the own key is verified, opened, encrypted anew into a vault and signed
// for. The vault and its first item come in one request, or not at all.

const MARK = 'license:'

/**
 * What an item says it is: signed with it, so that a server cannot give another item for that of a licence. It stands where the address of
 * a website does.
 */
export const licenseMark = (license: string, licenseInstanceId: string): string =>
  `${MARK}${license}/${licenseInstanceId}`
export const isLicenseMark = (website: string): boolean => website.startsWith(MARK)

export interface HandedOff {
  readonly purchase: Purchase
  readonly vaultId: string
  readonly itemId: string
}

/** Where it goes, as it was signed. */
const destinationOf = ({ vault: { mode, name, vaultId } }: Purchase): string =>
  mode === 'new' ? `new:${name ?? ''}` : `existing:${vaultId ?? ''}`

async function openSealed(
  actor: Actor,
  purchase: Purchase,
  options: CallerOptions,
): Promise<{ readonly verified: VerifiedHandoff; readonly fields: readonly HandoffField[] }> {
  const { purchaseId, licenseInstanceId, handoff } = purchase
  if (!handoff) throw new ProtocolError('wrap_context', 'there is nothing to hand over', { purchaseId })
  const { policy } = await readPolicy(actor, options)
  const fields = handoff.schema.map(({ label, isEnvironmentVariable }) => ({ label, env: isEnvironmentVariable }))
  const expected = {
    org: actor.org,
    purchaseId,
    licenseInstanceId,
    destination: destinationOf(purchase),
    fields,
    provisioners: policy.provisioners,
  }
  const verified = await verifyHandoff(handoff.sealed, handoff.provisioner, expected, actor.identity)
  return { verified, fields: await openHandoff(verified, actor.identity) }
}

function itemOf(
  { name, licenseId, licenseInstanceId }: Purchase,
  fields: readonly HandoffField[],
  taken: ReadonlySet<string> = new Set(),
): ItemEdit {
  return {
    itemId: makeId('itm'),
    // A name that is there twice could be read by id alone.
    name: taken.has(name) ? `${name} ${licenseInstanceId}` : name,
    website: licenseMark(licenseId, licenseInstanceId),
    status: 'active',
    assets: [],
    fields: fields.map(({ label, env, value }) => ({ fieldId: makeId('fld'), label, env, value })),
  }
}

/** One for each item, however often it is sent: the same request has the same bytes. */
function receiptsFor(actor: Actor, verified: VerifiedHandoff) {
  const made = new Map<string, Promise<Envelope>>()
  return (vaultId: string, itemId: string): Promise<Envelope> => {
    const receipt = made.get(itemId) ?? makeHandoffReceipt(verified, { vaultId, itemId }, actor.identity, actor.now())
    made.set(itemId, receipt)
    return receipt
  }
}

interface Opened {
  readonly purchase: Purchase
  readonly verified: VerifiedHandoff
  readonly fields: readonly HandoffField[]
}

async function intoExisting(
  actor: Actor,
  vaultId: string,
  { purchase, verified, fields }: Opened,
  options: CallerOptions,
): Promise<HandedOff> {
  const receiptOf = receiptsFor(actor, verified)
  const params = { purchaseId: purchase.purchaseId }
  let after = purchase
  const { items } = await commitItems(
    actor,
    vaultId,
    {
      plan: async ({ dek, known }) => {
        const taken = new Set([...known.content.items.values()].map(({ name }) => name))
        return [await planEdit(dek, undefined, itemOf(purchase, fields, taken))]
      },
      send: async (commit, call, [item]) => {
        const receipt = await receiptOf(vaultId, item?.detail.itemId ?? '')
        const answer = await actor.client.licenses.handOff({ params, body: { commit, receipt } }, call)
        after = answer.purchase
        return answer.receipt
      },
    },
    options,
  )
  return { purchase: after, vaultId, itemId: items[0]?.itemId ?? '' }
}

/** The creation of a vault of the buyer's own, and the commit on top of it that brings the item. */
async function buildNew(actor: Actor, name: string, edit: ItemEdit, options: CallerOptions) {
  const { org, identity } = actor
  const acl = [{ p: identity.key.principal, role: 'admin' as const }]
  const recipients = await recipientsOf(actor, acl, options)
  const meta = { name, classification: 'confidential', status: 'active' } as const
  const made = await makeVault({ org, meta, acl, recipients, at: actor.now() }, identity)
  const { vaultId, commit: vaultCommit, content, dek } = made
  const base = peekDocument(vaultHead, vaultCommit.head)
  const place = { org, vaultId, at: actor.now() }
  const items = [await signItem(await planItem(dek, undefined, edit), place, identity)]
  const built = await buildCommit({ ...place, base, content, terms: termsOf(base.payload), items }, identity)
  return { vaultId, vaultCommit, dek, built }
}

async function intoNew(
  actor: Actor,
  name: string,
  { purchase, verified, fields }: Opened,
  options: CallerOptions,
): Promise<HandedOff> {
  const edit = itemOf(purchase, fields)
  const { vaultId, vaultCommit, dek, built } = await buildNew(actor, name, edit, options)
  const { itemId } = edit
  const receipt = await makeHandoffReceipt(verified, { vaultId, itemId }, actor.identity, actor.now())
  const body = { commit: built.commit, vaultCommit, receipt }
  let after = purchase
  const send = async (call: CallOptions): Promise<unknown> => {
    const answer = await actor.client.licenses.handOff({ params: { purchaseId: purchase.purchaseId }, body }, call)
    after = answer.purchase
    return answer.receipt
  }
  const idempotencyKey = crypto.randomUUID()
  const { committed } = await readVerified(
    actor,
    {
      vaultId,
      isWrite: true,
      ask: (call) => sendUntilAnswered(actor, { vaultIds: [vaultId], idempotencyKey, call, send }),
      check: (answer, pins) => checkReceipts(actor, [vaultId], [built], [answer], pins),
    },
    options,
  )
  actor.memory.keepKeys(vaultId, new Map([[dek.dekVersion, dek]]))
  const head = committed[0]?.head
  if (head?.hash === headHash(built.commit)) actor.memory.keepVault({ head, content: built.content })
  return { purchase: after, vaultId, itemId }
}

const headHash = ({ head }: Commit): string => documentHash(head)

/** Takes what waits into the vault that was named when it was bought. */
export async function handOff(actor: Actor, purchase: Purchase, options: CallerOptions = {}): Promise<HandedOff> {
  const { mode, name, vaultId } = purchase.vault
  const opened = { purchase, ...(await openSealed(actor, purchase, options)) }
  return mode === 'new'
    ? intoNew(actor, name ?? '', opened, options)
    : intoExisting(actor, vaultId ?? '', opened, options)
}
