import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scene, startScene } from '../../test/webhook-scene.ts'
import { inOrg } from '../context.ts'
import { fanOut } from './fan-out.ts'
import { emit } from './outbox.ts'

// What nobody listens for is placed in one statement, and what somebody does is fanned out. Catches: a listener that is passed by, events
// placed out of order or twice, an organisation that holds up another. Seen red: no look whether somebody listens; the head not moved.

let scene: Scene
let quiet: string
beforeAll(async () => {
  scene = await startScene()
  quiet = (await scene.h.org('nobody listens')).orgId
})
afterAll(() => scene.close())

const tell = (orgId: string): Promise<string> =>
  inOrg(scene.h.deps, orgId, (db) =>
    emit(scene.h.deps, db, orgId, { type: 'budget.created', object: { type: 'budget', id: randomUUID() } }),
  )

const placesIn = (orgId: string): Promise<{ readonly id: string; readonly place: number | null }[]> =>
  inOrg(scene.h.deps, orgId, (db) =>
    db.selectFrom('outbox_event').select(['event_id as id', 'feed_seq as place']).orderBy('seq').execute(),
  )

const turn = (): Promise<number> => fanOut(scene.h.deps, scene.h.worker)

it('gives what nobody listens for its places one after the other, turn after turn', async () => {
  const ids = [await tell(quiet), await tell(quiet)]
  // Whoever has no head yet goes the ordinary way once.
  await turn()
  ids.push(await tell(quiet), await tell(quiet), await tell(quiet))
  expect(await turn()).toBe(0)
  ids.push(await tell(quiet))
  expect(await turn()).toBe(0)
  expect(await placesIn(quiet)).toEqual(ids.map((id, i) => ({ id, place: i + 1 })))
})

it('fans out to who listens in one organisation and places what is left in another, in one turn', async () => {
  await scene.happen()
  await scene.deliver()
  const hook = await scene.make(['budget.*'])
  const before = (await placesIn(quiet)).length
  const heard = await scene.happen()
  const unheard = await tell(quiet)
  expect(await turn()).toBe(1)
  expect((await placesIn(quiet)).at(-1)).toEqual({ id: unheard, place: before + 1 })
  expect((await scene.historyOf(hook)).map(({ eventId }) => eventId)).toEqual([heard])
})
