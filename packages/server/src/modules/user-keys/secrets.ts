import { checkKdf } from '@strongroom/protocol'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { refusing } from '../../log/refusals.ts'
import { ensureUsableRecord, hashRecoveryToken } from '../sessions/opaque.ts'
import * as store from './store.ts'

// What other modules do with people's sealed keys: keep them for a new person, read them at login, let them go.

export interface OfferedRecovery {
  readonly bundle: string
  readonly token: string
}

export interface OfferedSecrets {
  readonly registrationRecord: string
  readonly kdf: string
  readonly bundleVersion: number
  readonly privateBundle: string
}

/** Refuses what would lock its owner out or make guessing cheap. Slow work, so it is done before any transaction. */
export async function ensureKeepable(
  deps: Deps,
  email: string,
  { registrationRecord, kdf }: Pick<OfferedSecrets, 'registrationRecord' | 'kdf'>,
): Promise<void> {
  await ensureUsableRecord(deps, email, registrationRecord)
  await refusing(async () => checkKdf(kdf, { policyKdf: 'argon2id' }))
}

export const recoveryRow = (recovery: OfferedRecovery, version: number): store.RecoveryRow => ({
  bundle: recovery.bundle,
  tokenHash: hashRecoveryToken(recovery.token),
  version,
})

/** The first secrets of a person. */
export async function keepSecrets(
  deps: Pick<Deps, 'now'>,
  db: Db,
  owner: store.Owner,
  offered: OfferedSecrets & { readonly kid: string; readonly recovery?: OfferedRecovery },
): Promise<void> {
  const { registrationRecord, kid, kdf, bundleVersion, privateBundle, recovery } = offered
  const row = recovery && recoveryRow(recovery, bundleVersion)
  await store.insertSecrets(
    db,
    owner,
    { record: registrationRecord, kid, kdf, bundleVersion, privateBundle },
    row,
    deps.now(),
  )
}

export const secretsOf = (db: Db, orgId: string, userId: string): Promise<store.StoredSecrets | undefined> =>
  store.secrets(db, { orgId, userId })

export const dropSecrets = (db: Db, owner: store.Owner): Promise<void> => store.deleteSecrets(db, owner)
