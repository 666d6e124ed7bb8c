import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  EMPTY_TRUST_STORE,
  NO_WITNESSES,
  type OrgTrust,
  orgTrustOf,
  ProtocolError,
  parseTrustAnchor,
  pinAnchor,
  type VerifiedRecovery,
  verifyRecovery,
} from '@strongroom/protocol'
import type { Client } from '../client.ts'
import type { Seen, SeenRecord } from './record.ts'
import { Unproven } from './refusals.ts'
import { seenOf } from './witness.ts'

// Docs/reference/protocol.md 9.4 for cosigners: a restored log contradicts what was cosigned, and stays refused until whoever runs the cosigner
// names the statement by which it goes on. The statement is verified like any client does; the name comes from the administrators.

export interface AcceptOptions {
  /** A trust anchor of the organisation: whose administrators count. */
  readonly anchor: string
  /** The hash of the statement, as the administrators gave it. */
  readonly statement: string
  readonly record: SeenRecord
  /** Where it is kept that the statement was used. */
  readonly directory: string
  readonly client: Pick<Client, 'transparency'>
}

export interface AcceptedRecovery {
  readonly keptSize: number
  readonly size: number
  /** The anchor asks for more than is kept: a new one is needed. */
  readonly outgrowsAnchor: boolean
}

/** Goes on with the restored log. Refuses with `Unproven` what is not proven, not there, or was used for another restore. */
export async function acceptRecovery(options: AcceptOptions): Promise<AcceptedRecovery> {
  const { anchor, record, directory, statement } = options
  const { origin, minimum } = parseTrustAnchor(anchor)
  const before = await record.latest(origin)
  if (!before.seen) throw new Unproven('nothing of this log was cosigned yet')
  const recovery = await proven(options, before.seen)
  await keepUse(directory, statement, { known: before.seen.note, served: recovery.view.checkpoint.note })
  if (!(await record.advance(origin, before, seenOf(recovery.view.checkpoint))))
    throw new Unproven('another process of this cosigner went on meanwhile')
  const { keptSize } = recovery.payload
  const outgrowsAnchor = minimum !== undefined && minimum.size > keptSize
  return { keptSize, size: recovery.view.checkpoint.size, outgrowsAnchor }
}

async function proven({ anchor, statement, client }: AcceptOptions, seen: Seen): Promise<VerifiedRecovery> {
  const { recoveries } = await client.transparency.recovery()
  const position = recoveries.findIndex(({ docHash }) => docHash === statement)
  const named = recoveries[position]
  if (!named) throw new Unproven(`the log has no recovery ${statement}`)
  const answer = await client.transparency.recoveryStatement({ params: { index: named.index } })
  const pins = { ...pinsOf(anchor, seen), recoveries: recoveries.slice(0, position) }
  try {
    const freshness = { now: Date.now(), maxStaleMs: 0 }
    const recovery = await verifyRecovery(answer, parseTrustAnchor(anchor).org, pins, freshness)
    if (recovery.docHash !== statement) throw new Unproven('the server sent another statement')
    return recovery
  } catch (error) {
    throw error instanceof ProtocolError ? new Unproven(`the recovery is refused: ${error.message}`) : error
  }
}

/** What a cosigner has seen, as a trust store says it. It is a witness itself and asks for none. */
function pinsOf(anchor: string, { note }: Seen): OrgTrust {
  const { minimum: _, ...parsed } = parseTrustAnchor(anchor)
  const store = pinAnchor(EMPTY_TRUST_STORE, { ...parsed, tlogPolicy: NO_WITNESSES }, 'pinned')
  return { ...orgTrustOf(store, parsed.org), checkpoint: note }
}

interface Use {
  readonly known: string
  readonly served: string
}

/** A statement serves for one restore. The same step again, after a crash, is the same use. */
async function keepUse(directory: string, statement: string, use: Use): Promise<void> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(statement)) throw new Unproven('a statement is named by its hash')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `recovered-${statement}.json`)
  const file = await open(path, 'wx', 0o600).catch((error: { code?: string }) => {
    if (error.code === 'EEXIST') return undefined
    throw error
  })
  if (!file) {
    const { known } = JSON.parse(await readFile(path, 'utf8')) as Partial<Use>
    if (known !== use.known) throw new Unproven('this recovery was accepted before; a further restore needs its own')
    return
  }
  try {
    await file.writeFile(`${JSON.stringify({ version: 1, kind: 'recovery', statement, ...use }, undefined, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}
