import { safeText } from '../output/safe-text.ts'
import type { Style } from '../output/style.ts'
import type { Io } from '../place/io.ts'
import { homeOf } from '../place/paths.ts'
import type { DataDirectory } from './data-directory.ts'

/** How a person starts this program here: through npx if that is how it was started. */
export const programName = ({ env }: Pick<Io, 'env'>): string =>
  env.npm_command === 'exec' ? 'npx @strongroom/cli' : 'strongroom'

export const shortPath = (path: string, { env }: Pick<Io, 'env'>): string => {
  const home = homeOf(env)
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

export interface UpState {
  readonly url: string
  readonly version: string
  readonly data: DataDirectory
  readonly isSetUp: boolean
  readonly hasConsole: boolean
  readonly io: Io
}

interface Part {
  readonly name: string
  readonly place: string
  readonly state: string
}

function partsOf({ data: { path, had }, io }: UpState): readonly Part[] {
  const { DATABASE_URL, STRONGROOM_S3_ENDPOINT, STRONGROOM_ROOT_KEY, STRONGROOM_ROOT_KEY_FILE } = io.env
  const state = (wasThere: boolean): string => (wasThere ? 'kept' : 'new')
  const place = shortPath(path, io)
  return [
    DATABASE_URL
      ? { name: 'Database', place: 'the PostgreSQL of DATABASE_URL', state: '' }
      : { name: 'Database', place: `${place}/postgres`, state: state(had.database) },
    STRONGROOM_S3_ENDPOINT
      ? { name: 'Object store', place: 'the bucket of STRONGROOM_S3_ENDPOINT', state: '' }
      : { name: 'Object store', place: `${place}/objects`, state: state(had.objects) },
    STRONGROOM_ROOT_KEY || STRONGROOM_ROOT_KEY_FILE
      ? { name: 'Log key', place: 'sealed with the root key you gave', state: '' }
      : { name: 'Log key', place: `sealed with ${place}/root.key`, state: state(had.rootKey) },
  ]
}

export const addressesOf = ({ url, hasConsole }: UpState): readonly (readonly [string, string])[] => [
  ...(hasConsole ? ([['Console', url]] as const) : []),
  ['API', `${url}/api/v1/machine`],
  ['Docs', `${url}/docs`],
]

/** What a person sees once the server is ready; it fits a small terminal. */
export function upScreen(state: UpState, style: Style): string {
  const parts = partsOf(state)
  const width = Math.max(...parts.map(({ place }) => place.length))
  const next = programName(state.io)
  return [
    '',
    `  ${style.bold(`strongroom ${state.version}`)}   local server`,
    '',
    ...parts.map(({ name, place, state: is }) =>
      `  ${style.good('✓')} ${name.padEnd(13)}  ${safeText(place.padEnd(width))}   ${style.dim(is)}`.trimEnd(),
    ),
    '',
    ...addressesOf(state).map(([name, address]) => `  ${style.dim(name.padEnd(8))}  ${address}`),
    '',
    ...(state.isSetUp
      ? ['  Ready. In another terminal:', '', `      ${next} login`]
      : ['  No organisation yet. In another terminal:', '', `      ${next} init`]),
    '',
    style.dim('  Ctrl-C stops the server and keeps the data.'),
  ].join('\n')
}
