import { fileCache, fileTrust, Strongroom, type StrongroomOptions } from '@strongroom/sdk'
import { type Cli, serverOf } from '../cli.ts'
import { keepEvidence } from './evidence.ts'

// The SDK with what this machine knows: one trust store, one cache of ciphertexts, one folder of evidence.

function overridesOf(cli: Cli): StrongroomOptions {
  const { paths, globals, io } = cli
  const server = serverOf(cli)
  const maxRetries = Number(io.env.STRONGROOM_MAX_RETRIES ?? Number.NaN)
  return {
    trustStore: fileTrust(paths.trust),
    cache: fileCache(paths.cache),
    onEvidence: (evidence) => keepEvidence(paths.evidence, evidence),
    userAgent: 'strongroom-cli/0.1.0',
    ...(server !== undefined && { server }),
    ...(Number.isInteger(maxRetries) && maxRetries >= 0 && { maxRetries }),
    ...(globals.verbose && { hooks: tracing(cli) }),
  }
}

/** Method, path, status and time; never a header or a body. */
const tracing = ({ io }: Cli): NonNullable<StrongroomOptions['hooks']> => {
  const paths = new Map<string, string>()
  return {
    onRequest: ({ id, method, path }) => {
      paths.set(id, `${method} ${path}`)
    },
    onResponse: ({ id, requestId, status, ms }) => {
      io.stderr.write(`strongroom: ${paths.get(id) ?? '?'} ${status} ${Math.round(ms)} ms ${requestId ?? ''}\n`)
    },
    onRetry: ({ attempt, delayMs, error }) => {
      io.stderr.write(`strongroom: ${error.code}, attempt ${attempt + 1} in ${Math.round(delayMs)} ms\n`)
    },
  }
}

export async function makeStrongroom(cli: Cli, options: StrongroomOptions = {}): Promise<Strongroom> {
  const { options: own } = await cli.credential()
  const all = { ...overridesOf(cli), ...options }
  return own ? new Strongroom({ ...own, ...all }) : Strongroom.fromEnv(all)
}
