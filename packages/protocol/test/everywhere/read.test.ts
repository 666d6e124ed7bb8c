import { beforeAll, describe, expect, it } from 'vitest'
import { remember } from '../../src/trust/remember.ts'
import { valueText } from '../../src/values/field.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import { openWorld, type World } from '../world/world.ts'

// Catches: a verification step that refuses honest answers, a derivation that differs between Node and browsers.
// Seen red: LP label of the item key changed on the reading side only → `aead` in every test here.

let world: World
beforeAll(async () => {
  world = await openWorld()
})

describe('an honest answer', () => {
  it('opens for an Ed25519 agent, an RSA-only agent and a hybrid agent alike', async () => {
    const { deploy, worker, hybrid } = world.actors
    for (const reader of [deploy, worker, hybrid]) {
      const opened = await openEnvironment(
        await world.answer(world.prod, reader),
        world.prod,
        world.trust(world.fresh()),
        reader,
      )
      const values = Object.fromEntries(opened.fields.map(({ row, value }) => [row.label, valueText(value)]))
      expect(values).toEqual({ DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', STRIPE_KEY: 'sk_live_51H' })
    }
  })

  it('is remembered, and the next one is verified against what was remembered', async () => {
    const { deploy, bob } = world.actors
    const first = await openEnvironment(
      await world.answer(world.prod, deploy),
      world.prod,
      world.trust(world.fresh()),
      deploy,
    )
    const { store } = remember(world.fresh(), {
      directory: first.head.vault.directory,
      heads: [first.head],
      now: world.now,
    })
    const have = first.head.vault.directory.view.checkpoint.size
    await world.write(world.staging, [], bob)
    const second = await openEnvironment(
      await world.answer(world.prod, deploy, { have }),
      world.prod,
      world.trust(store, world.prod),
      deploy,
    )
    expect(second.head.hash).toBe(first.head.hash)
    expect(second.head.vault.directory.view.checkpoint.size).toBe(have + 1)
  })
})
