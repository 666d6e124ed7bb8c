import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness } from '../harness.ts'
import { type Answer, bodyOf, type Case, casesOf, isWrite, refresh, send } from '../matrix/cases.ts'
import { contractOf } from '../matrix/inventory.ts'
import type { Row } from '../matrix/oracle.ts'
import { ASKERS } from '../matrix/principals.ts'
import type { Principal } from '../matrix/relations.ts'
import { ROWS } from '../matrix/rows.ts'
import { changesBetween, openState, type State } from '../matrix/state.ts'
import { makeWorld, type World } from '../matrix/world.ts'
import { asSuperuser } from '../principals.ts'

// No audit, no answer: every write and every secret-bearing read of the authorization matrix, by somebody who may, while audit
// events cannot be written. A new route has a row there, and so is tried here.
//
// Catches, each seen red: a write without `record`, a failed `record` that is swallowed; ciphertexts, wrapped keys or a stream of
// vaults that begin to leave before they are recorded.

/** Writes that leave nothing but an attempt that expires, before anybody is known: there is nothing to record yet. */
const ATTEMPTS = new Set(['POST /platform/login/start', 'POST /platform/invite/:id/registration'])

const isSecret = ({ route, secret }: Row): boolean => {
  const { access } = contractOf(route)
  return secret !== undefined || (access.kind === 'permission' && access.permission === 'machine.vault.secret.read')
}
const isDue = (row: Row): boolean => (isWrite(row) && !row.silent && !ATTEMPTS.has(row.route)) || isSecret(row)

let h: Harness
let world: World
let state: State
let principals: readonly Principal[]
beforeAll(async () => {
  h = await startHarness()
  world = await makeWorld(h)
  state = await openState(h)
  const made: Principal[] = []
  for (const { name, make } of ASKERS) made.push({ ...(await make(world)), name })
  principals = made
})
afterAll(async () => {
  await state.close()
  await h.close()
})

async function withoutAudit<T>(work: () => Promise<T>): Promise<T> {
  await asSuperuser(h, (client) => client.query('revoke insert on audit_event from strongroom_app'))
  try {
    return await work()
  } finally {
    await asSuperuser(h, (client) => client.query('grant insert on audit_event to strongroom_app'))
  }
}

/** A request that the oracle says succeeds, or gets as far as one can without a signature. */
async function bestCase(row: Row): Promise<Case> {
  const all = await casesOf(world, row, principals)
  const best = all.find(({ refusal }) => refusal === row.ends)
  if (!best) throw new Error(`nobody of the matrix may ${row.route}`)
  return refresh(world, best)
}

async function tryWithoutAudit(row: Row): Promise<{ answer: Answer; changed: string[]; one: Case }> {
  h.advance(10_000)
  const best = await bestCase(row)
  // Made before: whoever signs something reads a wrapped key first.
  const body = await bodyOf(world, best)
  const one = { ...best, ...(body !== undefined && { body }) }
  const before = await state.digest()
  const answer = await withoutAudit(() => send(world, one))
  return { answer, changed: changesBetween(before, await state.digest()), one }
}

const codeIn = ({ text }: Answer): unknown => (JSON.parse(text) as { error?: { code: string } }).error?.code
const title = ({ route, ids = {} }: Row): string => [route, ...Object.keys(ids)].join(' ')
const due = ROWS.filter((row) => isDue(row) && row.ends === undefined)
/** Their valid requests are signed or proven: the tests of their modules make those. */
const unreached = ROWS.filter((row) => isDue(row) && row.ends !== undefined)

describe('is refused with 503 and changes nothing; afterwards it works without a restart', () => {
  it.each(due.map((row) => [title(row), row] as const))('%s', async (_, row) => {
    const { answer, changed, one } = await tryWithoutAudit(row)
    expect([answer.status, codeIn(answer), changed]).toEqual([503, 'audit_unavailable', []])
    // What uses up the credential would leave the rows after it without one.
    if (!row.spends) expect((await send(world, one)).status).toBeLessThan(300)
  })
})

describe('is refused before it comes to the audit log, and changes nothing', () => {
  it.each(unreached.map((row) => [title(row), row] as const))('%s', async (_, row) => {
    const { answer, changed } = await tryWithoutAudit(row)
    expect([codeIn(answer), changed]).toEqual([
      expect.stringMatching(new RegExp(`^(?:${row.ends}|audit_unavailable)$`)),
      [],
    ])
  })
})
