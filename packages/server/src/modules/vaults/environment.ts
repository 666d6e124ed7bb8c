import type { Input, Output, vaults } from '@strongroom/contract'
import { peekCheckpoint } from '@strongroom/protocol'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type Deps, type TxCtx, transact } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { makeRecent, type Recent } from '../../db/recent.ts'
import { type Ready, readyJson, type Travelling } from '../../http/one-trip.ts'
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

type KeyRow = Awaited<ReturnType<Travelling<Route>['trip']>>['key']

async function trip(deps: Deps, { apiKey, input, request }: Parameters<Travelling<Route, Found | null>['trip']>[1]) {
  const question = {
    // First: the answer is named by it.
    eventId: deps.newId('aud'),
    accessKey: apiKey.accessKey,
    secretHmac: apiKey.secretHmac.toString('hex'),
    vaultId: input.params.vaultId,
    keys: input.query.include?.includes('wrapped-key') ?? false,
    at: deps.now().toISOString(),
    requestId: request.requestId,
    ip: request.ip,
    userAgent: request.userAgent,
  }
  const row = await deps.database.readEnvironment(JSON.stringify(question))
  if (row === null) return { key: null, found: null }
  const end = row.indexOf('\n')
  return { key: keyIn(apiKey.accessKey, row.slice(end + 1)), found: foundIn(row.slice(0, end)) }
}

function foundIn(text: string): Found | null {
  if (text === '') return null
  const [headVersion, headHash = '', size, cosigned] = text.split(' ')
  return { headVersion: Number(headVersion), headHash, size: Number(size), cosigned: Number(cosigned) }
}

const MAX_KEYS = 5000
const keys = makeRecent<{ readonly text: string; readonly row: NonNullable<KeyRow> }>(MAX_KEYS)

/** Read in this statement each time; the same text is only not parsed again. */
function keyIn(accessKey: string, text: string): NonNullable<KeyRow> {
  const known = keys.get(accessKey)
  if (known?.text === text) return known.row
  const row = JSON.parse(text) as NonNullable<KeyRow>
  keys.set(accessKey, { text, row })
  return row
}

function handle(
  ctx: Ctx,
  input: Input<Route>,
  found: Found | null | undefined,
): Promise<Output<Route> | Ready> | Ready {
  // Also where the statement found nothing: the ordinary way says what exactly is refused, and records it.
  if (!found) return read(ctx, input, true)
  return answersOf(ctx).get(nameOf(ctx, input, found)) ?? makeAnswer(ctx, input, found)
}

async function makeAnswer(ctx: Ctx, input: Input<Route>, found: Found): Promise<Ready> {
  const body = await read(ctx, input, false)
  const bytes = readyJson(body)
  answersOf(ctx).set(nameOf(ctx, input, { ...found, headHash: body.headHash, size: sizeOf(body) ?? found.size }), bytes)
  return bytes
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

// For each database: a copy of one goes on to another log with other answers under the same names.
const answers = new WeakMap<Database, Recent<Ready>>()

function answersOf({ database }: Deps): Recent<Ready> {
  const kept = answers.get(database) ?? makeRecent<Ready>(MAX_BYTES, ({ length }) => length)
  answers.set(database, kept)
  return kept
}
