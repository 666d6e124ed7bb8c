import { expect } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { auditLeaf, type LeafMaterial, type Ledger } from '../../src/transition/ledger.ts'
import { LEAF_TYPES } from '../../src/transition/transition.ts'
import { refusal } from '../log/refusal.ts'
import type { LoggedLeaf } from '../world/log-host.ts'

// What a server can say falsely in one leaf, told to an auditor.

export const materialOf = ({ made, docs }: LoggedLeaf): LeafMaterial => ({
  leaf: made.bytes,
  docs,
  ...(made.updates && { updates: made.updates }),
  ...(made.documents && { documents: made.documents }),
})
const rootOf = (ledger: Ledger): string => toBase64url(ledger.map.root())

interface LeafText {
  d: string[]
  u: [string, string, string][]
  r: string
  t: string
  at: number
}
const HASH = toBase64url(new Uint8Array(32).fill(7))

/** Every way in which one leaf can lie about its documents. */
export const LIES: Readonly<Record<string, (leaf: LeafText, docs: Envelope[]) => void>> = {
  'without an update': (leaf) => {
    leaf.u.pop()
  },
  'with an update more': (leaf) => {
    leaf.u.push(['zzz/more', '', HASH])
  },
  'with an update under another name': (leaf) => {
    const last = leaf.u.at(-1) as [string, string, string]
    last[0] = 'zzz/other'
  },
  'with another old value': (leaf) => {
    const [first] = leaf.u as [[string, string, string]]
    first[1] = first[1] === '' ? HASH : ''
  },
  'with another new value': (leaf) => {
    const [first] = leaf.u as [[string, string, string]]
    first[2] = HASH
  },
  'with another root': (leaf) => {
    leaf.r = HASH
  },
  'with another type': (leaf) => {
    leaf.t = LEAF_TYPES.find((t) => t !== leaf.t) as string
  },
  'that names a document less': (leaf) => {
    leaf.d.pop()
  },
  'that names another document': (leaf) => {
    leaf.d[0] = HASH
    leaf.d.sort()
  },
  'with a document less': (_leaf, docs) => {
    docs.pop()
  },
  'with a document twice': (_leaf, docs) => {
    docs.push(docs[0] as Envelope)
  },
  'without the signatures of a document': (_leaf, docs) => {
    docs[0] = { ...(docs[0] as Envelope), signatures: [] }
  },
  'dated before the leaf before it': (leaf) => {
    leaf.at = 1
  },
}

export function lie({ made, docs }: LoggedLeaf, change: (leaf: LeafText, docs: Envelope[]) => void): LeafMaterial {
  const leaf = JSON.parse(new TextDecoder().decode(made.bytes)) as LeafText
  const delivered = [...docs]
  change(leaf, delivered)
  return { leaf: canonical(leaf), docs: delivered }
}

/** Tells every lie about a leaf to an auditor who stands before it; each is refused, and the auditor stands as before. */
export async function expectAllRefused(auditor: Ledger, logged: LoggedLeaf): Promise<void> {
  const before = rootOf(auditor)
  const size = auditor.size()
  for (const [name, change] of Object.entries(LIES)) {
    expect(await refusal(() => auditLeaf(auditor, lie(logged, change))), name).not.toBe('accepted')
    expect([rootOf(auditor), auditor.size()], name).toEqual([before, size])
  }
}
