import { adoptRecovery, verifyRecovery } from '../../../src/trust/recovery.ts'
import { remember } from '../../../src/trust/remember.ts'
import { orgTrustOf, type TrustStore } from '../../../src/trust/store.ts'
import { verifyVaultAnswer } from '../../../src/vault/answer.ts'
import { backupOf, loseTo, makeStatement, recoveryAnswer } from '../../world/recovery.ts'
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

// Section 9.4: a recovery and a read at the same time.

async function readWith(world: World, store: TrustStore) {
  const { log, genesis, freshness } = world.trust(store)
  const answer = await world.vaultAnswer(world.prod, log.seen ? { have: log.seen.size } : {})
  const head = await verifyVaultAnswer(answer, world.prod, { log, genesis, freshness })
  return { directory: head.vault.directory, heads: [head], now: world.now }
}

/** A client that has seen a log, and the log put back, with a statement in it. */
async function lost(world: World) {
  const backup = backupOf(world)
  for (let i = 0; i < 3; i++) await world.write(world.prod, [], world.actors.bob)
  const seen = remember(world.fresh(), await readWith(world, world.fresh())).store
  const early = await readWith(world, seen)
  const statement = await makeStatement(world, await loseTo(world, backup), [world.actors.alice])
  await world.host.append([statement], world.now)
  const { freshness } = world.trust(seen)
  const recovery = await verifyRecovery(await recoveryAnswer(world, statement), ORG, orgTrustOf(seen, ORG), freshness)
  return { seen, early, recovery }
}

export const RECOVERY_CASES = [
  extra('recovery-of-a-store-that-moved-on', 'missing_consistency', async (open) => {
    const world = await open()
    const { seen, recovery } = await lost(world)
    const adopted = adoptRecovery(seen, recovery, world.now).store
    return adoptRecovery(adopted, recovery, world.now)
  }),
  extra('read-of-the-log-that-was-given-up', 'missing_consistency', async (open) => {
    const world = await open()
    const { seen, early, recovery } = await lost(world)
    const adopted = adoptRecovery(seen, recovery, world.now).store
    for (let i = 0; i < 4; i++) await world.write(world.prod, [], world.actors.bob)
    const { store } = remember(adopted, await readWith(world, adopted))
    return remember(store, early)
  }),
]
