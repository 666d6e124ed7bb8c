import {
  addSignatures,
  defaultPolicy,
  documentHash,
  draftDocument,
  type Envelope,
  type Identity,
  type LogRecoverPayload,
  logRecover,
  makeDocument,
  peekCheckpoint,
  policySet,
  registerKey,
  toBase64url,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, contentOf, foundOrg, outcomes, refusal, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { appendAct } from '../../log/append.ts'

// The state and the statement of a restored log (docs/reference/protocol.md 9.4); the whole drill is packages/sdk/test/recovery.
// Catches: a log that goes on without its statement, a statement that others than the quorum sign or that is of another log, two
// statements for one restore, the mark of one organisation seen by another.
// Seen red: `ensureGoesOn` not asked in appendAct and in lockOrgLog, `endRestore` not called, `ensureBroughtBySigner` left out.

let h: Harness
let alice: FirstPerson
let dave: Identity
let auditor: TestAgent
beforeEach(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  const user = await seedUser(h, alice)
  dave = await identityOf('dave', `user:${user.userId}`)
  const key = await registerKey({ ...header(), caps: ['dir-admin', 'member'] }, alice.identity, dave)
  await append(key)
  auditor = await h.agent(alice, ['machine.transparency.read'])
})
afterEach(() => h.close())

const header = () => ({ org: alice.orgId, at: h.deps.now().getTime() })
const append = (doc: Envelope) =>
  inOrg(h.deps, alice.orgId, (db) => appendAct(h.deps, db, alice.orgId, { docs: [doc] }))
const content = () => contentOf(h, alice.orgId)

/** As a restore leaves it. */
const mark = () =>
  inOrg(h.deps, alice.orgId, (db) =>
    db.updateTable('log_state').set({ restored_at: h.deps.now() }).where('org_id', '=', alice.orgId).execute(),
  )

const strict = async (): Promise<void> => {
  const policy = { ...defaultPolicy(1), recoverQuorum: 2 }
  const prev = documentHash(await genesis())
  await append(await makeDocument(policySet, { ...header(), policyVersion: 2, policy, prev }, [alice.identity]))
}
const genesis = async (): Promise<Envelope> => {
  const row = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('log_document').select('envelope').where('kind', '=', 'org.genesis').executeTakeFirstOrThrow(),
  )
  return row.envelope as Envelope
}

async function members(change: Partial<LogRecoverPayload> = {}) {
  const { checkpoint } = await auditor.client.transparency.checkpoint()
  const { size, root } = peekCheckpoint(checkpoint)
  const kept = { keptSize: size, keptRoot: toBase64url(root), lost: { size: size + 3, root: '' } }
  return { ...header(), ...kept, reason: 'disk failure', salt: 'AAAAAAAAAAAAAAAAAAAAAA', ...change }
}
const statement = async (
  signers: readonly [Identity, ...Identity[]] = [alice.identity],
  change: Partial<LogRecoverPayload> = {},
): Promise<Envelope> => makeDocument(logRecover, await members(change), signers)

const send = (event: Envelope) =>
  alice.client.directory.recoverLog({ body: { event: { ...event, signatures: [...event.signatures] } } })

it('says whether the log waits for its statement, what is kept and how many have to sign, to nobody of another organisation', async () => {
  expect(await auditor.client.transparency.recovery()).toEqual({ restored: null, recoveries: [] })
  await strict()
  await mark()
  const { keptSize, keptRoot } = await members()
  expect((await auditor.client.transparency.recovery()).restored).toMatchObject({
    keptSize,
    keptRoot,
    recoverQuorum: 2,
  })
  const other = await h.agent(await h.org('globex'), ['machine.transparency.read'])
  expect(await codeOf(other.client.transparency.recovery())).toBe('leaf_not_found')
})

it('refuses every act until the statement, takes the statement, proves it, records it, and goes on', async () => {
  await mark()
  const event = await registerKey(
    { ...header(), caps: ['member'] },
    alice.identity,
    await identityOf('bob', 'user:ou_bob'),
  )
  await expect(append(event)).rejects.toMatchObject({ code: 'recovery_required' })
  const stated = await statement()
  const { index, transparency } = await send(stated)
  const recoveries = [{ index, docHash: documentHash(stated) }]
  expect(transparency.map).toContainEqual(expect.objectContaining({ state: expect.objectContaining({ recoveries }) }))
  expect(await auditor.client.transparency.recovery()).toEqual({ restored: null, recoveries })
  const proven = await auditor.client.transparency.recoveryStatement({ params: { index } })
  expect(documentHash(proven.statement)).toBe(documentHash(stated))
  const acts = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('audit_event').select('metadata').where('action', '=', 'directory.log.recover').execute(),
  )
  expect(acts).toEqual([{ metadata: { index, documents: [documentHash(stated)] } }])
  await append(event)
})

it('takes one statement, also when twelve bring one each at a time', async () => {
  await mark()
  const events = await Promise.all(Array.from({ length: 12 }, (_, i) => statement(undefined, { reason: `${i}` })))
  const ended = await outcomes(events.map((event) => send(event)))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended.filter((one) => one !== 'ok'))).toEqual(new Set(['recovery_not_due']))
})

it('takes the signatures of a quorum that were collected elsewhere, and not fewer', async () => {
  await strict()
  await mark()
  const before = await content()
  const first = await statement()
  expect(await refusal(send(first))).toMatchObject({
    code: 'signer_not_authorised',
    details: { rule: 'endorser_not_admin', needed: 2, found: 1 },
  })
  expect(await content()).toBe(before)
  await send(await addSignatures(first, [dave]))
})

it('refuses a statement that is not due, of another log, or brought by somebody else, and changes nothing', async () => {
  expect(await codeOf(send(await statement()))).toBe('recovery_not_due')
  await mark()
  const before = await content()
  const { keptSize } = await members()
  const of = (change: Partial<LogRecoverPayload>) => statement(undefined, change)
  expect(await codeOf(send(await of({ keptRoot: 'A'.repeat(43) })))).toBe('log_conflict')
  expect(await codeOf(send(await of({ keptSize: keptSize - 1 })))).toBe('log_conflict')
  expect(await codeOf(send(await of({ lost: { size: 1, root: '' } })))).toBe('log_conflict')
  expect(await codeOf(send(await of({ org: 'org_other' })))).toBe('invalid_document')
  expect(await codeOf(send(await statement([dave])))).toBe('signer_not_authorised')
  const unsigned = draftDocument(logRecover, { ...(await members()), by: alice.identity.kid })
  expect(await codeOf(send(unsigned))).toBe('invalid_signature')
  expect(await content()).toBe(before)
  expect((await auditor.client.transparency.recovery()).restored).not.toBeNull()
})

it('answers 404 for a leaf that is no recovery', async () => {
  for (const index of [0, 1, 77])
    expect(await codeOf(auditor.client.transparency.recoveryStatement({ params: { index } }))).toBe(
      'recovery_not_found',
    )
})
