import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { isSameRootKey, readRootKeyFile, rootKeyFileOf } from '../secrets/root-key.ts'
import { createGlobalAdminKey, listGlobalAdminKeys, revokeGlobalAdminKeys } from './admin-keys.ts'
import { type ArchiveLock, ensureOpens } from './archive.ts'
import { backup } from './backup.ts'
import { giveUp, listReview, nextIssuerKey, settleTermination } from './licenses.ts'
import { asOperator, type OperatorDeps, type OperatorOptions, type RootKeyCopy } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'
import { findOrg, type KnownOrg, knownOrgs } from './orgs.ts'
import { restore } from './restore.ts'
import { rotateRootKeyFile } from './root-key-file.ts'
import { newSetupToken } from './setup-token.ts'
import { markUnfinished, unmark } from './unfinished-restore.ts'
import { checkUpgrade } from './upgrade-check.ts'

// What an operator can order on the host, each as one message in and one answer out.

/** What opens or locks an archive; the root key of the server if neither is given. */
interface Lock {
  readonly passphrase?: string
  readonly rootKeyFile?: string
}

export type Order =
  | { readonly act: 'setup-token' }
  | { readonly act: 'orgs' }
  | { readonly act: 'create-key'; readonly org?: string }
  | { readonly act: 'list-keys'; readonly org?: string }
  | { readonly act: 'revoke-keys'; readonly org?: string; readonly accessKey?: string }
  | { readonly act: 'list-review'; readonly org?: string }
  | { readonly act: 'give-up-purchase'; readonly org?: string; readonly purchaseId: string }
  | {
      readonly act: 'settle-termination'
      readonly org?: string
      readonly terminationId: string
      /** In micro-units. */
      readonly refund: string
    }
  | { readonly act: 'rotate-issuer-key' }
  | ({ readonly act: 'backup'; readonly file: string } & Lock)
  | ({ readonly act: 'restore'; readonly file: string } & Lock)
  | { readonly act: 'rotate-root-key'; readonly out?: string }
  | { readonly act: 'upgrade-check' }

type Progress = (step: string) => void

const lockOf = ({ passphrase, rootKeyFile }: Lock, deps: OperatorDeps): ArchiveLock =>
  passphrase !== undefined
    ? { passphrase }
    : rootKeyFile !== undefined
      ? { rootKey: readRootKeyFile(rootKeyFile) }
      : deps

const named = ({ orgId, name }: KnownOrg) => ({ orgId, name })

async function ordered(deps: OperatorDeps, order: Order, progress: Progress): Promise<unknown> {
  switch (order.act) {
    case 'setup-token':
      return { setupToken: await newSetupToken(deps) }
    case 'orgs':
      return { orgs: await knownOrgs(deps) }
    case 'create-key': {
      const org = await findOrg(deps, order.org)
      return { org: named(org), ...(await createGlobalAdminKey(deps, org.orgId)) }
    }
    case 'list-keys': {
      const org = await findOrg(deps, order.org)
      return { org: named(org), keys: await listGlobalAdminKeys(deps, org.orgId) }
    }
    case 'revoke-keys': {
      const org = await findOrg(deps, order.org)
      return { org: named(org), revoked: await revokeGlobalAdminKeys(deps, org.orgId, order.accessKey) }
    }
    case 'list-review': {
      const org = await findOrg(deps, order.org)
      return { org: named(org), purchases: await listReview(deps, org.orgId) }
    }
    case 'give-up-purchase': {
      const org = await findOrg(deps, order.org)
      await giveUp(deps, org.orgId, order.purchaseId)
      return { org: named(org), purchaseId: order.purchaseId }
    }
    case 'settle-termination': {
      const org = await findOrg(deps, order.org)
      const { terminationId, refund } = order
      await settleTermination(deps, org.orgId, { terminationId, refund })
      return { org: named(org), terminationId, refund }
    }
    case 'rotate-issuer-key':
      return nextIssuerKey(deps)
    case 'backup': {
      const onRows = (rows: number): void => progress(`${rows} rows`)
      const report = await backup(deps, order.file, lockOf(order, deps), onRows)
      return { ...report, orgs: (await knownOrgs(deps)).map(named) }
    }
    case 'restore': {
      const report = await restore(deps, order.file, lockOf(order, deps))
      const rootKeyFile = rootKeyFileOf(deps.config) ?? null
      return { ...report, orgs: (await knownOrgs(deps)).map(named), rootKeyFile }
    }
    default:
      throw new TypeError(`there is no order ${order.act}`)
  }
}

/**
 * The key that locks the archive becomes that of the restored server, so that the copy the operator kept opens its backups too.
 * A key in the settings stays; another one in the directory is refused, since nobody would know which of the two to keep.
 */
function keyToKeep({ rootKey, rootKeyFile, dataDirectory }: Config, from: string): RootKeyCopy | undefined {
  if (rootKey !== undefined || rootKeyFile !== undefined) return undefined
  const to = join(dataDirectory, 'root.key')
  if (!existsSync(to)) return { from, to }
  if (isSameRootKey(from, to)) return undefined
  throw new OperatorError(
    'root_key_other',
    `the root key ${to} is another one than that of the archive`,
    'restore into an empty directory, or move that key away',
  )
}

/**
 * What a restore that was refused had made is gone again: the next one finds the directory as this one did. One that is killed cannot tidy
 * up: its mark stays beside the database it made, so that the next one may go on there. Nothing is deleted then; an organisation in the
 * database is refused as always.
 */
async function restoreInto(
  config: Config,
  order: Extract<Order, { act: 'restore' }>,
  options: OperatorOptions,
  progress: Progress,
) {
  const { dataDirectory, databaseUrl } = config
  const made = ['postgres', 'root.key'].map((name) => join(dataDirectory, name)).filter((path) => !existsSync(path))
  // A key that does not open the archive must not become that of a server.
  if (order.rootKeyFile !== undefined) await ensureOpens(order.file, { rootKey: readRootKeyFile(order.rootKeyFile) })
  const newRootKey = order.rootKeyFile === undefined ? undefined : keyToKeep(config, order.rootKeyFile)
  const makesDatabase = databaseUrl === undefined && made.includes(join(dataDirectory, 'postgres'))
  if (makesDatabase) markUnfinished(dataDirectory)
  try {
    const restored = await asOperator(config, (deps) => ordered(deps, order, progress), {
      ...options,
      ...(newRootKey && { newRootKey }),
    })
    unmark(dataDirectory)
    return restored
  } catch (error) {
    // A key that was made for a database of the operator's stays: that database has a secret under it.
    const ofOperator = databaseUrl !== undefined && newRootKey ? [newRootKey.to] : []
    for (const path of makesDatabase ? made : ofOperator) rmSync(path, { recursive: true, force: true })
    if (makesDatabase) unmark(dataDirectory)
    throw error
  }
}

export function carryOut(
  config: Config,
  order: Order,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
): Promise<unknown> {
  const options = { progress, signal }
  if (order.act === 'upgrade-check') return checkUpgrade(config, options)
  if (order.act === 'rotate-root-key') return rotateRootKeyFile(config, order.out, options)
  if (order.act === 'restore') return restoreInto(config, order, options, progress)
  return asOperator(config, (deps) => ordered(deps, order, progress), { ...options, migrates: false })
}
