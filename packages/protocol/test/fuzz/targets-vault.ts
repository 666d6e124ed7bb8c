import { equalBytes } from '../../src/encoding/bytes.ts'
import { documentHash } from '../../src/identity/document.ts'
import { encodeMapProof, mapValue, proveMap } from '../../src/log/map.ts'
import { transition } from '../../src/transition/transition.ts'
import { checkEvidence } from '../../src/trust/check-evidence.ts'
import { environmentAnswerShape, openEnvironment } from '../../src/vault/answer.ts'
import { type CheckedCommit, type CommitBefore, checkCommit } from '../../src/vault/check-commit.ts'
import { commitShape } from '../../src/vault/commit.ts'
import { itemName, verifyItemRow, verifyItems } from '../../src/vault/rows.ts'
import type { Actors } from '../world/actors.ts'
import { ORG, oldestDekOf, type StoredVault, type World } from '../world/world.ts'
import type { Fixtures } from './fixtures.ts'
import { changeInside, envelopeInput, envelopeTree, insidesOf } from './inputs.ts'
import { mutateJson, treeOf } from './mutate-json.ts'
import { agree, same, type Target, target } from './target.ts'

// Sections 5.7, 6.3, 6.4 and 9.3: whole answers to readers, whole commits to the server, and evidence for third parties.

function reads({ answer, others, opened, trust, world }: Fixtures): Target[] {
  const tree = treeOf(answer)
  const pool = [answer, ...others].map(treeOf)
  const insides = insidesOf(tree)
  return [
    target(
      'environmentAnswerShape',
      1,
      (random) => mutateJson(random, tree, pool),
      (candidate) => environmentAnswerShape(candidate, 'answer'),
    ),
    target(
      'openEnvironment',
      0.03,
      (random) => (random.once(3) ? changeInside(random, tree, insides) : mutateJson(random, tree, pool)),
      async (candidate) => {
        const found = await openEnvironment(candidate, world.prod, trust, world.actors.deploy)
        agree(found.head.hash === opened.head.hash, 'another head was accepted')
        const { checkpoint } = found.head.vault.directory.view
        const honest = opened.head.vault.directory.view.checkpoint
        agree(checkpoint.size === honest.size && equalBytes(checkpoint.root, honest.root), 'another log was accepted')
        agree(found.fields.length === opened.fields.length, 'more or fewer fields were opened')
        for (const { row, value } of opened.fields) {
          const field = found.fields.find((one) => one.row.fieldId === row.fieldId)
          agree(field !== undefined && same(field.row, row), 'a field has another name or place')
          agree(
            field?.value.type === value.type && equalBytes(field.value.value, value.value),
            'a field has another value',
          )
        }
      },
    ),
  ]
}

/** The item list of a vault, whole and one row at a time. */
function rows({ opened, world }: Fixtures): Target[] {
  const { items } = (world.vaults.get(world.prod) as StoredVault).content
  const list = [...items.values()]
  const tree = treeOf(list)
  const entries = list.map((row) => [itemName(row.itemId), mapValue(row)] as const)
  const samples = list.map((row) => treeOf({ row, proof: encodeMapProof(proveMap(entries, itemName(row.itemId))) }))
  return [
    target(
      'verifyItems',
      1,
      (random) => mutateJson(random, tree),
      (candidate) => {
        if (!Array.isArray(candidate)) return
        const found = verifyItems(opened.head, candidate)
        agree(
          found.every((row) => same(row, items.get(row.itemId))),
          'an item was listed that nobody wrote',
        )
        agree(found.length === list.length, 'an item was left out or listed twice')
      },
    ),
    target(
      'verifyItemRow',
      1,
      (random) => mutateJson(random, random.pick(samples), samples),
      (candidate) => {
        const claim = candidate as { row?: unknown; proof?: unknown } | null
        const found = verifyItemRow(opened.head, claim?.row, claim?.proof)
        agree(same(found, items.get(found.itemId)), 'an item was shown that nobody wrote')
      },
    ),
  ]
}

const evidence = ({ evidence: samples }: Fixtures): Target => {
  const trees = samples.map(treeOf)
  return target(
    'checkEvidence',
    0.02,
    (random) => mutateJson(random, random.pick(trees), trees),
    async (candidate) => {
      const { claimed, found, reproduced } = await checkEvidence(candidate)
      agree(reproduced === (claimed === found), 'a verdict contradicts itself')
    },
  )
}

const beforeCommit = (world: World): CommitBefore => {
  const stored = world.vaults.get(world.prod) as StoredVault
  const members = Object.values(world.actors as Actors)
  return {
    org: ORG,
    vaultId: world.prod,
    content: stored.content,
    item: async (itemId) => stored.items.get(itemId),
    oldestDek: async (but) => oldestDekOf(stored, but),
    keyOf: (kid) => members.find((who) => who.kid === kid)?.key,
  }
}

function commits({ commit, world }: Fixtures): Target[] {
  const tree = treeOf(commit)
  const pool = [tree, ...[commit.head, ...commit.docs].map(envelopeTree)]
  const before = beforeCommit(world)
  let honest: CheckedCommit | undefined
  return [
    target(
      'commitShape',
      1,
      (random) => mutateJson(random, tree, pool),
      (candidate) => commitShape(candidate, 'commit'),
    ),
    target(
      'checkCommit',
      0.05,
      (random) => {
        if (random.once(2)) return mutateJson(random, tree, pool)
        const docs = [...commit.docs]
        const at = random.int(docs.length)
        docs[at] = envelopeInput(random, docs[at] as (typeof docs)[number], pool) as (typeof docs)[number]
        return { ...commit, docs }
      },
      async (candidate) => {
        honest ??= await checkCommit(before, commit)
        const found = await checkCommit(before, commitShape(candidate, 'commit'))
        // The head is not verified here, but by the transition; what it commits to must follow from the details.
        agree(
          same(Object.fromEntries(found.content.env), Object.fromEntries(honest.content.env)),
          'other fields result',
        )
        agree(
          same(Object.fromEntries(found.content.items), Object.fromEntries(honest.content.items)),
          'other items result',
        )
      },
    ),
  ]
}

/** What any member can send to the server, and the server to an auditor. */
function acts({ acts: samples, world }: Fixtures): Target {
  const trees = samples.map((docs) => treeOf(docs))
  const envelopes = trees.map(({ root }) => treeOf((root as readonly object[])[0]))
  const { ledger, leaves } = world.host
  const signed = new Set(samples.flat().map(documentHash))
  return target(
    'transition',
    0.02,
    (random) => {
      const at = random.int(samples.length)
      const [envelope] = samples[at] as readonly [(typeof samples)[number][number]]
      return random.once(2)
        ? mutateJson(random, trees[at] as (typeof trees)[number], envelopes)
        : [envelopeInput(random, envelope, envelopes)]
    },
    async (docs) => {
      if (!Array.isArray(docs)) return
      const { d } = await transition(ledger, leaves.length, { docs, at: world.now })
      agree(
        d.every((hash) => signed.has(hash)),
        'an act was accepted that nobody signed',
      )
    },
  )
}

export const vaultTargets = (fixtures: Fixtures): readonly Target[] => [
  ...reads(fixtures),
  ...rows(fixtures),
  evidence(fixtures),
  ...commits(fixtures),
  acts(fixtures),
]
