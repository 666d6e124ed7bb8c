import type { ExposedKey } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { findPrincipal } from '../place/principals.ts'

// Keys by whose they are. What is said of them is read in the whole log, which is verified for it.

export interface Owner {
  readonly id: string
  readonly name: string
}

const KEY_ID = /^((?:user|agent):[A-Za-z0-9_-]+):([a-z2-7]{32})$/

export const isKeyId = (text: string): boolean => KEY_ID.test(text)

/** Whoever is named; the caller, where nobody is. */
export async function ownerOf(cli: Cli, who: string | undefined): Promise<Owner> {
  if (who !== undefined) return findPrincipal(cli, KEY_ID.exec(who)?.[1] ?? who)
  const { id, name } = await (await cli.strongroom()).me({ signal: cli.signal })
  return { id, name }
}

export async function keysOf(cli: Cli, { id }: Owner): Promise<readonly ExposedKey[]> {
  const strongroom = await cli.strongroom()
  return strongroom.transparency.keys(id, { signal: cli.signal })
}

export const fingerprintOf = (keyId: string): string => keyId.slice(keyId.lastIndexOf(':') + 1)

/** In fours, to be read aloud. */
export const inFours = (fingerprint: string): string => fingerprint.replace(/(.{4})(?=.)/g, '$1 ')

/** What somebody read aloud or pasted: a key id, or a fingerprint with or without gaps. */
export const typedFingerprint = (text: string): string =>
  (KEY_ID.exec(text.trim())?.[2] ?? text).toLowerCase().replace(/[\s-]/g, '')
