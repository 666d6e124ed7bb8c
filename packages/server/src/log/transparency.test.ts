import { kidName, POLICY_NAME, type VerifiedView, verifyTransparency, verifyUnchanged } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../test/actors.ts'
import { type Harness, startHarness } from '../../test/harness.ts'
import { FRESH, type LogOrg, makeLogOrg } from '../../test/log-org.ts'
import type { TxCtx } from '../context.ts'
import { inOrg } from '../context.ts'
import { commitDirectory, commitDirectoryFor } from './directory-commit.ts'
import { transparencyOf, transparencySince } from './transparency.ts'

// Catches: a proof from another size, a consistency proof from a size the client does not know, absence shown for what exists, a
// directory act without its audit row or with the rights of a vault act.

const LEAVES = 20

let h: Harness
let org: LogOrg
beforeAll(async () => {
  h = await startHarness()
  org = await makeLogOrg(h, 'proven')
  for (let i = 1; i < LEAVES; i++) await org.append([await org.keyAdd(await identityOf('deploy', `agent:ag_p${i}xx`))])
})
afterAll(() => h.close())

const seenAt = async (size: number): Promise<{ size: number; root: Uint8Array }> => {
  const { note } = await inOrg(h.deps, org.orgId, (db) =>
    db.selectFrom('log_checkpoint').select('note').where('size', '=', size).executeTakeFirstOrThrow(),
  )
  return { size, root: Buffer.from(note.split('\n')[2] ?? '', 'base64') }
}

const verified = async (names: readonly string[], have?: number): Promise<VerifiedView> => {
  const answer = await inOrg(h.deps, org.orgId, (db) => transparencyOf(db, org.orgId, names, have))
  return verifyTransparency(answer, { ...org.pin, seen: have === undefined ? null : await seenAt(have) }, FRESH)
}

it('proves present and absent names against the newest checkpoint', async () => {
  const present = [POLICY_NAME, kidName(org.founder.kid)]
  const absent = ['vault/v00000000', 'project/p00000000', kidName('user:ou_nobody:aaaaaaaa')]
  const view = await verified([...present, ...absent, POLICY_NAME])
  expect(view.checkpoint.size).toBe(LEAVES)
  expect([...view.states].filter(([, state]) => state !== null).map(([name]) => name)).toEqual(present)
  expect([...view.states].filter(([, state]) => state === null).map(([name]) => name)).toEqual(absent)
})

it('proves from every size a client may know that the log only grew', async () => {
  for (let have = 1; have <= LEAVES; have++) expect((await verified([POLICY_NAME], have)).since?.size).toBe(have)
})

it('proves nothing from sizes it never had, and takes nothing but the checkpoint for an answer when nothing was added', async () => {
  const from = (have: number) => inOrg(h.deps, org.orgId, (db) => transparencyOf(db, org.orgId, [], have))
  for (const have of [0, LEAVES, LEAVES + 1]) expect(await from(have)).not.toHaveProperty('consistency')
  const since = (have: number) =>
    inOrg(h.deps, org.orgId, (db) => transparencySince(db, org.orgId, [POLICY_NAME], have))
  const unchanged = await since(LEAVES)
  expect(unchanged).toEqual({ checkpoint: expect.any(String), unchanged: true })
  await verifyUnchanged(unchanged, { ...org.pin, seen: await seenAt(LEAVES) }, FRESH)
  expect(await since(LEAVES - 1)).toHaveProperty('consistency.from', LEAVES - 1)
})

it('answers for an organisation without a log that there is no such entry', async () => {
  const { orgId } = await h.org('silent')
  await expect(inOrg(h.deps, orgId, (db) => transparencyOf(db, orgId, []))).rejects.toMatchObject({
    code: 'leaf_not_found',
  })
})

const request = { requestId: 'req_test', ip: '127.0.0.1', userAgent: 'test', routeName: 'test.route' }
const audits = (orgId: string) =>
  inOrg(h.deps, orgId, (db) =>
    db.selectFrom('audit_event').select(['action', 'actor_id', 'targets', 'metadata']).orderBy('seq').execute(),
  )

it('answers a directory act with its index and the proof of what it changed, and records who brought it', async () => {
  const { orgId, keyAdd, pin } = await makeLogOrg(h, 'receipts')
  const who = await identityOf('deploy', 'agent:ag_deploy')
  const docs = [await keyAdd(who)]
  const receipt = await inOrg(h.deps, orgId, (db) => {
    const ctx = { ...h.deps, db, request, principal: { orgId, type: 'user', id: 'user:ou_alice' } }
    return commitDirectory(ctx as unknown as TxCtx, docs, { allowed: ['key.add'], have: 1 })
  })
  expect(receipt).toMatchObject({ index: 1, transparency: { consistency: { from: 1 } } })
  const view = await verifyTransparency(receipt.transparency, pin, FRESH)
  expect(view.states.get(kidName(who.kid))).toMatchObject({ status: 'active', added: 1 })
  expect(await audits(orgId)).toEqual([
    {
      action: 'directory.key.add',
      actor_id: 'user:ou_alice',
      targets: [
        { type: 'principal', id: 'agent:ag_deploy' },
        { type: 'key', id: who.kid },
      ],
      metadata: { index: 1, documents: [expect.any(String)] },
    },
  ])
})

it('records a founding by somebody who is no principal yet, and refuses an act the route does not bring', async () => {
  const { orgId, keyAdd } = await makeLogOrg(h, 'bringers')
  const docs = [await keyAdd(await identityOf('bob', 'user:ou_bob1'))]
  const bring = (allowed: 'key.add' | 'org.genesis') =>
    inOrg(h.deps, orgId, (db) =>
      commitDirectoryFor({ ...h.deps, request }, db, { orgId, actor: { type: 'setup', id: 'setup' } }, docs, {
        allowed: [allowed],
      }),
    )
  await expect(bring('org.genesis')).rejects.toMatchObject({ code: 'invalid_document' })
  expect(await audits(orgId)).toEqual([])
  expect(await bring('key.add')).toMatchObject({ index: 1 })
  expect((await audits(orgId)).map(({ action, actor_id }) => [action, actor_id])).toEqual([
    ['directory.key.add', 'setup'],
  ])
})
