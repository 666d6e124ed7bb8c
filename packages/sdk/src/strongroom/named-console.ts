import { type LoggedPolicy, nameConsole, readPolicy } from '../engine/policy.ts'
import type { KeyedPlace } from './core.ts'
import type { NamedConsole } from './transparency.ts'

// Which console people of the organisation shall be served: in its policy, which the server cannot sign.

const namedIn = ({ policy, entry, version }: LoggedPolicy): NamedConsole | null =>
  policy.console === undefined ? null : { build: policy.console, entry, policyVersion: version }

export const namedConsole = async ({ actor, options }: KeyedPlace): Promise<NamedConsole | null> =>
  namedIn(await readPolicy(actor, options))

export async function recordConsole(
  { actor, options }: KeyedPlace,
  build: string,
): Promise<NamedConsole & { isNew: boolean }> {
  const { isNew, logged } = await nameConsole(actor, build, options)
  return { build, entry: logged.entry, policyVersion: logged.version, isNew }
}
