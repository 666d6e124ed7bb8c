import type { Read } from '../project/read-sources.ts'
import { textOf } from './shape.ts'

// What a child has in its environment: what we have, without our credentials, and the variables it was started for.

const KEPT_WHEN_CLEAN = ['PATH', 'HOME', 'TERM', 'LANG'] as const
const CREDENTIALS = [
  'STRONGROOM_BUNDLE',
  'STRONGROOM_API_KEY',
  'STRONGROOM_PRIVATE_KEY',
  'STRONGROOM_ACCESS_TOKEN',
  'STRONGROOM_PASSPHRASE',
  'STRONGROOM_SETUP_TOKEN',
] as const

type Env = Readonly<Record<string, string | undefined>>

/** Our own environment as a child may have it. `bundle` is where a profile says that its bundle is: `env:NAME`. */
export function ownEnvironment(env: Env, isClean: boolean, bundle?: string): Readonly<Record<string, string>> {
  const dropped = new Set<string>(CREDENTIALS.flatMap((name) => [name, `${name}_FILE`]))
  if (bundle?.startsWith('env:')) dropped.add(bundle.slice('env:'.length))
  const kept = Object.entries(env).filter(([name, value]) => {
    if (value === undefined || dropped.has(name)) return false
    return !isClean || (KEPT_WHEN_CLEAN as readonly string[]).includes(name)
  })
  return Object.fromEntries(kept) as Record<string, string>
}

export const revealed = (variables: ReadonlyMap<string, Read>): Readonly<Record<string, string>> =>
  Object.fromEntries([...variables].map(([name, read]) => [name, textOf(read)]))

/** What is masked: the secrets, not the text of a project file. */
export const maskedValues = (variables: ReadonlyMap<string, Read>): readonly (readonly [string, Uint8Array])[] =>
  [...variables].flatMap(([name, { value }]) => (typeof value === 'string' ? [] : [[name, value.bytes()] as const]))
