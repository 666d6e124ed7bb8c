import { rename } from 'node:fs/promises'
import type { Cli } from '../cli.ts'
import { readConfigFile } from '../place/config-file.ts'
import { type KeyStore, prepareFileStore } from '../place/key-store.ts'
import { hasMaster, openMaster } from '../place/sealed-files.ts'
import { slugOf } from './recovery-kit.ts'

// Where the keys of a person go on this machine, made ready before there is anything to keep.

/** Opens the key store; files are sealed with this passphrase. Refuses if they are sealed with another one. */
export async function readyKeyStore(cli: Cli, passphrase: string): Promise<KeyStore> {
  const store = await cli.keyStore()
  if (store.kind === 'file') await prepareFileStore(cli.keyPlace, passphrase)
  return store
}

/** Without the old passphrase, what it sealed cannot be opened any more: it is moved aside, not deleted. */
export async function setAsideLostKeys(cli: Cli, passphrase: string): Promise<string | undefined> {
  const { keys } = cli.paths
  const store = await cli.keyStore()
  if (store.kind !== 'file' || !(await hasMaster(keys)) || (await openMaster(keys, passphrase))) return undefined
  const aside = `${keys}-until-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}`
  await rename(keys, aside)
  return aside
}

/** A name that no other profile has: what was asked for, `default`, or the name of the organisation. */
export async function newProfileName({ paths, globals, io }: Cli, orgName: string): Promise<string> {
  const { profiles } = await readConfigFile(paths.config)
  const wanted = globals.profile ?? (io.env.STRONGROOM_PROFILE || undefined)
  if (wanted !== undefined) return wanted
  const isFree = (name: string): boolean => !Object.hasOwn(profiles, name)
  if (isFree('default')) return 'default'
  const slug = slugOf(orgName)
  let n = 1
  while (!isFree(n === 1 ? slug : `${slug}-${n}`)) n += 1
  return n === 1 ? slug : `${slug}-${n}`
}
