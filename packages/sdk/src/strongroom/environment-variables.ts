import { type Platform, type StrongroomOptions, withBundle } from './options.ts'
import { ConfigError } from './public-errors.ts'

// The only place that reads the environment, and only when asked to.

const PARTS = {
  server: 'STRONGROOM_SERVER',
  apiKey: 'STRONGROOM_API_KEY',
  privateKey: 'STRONGROOM_PRIVATE_KEY',
  trustAnchor: 'STRONGROOM_TRUST_ANCHOR',
} as const

type Variables = Readonly<Record<string, string | undefined>>

/** A variable, or the content of the file that `…_FILE` names. Set and empty is not set. */
function textOf(env: Variables, name: string, { readText }: Platform): string | undefined {
  const direct = env[name]
  if (direct) return direct
  const file = env[`${name}_FILE`]
  if (!file) return undefined
  if (!readText)
    throw new ConfigError(`${name}_FILE names a file, and there are no files here`, {
      code: 'config_invalid',
      missing: [name],
      hint: `Set ${name} itself.`,
    })
  try {
    return readText(file)
  } catch (cause) {
    throw new ConfigError(`the file that ${name}_FILE names cannot be read`, {
      code: 'config_invalid',
      missing: [name],
      hint: 'Check that it is there and that this process may read it.',
      cause,
    })
  }
}

/** Options from `STRONGROOM_…`; `overrides` win. Refuses with a ConfigError that names every variable that is missing. */
export function optionsFromEnv(overrides: StrongroomOptions, platform: Platform): StrongroomOptions {
  const env = platform.env()
  const bundle = overrides.bundle ?? textOf(env, 'STRONGROOM_BUNDLE', platform)
  const found = Object.fromEntries(
    Object.entries(PARTS)
      .map(([option, name]) => [option, textOf(env, name, platform)] as const)
      .filter(([, text]) => text !== undefined),
  )
  const stores: StrongroomOptions = {
    trustStore: overrides.trustStore ?? platform.trustStore(env),
    ...(overrides.cache === undefined && platform.cache && { cache: platform.cache(env) }),
  }
  if (bundle !== undefined) return withBundle({ ...stores, ...found, ...overrides, bundle })
  const options: StrongroomOptions = { ...stores, ...found, ...overrides }
  const isPerson = options.accessToken !== undefined
  const missing = (Object.keys(PARTS) as (keyof typeof PARTS)[])
    .filter((option) => options[option] === undefined && !(option === 'apiKey' && isPerson))
    .map((option) => PARTS[option])
  if (missing.length === 0) return options
  throw new ConfigError(`${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} not set`, {
    missing,
    hint:
      missing.length === Object.keys(PARTS).length
        ? 'Set STRONGROOM_BUNDLE to the string that came with the agent.'
        : `Set ${missing[0]}, or STRONGROOM_BUNDLE in place of all of them.`,
  })
}
