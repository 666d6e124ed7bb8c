import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { makeVerifierKey, NOTE_SIGNATURE, type NoteSigner } from '@strongroom/protocol'
import type { Config } from '../config.ts'
import type { Deps } from '../context.ts'
import type { Db } from '../db/database.ts'
import { provideServerSecret } from '../secrets/server-secrets.ts'
import * as store from './log-store.ts'

// Section 5.3 of docs/reference/protocol.md: the key that signs checkpoints. One key serves the logs of all organisations; the origin
// separates them, and the same key has another key id under each origin.

export const LOG_KEY = 'log-key'

type KeyDeps = Pick<Deps, 'rootKey' | 'now'>

function signerOf(pkcs8: Buffer): NoteSigner {
  const key: KeyObject = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  // Synchronous: between the last statement and the signature nothing else may happen.
  return { publicKey: Buffer.from(String(x), 'base64url'), sign: (message) => sign(null, message, key) }
}

const makeKey = (): Buffer => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })

/** Opened once per sealed form. A row that another root key sealed does not open, and then nothing is signed. */
const opened = new WeakMap<Deps['rootKey'], { readonly sealed: Buffer; readonly signer: NoteSigner }>()

export function openLogKey({ rootKey }: Pick<Deps, 'rootKey'>, sealed: Buffer): NoteSigner {
  const known = opened.get(rootKey)
  if (known?.sealed.equals(sealed)) return known.signer
  const pkcs8 = rootKey.open(LOG_KEY, sealed)
  if (!pkcs8) throw new Error('the root key does not open the key of the log')
  const signer = signerOf(pkcs8)
  opened.set(rootKey, { sealed, signer })
  return signer
}

const vkeys = new WeakMap<NoteSigner, Map<string, string>>()

export function vkeyOf(origin: string, signer: NoteSigner): string {
  const known = vkeys.get(signer) ?? new Map<string, string>()
  vkeys.set(signer, known)
  const vkey = known.get(origin) ?? makeVerifierKey(origin, NOTE_SIGNATURE, signer.publicKey).vkey
  known.set(origin, vkey)
  return vkey
}

/** `<host>/<32 random hex digits>`: witnesses learn nothing of whose log it is. */
export const newLogOrigin = ({ hosts, host }: Pick<Config, 'hosts' | 'host'>): string =>
  `${hosts[0] ?? host}/${randomBytes(16).toString('hex')}`

const provideLogKey = async (deps: KeyDeps, db: Db): Promise<NoteSigner> =>
  signerOf(await provideServerSecret({ ...deps, database: { kysely: db } }, LOG_KEY, makeKey))

/** The verifier key a log of this origin has; for an organisation that is still being made. */
export const logVkey = async (deps: KeyDeps, db: Db, origin: string): Promise<string> =>
  vkeyOf(origin, await provideLogKey(deps, db))

/**
 * The empty log of an organisation that was just made, in the same transaction. The first one ever makes the log's key: of
 * several processes that try, one is first, and the others wait for it here and take its key.
 */
export async function openLog(deps: KeyDeps, db: Db, orgId: string): Promise<void> {
  const origin = await store.originOf(db, orgId)
  await store.insertEmptyLog(db, { orgId, origin, vkey: await logVkey(deps, db, origin) })
}
