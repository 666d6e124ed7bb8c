import { copyFileSync, existsSync, renameSync } from 'node:fs'
import type { Config } from '../config.ts'
import { StartError } from '../errors.ts'
import { makeRootKeyFile, readRootKey, readRootKeyFile, rootKeyFileOf } from '../secrets/root-key.ts'
import { asOperator, type OperatorOptions } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'
import { rotateRootKey } from './root-key-rotation.ts'

// The new root key is on disk before anything is sealed with it, and takes its place when everything is. Whatever breaks in
// between, the same order again goes on with the same key.

export interface RotatedRootKey {
  readonly resealed: number
  /** Where the new one is. */
  readonly file: string
  /** Where the old one is, for archives that are locked with it; null where the environment held it. */
  readonly old: string | null
}

export async function rotateRootKeyFile(
  config: Config,
  out: string | undefined,
  options: OperatorOptions,
): Promise<RotatedRootKey> {
  const file = rootKeyFileOf(config)
  const draft = file === undefined ? out : `${file}.next`
  if (draft === undefined)
    throw new OperatorError(
      'root_key_in_environment',
      'the root key comes from STRONGROOM_ROOT_KEY, where nobody but you can change it',
      'say where to write the new one: --out FILE',
    )
  const old = readRootKey(config)
  if (!existsSync(draft)) makeRootKeyFile(draft)
  const next = readRootKeyFile(draft)
  const rotate = (working: Config) =>
    asOperator(working, (deps) => rotateRootKey(deps, old, next), { ...options, migrates: false })
  const { resealed } = await rotate(config).catch((error: unknown) => {
    // An earlier run ended after its transaction: the database is under the new key already.
    if (!(error instanceof StartError) || error.code !== 'root_key_wrong') throw error
    const { rootKey: _, ...rest } = config
    return rotate({ ...rest, rootKey: undefined, rootKeyFile: draft })
  })
  if (file === undefined) return { resealed, file: draft, old: null }
  const kept = `${file}.until-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  copyFileSync(file, kept)
  renameSync(draft, file)
  return { resealed, file, old: kept }
}
