import type { transparency } from '@strongroom/contract'
import { NOTE_COSIGNATURE, parseVkey, type VerifiedCheckpoint, verifyCheckpoint } from '@strongroom/protocol'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import * as log from '../../log/cosignature-store.ts'
import { refusing } from '../../log/refusals.ts'
import { checkpointOf } from './store.ts'

// How cosignatures reach clients. A client ignores keys it does not know and refuses a checkpoint with a bad line by one it does
// know: so nothing is kept but what a registered key signed, verified here, over the text of our own checkpoint.

const MAX_AHEAD_SECONDS = 600

const unregistered = (line: string): ApiError =>
  new ApiError('witness_not_registered', { details: { name: line.split(' ')[1] ?? '' } })

/** Each line with the key that signed it. */
function matched(lines: readonly string[], { cosignatures }: VerifiedCheckpoint): readonly log.CosignatureRow[] {
  // Verified in the order of the note; a line by a key that is not registered was passed over.
  const rows: log.CosignatureRow[] = []
  const waiting = [...cosignatures]
  for (const line of lines) {
    const next = waiting[0]
    if (!next || !isBy(line, next.key)) throw unregistered(line)
    waiting.shift()
    rows.push({ vkey: next.key.vkey, line, signedAt: next.timestamp })
  }
  return rows
}

function isBy(line: string, key: VerifiedCheckpoint['cosignatures'][number]['key']): boolean {
  const [, name, encoded] = line.split(' ')
  const keyId = Buffer.from(encoded ?? '', 'base64').subarray(0, key.keyId.length)
  return name === key.name && keyId.equals(key.keyId)
}

async function verifyLines(ctx: TxCtx, size: number, lines: readonly string[]): Promise<readonly log.CosignatureRow[]> {
  const { db, principal, now } = ctx
  const { origin, vkey } = found(await log.lockCosignatures(db, principal.orgId), 'leaf_not_found')
  const { note } = found(await log.bareCheckpoint(db, principal.orgId, size), 'leaf_not_found')
  const witnesses = (await log.witnessKeys(db, principal.orgId)).map((key) => ({ key: parseVkey(key) }))
  const cosigned = note + lines.map((line) => `${line}\n`).join('')
  const verified = await refusing(() =>
    verifyCheckpoint(cosigned, { origin, logKeys: [vkey], cosigners: { witnesses } }),
  )
  const rows = matched(lines, verified)
  if (new Set(rows.map((row) => row.vkey)).size < rows.length) throw new ApiError('invalid_signature')
  // It would be kept as the newest for as long as the log stands still.
  const latest = Math.floor(now().getTime() / 1000) + MAX_AHEAD_SECONDS
  if (rows.some(({ signedAt }) => signedAt > latest))
    throw new ApiError('invalid_signature', { details: { rule: 'time_ahead' } })
  return rows
}

export const addCosignatures: Handler<typeof transparency.addCosignatures> = (ctx, { body: { size, signatures } }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const rows = await verifyLines(ctx, size, signatures)
    await log.keepCosignatures(db, principal.orgId, size, rows)
    await log.refreshCosignatures(db, principal.orgId)
    await record(ctx, { action: 'transparency.cosign', metadata: { size, witnesses: rows.map(({ vkey }) => vkey) } })
    return { checkpoint: found(await checkpointOf(db, principal.orgId, size), 'leaf_not_found').note, size }
  })

const listed = (vkeys: readonly string[]) => ({ witnesses: vkeys.map((vkey) => ({ vkey })) })

export const witnesses: Handler<typeof transparency.witnesses> = (ctx) =>
  transact(ctx, async ({ db, principal }) => listed(await log.witnessKeys(db, principal.orgId)))

function ensureWitnessKey(vkey: string): void {
  if (parseVkey(vkey).type !== NOTE_COSIGNATURE)
    throw new ApiError('invalid_document', { details: { rule: 'wrong_type', vkey } })
}

export const setWitnesses: Handler<typeof transparency.setWitnesses> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { db, principal, now } = ctx
    const vkeys = [...new Set(body.witnesses.map(({ vkey }) => vkey))]
    await refusing(async () => vkeys.forEach(ensureWitnessKey))
    await log.lockCosignatures(db, principal.orgId)
    await log.replaceWitnessKeys(db, principal.orgId, vkeys, now())
    await log.refreshCosignatures(db, principal.orgId)
    await record(ctx, { action: 'directory.witnesses.set', metadata: { witnesses: vkeys } })
    return listed(await log.witnessKeys(db, principal.orgId))
  })
