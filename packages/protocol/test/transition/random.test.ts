// Catches: a server and an auditor who come to different states from the same acts; an auditor who believes a lie about a leaf;
// acts that the log accepts and that readers then refuse, so that somebody loses a vault.
// Seen red: the ledger giving tombstones as live grants; `end` set to the index of the leaf itself; grants of a rotation not
// written; an admin change whose author is judged by the set after it; taint asked of readers only.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { ProtocolError } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { type GrantState, grantName } from '../../src/log/state.ts'
import { auditLeaf, type Ledger, makeLedger } from '../../src/transition/ledger.ts'
import { LEAF_TYPES } from '../../src/transition/transition.ts'
import { verifyWrappedKey } from '../../src/vault/grants.ts'
import { verifyHead } from '../../src/vault/vault.ts'
import { unwrapDek } from '../../src/wraps/wrapped-key.ts'
import { openDirectory, openVault, vaultResponse } from '../directory/full.ts'
import { ORG } from '../world/world.ts'
import { expectAllRefused, materialOf } from './lies.ts'
import { type Chance, drawAct, everybody, openRandomOrg, type RandomOrg } from './random-acts.ts'

const draws = fc.array(fc.array(fc.nat(10_000), { minLength: 12, maxLength: 12 }), { minLength: 8, maxLength: 24 })
const rootOf = (ledger: Ledger): string => toBase64url(ledger.map.root())

function chanceOf(numbers: readonly number[]): Chance {
  let at = 0
  return { pick: (below) => (numbers[at++ % numbers.length] as number) % below }
}

/** Does one act after the other; gives the types of those that were accepted. */
async function live(org: RandomOrg, acts: readonly (readonly number[])[]): Promise<string[]> {
  const accepted: string[] = []
  for (const numbers of acts) {
    const act = await drawAct(org, chanceOf(numbers))
    if (!act) continue
    try {
      accepted.push((await org.world.host.append(act.docs, org.world.now)).t)
      act.accepted?.()
    } catch (error) {
      // Not every draw is a valid act; a refusal is one of the protocol, and leaves nothing behind.
      if (!(error instanceof ProtocolError)) throw error
    }
  }
  return accepted
}

it('leads server and auditor to the same state, and no lie about any leaf is believed', {
  timeout: 120_000,
}, async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(draws, fc.nat(), async (acts, which) => {
      const org = await openRandomOrg()
      for (const t of await live(org, acts)) seen.add(t)
      const { leaves, ledger } = org.world.host
      const suspect = 1 + (which % (leaves.length - 1))
      const auditor = makeLedger(ORG)
      for (const [index, logged] of leaves.entries()) {
        if (index === suspect) await expectAllRefused(auditor, logged)
        await auditLeaf(auditor, { ...materialOf(logged), docs: logged.docs.toReversed() })
      }
      expect(rootOf(auditor)).toBe(rootOf(ledger))
    }),
    { numRuns: 20 },
  )
  // A generator that draws nothing would prove nothing.
  expect(LEAF_TYPES.filter((t) => !seen.has(t) && t !== 'org.genesis')).toEqual([])
})

/** Refusals that a compromise brings about on purpose; anything else would lock honest readers out. */
async function unlessCompromised(run: () => Promise<void>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'signer_compromised') return false
    throw error
  }
}

it('leaves every vault readable by every key that the log grants it to, unless it leans on a compromised key', {
  timeout: 120_000,
}, async () => {
  let opened = 0
  await fc.assert(
    fc.asyncProperty(draws, async (acts) => {
      const org = await openRandomOrg()
      await live(org, acts)
      const { world, deks } = org
      const directory = await openDirectory(world)
      for (const [vaultId, versions] of deks)
        await unlessCompromised(async () => {
          const vault = await openVault(world, vaultId, directory)
          await verifyHead(vault, vaultResponse(world, vaultId).head)
          for (const reader of everybody(org)) {
            for (const [version, dek] of versions) {
              const grant = world.host.state(grantName(vaultId, reader.kid, version)) as GrantState | undefined
              if (!grant?.wrapHash) continue
              const envelope = world.host.ledger.document(grant.wrapHash) as Envelope
              const isOpen = await unlessCompromised(async () => {
                const wrapped = await verifyWrappedKey(vault, envelope, reader)
                expect((await unwrapDek(wrapped, reader)).dekCommit).toBe(dek.dekCommit)
              })
              if (isOpen) opened++
            }
          }
        })
    }),
    { numRuns: 15 },
  )
  expect(opened).toBeGreaterThan(100)
})
