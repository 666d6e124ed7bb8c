import { randomInt } from 'node:crypto'
import type { Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { explainingKeys } from '../errors/wrapped-key.ts'
import { type FieldPlace, isVariableName, referenceOf } from '../place/reference.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
export const SHORTEST_GENERATED = 8
export const LONGEST_GENERATED = 1024

export function generated(length: number): string {
  if (length < SHORTEST_GENERATED || length > LONGEST_GENERATED)
    throw new CliError('usage', `--generate takes a length from ${SHORTEST_GENERATED} to ${LONGEST_GENERATED}`)
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** A new field is exported if its name can be a variable; one that is there stays as it is. */
export async function exportWish(cli: Cli, strongroom: Strongroom, place: FieldPlace): Promise<boolean | undefined> {
  if (isVariableName(place.field)) return undefined
  const item = await strongroom.items.get(place.vault, place.item, { signal: cli.signal }).catch(() => undefined)
  return item?.fields.some(({ label }) => label === place.field) ? undefined : false
}

interface Wishes {
  readonly env: boolean | undefined
  readonly ifVersion: number | undefined
}

/** Encrypted here, signed and committed. */
export const storeValue = (
  cli: Cli,
  { secrets }: Strongroom,
  place: FieldPlace,
  value: string | Uint8Array,
  { env, ifVersion }: Wishes,
): Promise<{ readonly version: number; readonly created: boolean }> =>
  explainingKeys(cli, place.vault, async () =>
    secrets.set(referenceOf(place), value, {
      signal: cli.signal,
      ...(env !== undefined && { env }),
      ...(ifVersion !== undefined && { ifVersion }),
    }),
  )
