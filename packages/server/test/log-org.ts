import {
  type Cap,
  defaultPolicy,
  type Envelope,
  formatTrustAnchor,
  type Identity,
  type LogPin,
  makeDocument,
  orgGenesis,
  type Principal,
  parseVkey,
  registerKey,
} from '@strongroom/protocol'
import { type Deps, inOrg } from '../src/context.ts'
import { type Database, openDatabase } from '../src/db/database.ts'
import { type Appended, appendAct } from '../src/log/append.ts'
import { openLog } from '../src/log/log-key.ts'
import { logAnchor } from '../src/log/transparency.ts'
import { identityOf } from './actors.ts'

// An organisation whose log begins with a genesis by one founder, and whatever is appended to it.

export const T0 = Date.UTC(2026, 0, 1)
const WITNESSES = 'quorum none\n'
const SALT = 'AAAAAAAAAAAAAAAAAAAAAA'
/** Tests without witnesses: how old a checkpoint is says nothing. */
export const FRESH = { now: T0, maxStaleMs: Number.MAX_SAFE_INTEGER }

export interface LogOrg {
  readonly orgId: string
  readonly tenantId: string
  readonly founder: Identity
  readonly genesis: Envelope
  /** What a client without memory pins. */
  readonly pin: LogPin
  /** The same as a text, as clients are given it. */
  readonly trustAnchor: string
  append(docs: readonly Envelope[], database?: Database): Promise<Appended>
  /** A registration signed by founder and newcomer. */
  keyAdd(who: Identity, caps?: readonly Cap[]): Promise<Envelope>
}

interface Host {
  readonly deps: Deps
  org(name: string): Promise<{ orgId: string; tenantId: string }>
}

export const makeGenesis = (org: string, founders: readonly [Identity, ...Identity[]], quorum = 1): Promise<Envelope> =>
  makeDocument(
    orgGenesis,
    {
      org,
      at: T0,
      admins: founders.map(({ kid, key }) => ({ kid, key: key.bundle })).sort((a, b) => (a.kid < b.kid ? -1 : 1)),
      policy: { ...defaultPolicy(founders.length), dirQuorum: quorum },
      salt: SALT,
    },
    founders,
  )

type NameFounder = (org: { orgId: string; tenantId: string }) => Promise<Principal>

/** The founder is nobody in the database, unless it is made and named. */
export async function makeLogOrg(
  { deps, org }: Host,
  name: string,
  nameFounder: NameFounder = async () => 'user:ou_alice',
): Promise<LogOrg> {
  const { orgId, tenantId } = await org(name)
  const founder = await identityOf('alice', await nameFounder({ orgId, tenantId }))
  const append = (docs: readonly Envelope[], database: Database = deps.database): Promise<Appended> =>
    inOrg({ database }, orgId, (db) => appendAct(deps, db, orgId, { docs }))
  await inOrg(deps, orgId, (db) => openLog(deps, db, orgId))
  const genesis = await makeGenesis(orgId, [founder])
  await append([genesis])
  const anchor = await inOrg(deps, orgId, (db) => logAnchor(db, orgId))
  if (!anchor) throw new Error('the log has no beginning')
  const { origin, vkey } = anchor
  const pin: LogPin = {
    org: orgId,
    origin,
    logKeys: [parseVkey(vkey).vkey],
    witnessPolicy: WITNESSES,
    seen: null,
  }
  const { genesis: hash } = anchor
  const trustAnchor = formatTrustAnchor({
    org: orgId,
    genesis: hash,
    origin,
    logVkeys: [vkey],
    tlogPolicy: WITNESSES,
  })
  const keyAdd: LogOrg['keyAdd'] = (who, caps = [who.kid.startsWith('agent:') ? 'agent' : 'member']) =>
    registerKey({ org: orgId, caps, at: T0 }, founder, who)
  return { orgId, tenantId, founder, genesis, pin, trustAnchor, append, keyAdd }
}

/** The pool of a second server process on the same database. */
export function secondDatabase({ database }: Pick<Deps, 'database'>): Database {
  const { options } = database.pool
  // The driver hides the password from copies.
  return openDatabase(
    { connection: { ...options, password: options.password }, poolSize: options.max ?? 10 },
    () => undefined,
  )
}
