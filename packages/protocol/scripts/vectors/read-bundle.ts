import type { VectorFile } from './file.ts'
import { ALTERED } from './read-altered.ts'
import { answerOf, caseOf, READERS, type ReaderName, type Situation, seenAt, trustOf } from './read-desk.ts'
import { LOGGED } from './read-logged.ts'
import { fixedWorld } from './world-desk.ts'

// Section 6.4 as a whole: one environment, read by three readers, and every way of section 10 to lie about it.

const plain = (reader: ReaderName): Situation => ({
  name: `an honest answer for ${READERS[reader]}`,
  reader,
  make: async (world) => ({ answer: await answerOf(world, reader) }),
})

const grown: Situation = {
  name: 'with memory of a shorter log, and a proof that it only grew',
  make: async (world) => {
    return { answer: await answerOf(world, 'ed25519', { have: 7 }), trust: { seen: seenAt(world, 7) } }
  },
}

export async function makeReadBundle(): Promise<VectorFile> {
  const world = await fixedWorld()
  const answers = {
    ed25519: await answerOf(world, 'ed25519'),
    rsaOnly: await answerOf(world, 'rsaOnly'),
    hybrid: await answerOf(world, 'hybrid'),
  }
  const situations = [plain('ed25519'), plain('rsaOnly'), plain('hybrid'), grown, ...LOGGED, ...ALTERED]
  const cases = []
  for (const situation of situations) cases.push(await caseOf(situation, world, answers))
  return {
    vectors: 'read-bundle',
    section: '6.4',
    comment:
      'Whole answers to a read of an environment. The answer of a case is the named one of `given.answers` after its `patch` (RFC 6902); what the reader has pinned is `given.trust` with the members of `trust` exchanged.',
    given: { trust: trustOf(world), answers },
    cases,
  }
}
