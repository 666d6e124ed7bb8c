import type { Input, Output, vaults } from '@strongroom/contract'
import { peekCheckpoint } from '@strongroom/protocol'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type Deps, type TxCtx, transact } from '../../context.ts'
import { type Ready, ready, type Travelling } from '../../http/one-trip.ts'
import { hashWithPepper } from '../../secrets/server-secrets.ts'
import { signedVault, signedWithKeys } from './answer.ts'
import * as store from './store.ts'

// The read that machines do all day. Who asks, whether they may, which head is current and the audit row are one statement
// (read_environments); the bytes of the answer are made once for each reader, head and size of the log, and kept for a while.

type Route = typeof vaults.environmentFields

interface Found {
  readonly headVersion: number
  readonly headHash: string
  readonly size: number
  /** Counts what witnesses added to the checkpoint of this size. */
  readonly cosigned: number
}

type Row = { readonly key: Awaited<ReturnType<Travelling<Route>['trip']>>['key']; readonly vault: Found | null }

async function trip(deps: Deps, { apiKey, input, request }: Parameters<Travelling<Route, Found | null>['trip']>[1]) {
  const question = {
    accessKey: apiKey.accessKey,
    secretHmac: hashWithPepper(deps.pepper, apiKey.secret).toString('hex'),
    vaultId: input.params.vaultId,
    keys: input.query.include?.includes('wrapped-key') ?? false,
    eventId: deps.newId('aud'),
    at: deps.now().toISOString(),
    requestId: request.requestId,
    ip: request.ip,
    userAgent: request.userAgent,
  }
  const row = await deps.database.readEnvironment<Row>(JSON.stringify(question))
  return { key: row?.key ?? null, found: row?.vault ?? null }
}

async function handle(ctx: Ctx, input: Input<Route>, found: Found | null | undefined): Promise<Output<Route> | Ready> {
  // Also where the statement found nothing: the ordinary way says what exactly is refused, and records it.
  if (!found) return read(ctx, input, true)
  const known = answers.get(nameOf(ctx, input, found))
  if (known) return ready(known)
  const body = await read(ctx, input, false)
  const bytes = Buffer.from(JSON.stringify(body))
  answers.set(nameOf(ctx, input, { ...found, headHash: body.headHash, size: sizeOf(body) ?? found.size }), bytes)
  return ready(bytes)
}

export const environmentFields: Travelling<Route, Found | null> = { trip, handle }

/** Everything an answer depends on. A grant that comes or goes is a leaf, and so another size. */
function nameOf(
  { principal, request }: Ctx,
  { params, query }: Input<Route>,
  { headHash, size, cosigned }: Found,
): string {
  const place = `${principal.orgId} ${principal.id} ${params.vaultId} ${headHash}`
  return query.include === undefined ? place : `${place} ${size} ${cosigned} ${query.include} ${request.have ?? ''}`
}

const sizeOf = ({ signed }: Output<Route>): number | undefined =>
  signed && peekCheckpoint((signed.transparency as { checkpoint: string }).checkpoint).size

const read = (ctx: Ctx, { params, query }: Input<Route>, audited: boolean): Promise<Output<Route>> =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { vaultId, headVersion, headHash } = vault
      if (audited) await record(ctx, { action: 'vault.environment.read', targets: [{ type: 'vault', id: vaultId }] })
      const data = await store.environmentFields(ctx.db, vault)
      return { data, headVersion, headHash, ...(await proofOf(ctx, vault, query.include?.split(',') ?? [])) }
    },
    { atOneMoment: true },
  )

async function proofOf(ctx: TxCtx, vault: Awaited<ReturnType<typeof openVault>>, wanted: readonly string[]) {
  if (wanted.includes('wrapped-key')) return signedWithKeys(ctx, vault)
  if (!wanted.includes('signers')) return {}
  const { signed } = await signedVault(ctx, vault)
  return { signed }
}

const MAX_BYTES = 64 * 1024 * 1024

/** The least recently used goes first. */
function makeAnswers() {
  const kept = new Map<string, Buffer>()
  let total = 0
  return {
    get: (name: string): Buffer | undefined => {
      const bytes = kept.get(name)
      if (bytes) {
        kept.delete(name)
        kept.set(name, bytes)
      }
      return bytes
    },
    set: (name: string, bytes: Buffer): void => {
      total += bytes.length - (kept.get(name)?.length ?? 0)
      kept.delete(name)
      kept.set(name, bytes)
      for (const [oldest, old] of kept) {
        if (total <= MAX_BYTES) break
        kept.delete(oldest)
        total -= old.length
      }
    },
  }
}
const answers = makeAnswers()
