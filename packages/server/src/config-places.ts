import pg from 'pg'
import { StartError } from './errors.ts'

// Where this server is and whom it talks to, as an operator writes it. What is written otherwise would be taken silently for a place that
// nobody meant: a name that no request ever has, or whatever runs at the address a driver supposes.

const invalid = (message: string, nextStep: string): StartError => new StartError('config_invalid', message, nextStep)

/** As `Host` has it: `vault.example.com`, also with a port, or an address. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?::[0-9]{1,5})?$/

/** Names to answer for, separated by commas. */
export const readHosts = (text: string): readonly string[] =>
  text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
    .map((host) => {
      if (HOST.test(host)) return host
      throw invalid(
        `STRONGROOM_HOSTS: ${JSON.stringify(host)} is not the name of a host`,
        'write names as they stand in addresses, without https:// and without a path: vault.example.com',
      )
    })

/** A variable that is set to nothing is not set, as the command line has it too. */
export const given = (text: string | undefined): string | undefined => text || undefined

function isRead(connectionString: string): boolean {
  try {
    return new pg.Client({ connectionString }).host !== ''
  } catch {
    return false
  }
}

/** Never repeated: there is a password in it. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const url = given(env[name])
  if (url === undefined || (/^(?:postgres(?:ql)?:\/\/|socket:|\/)/i.test(url) && isRead(url))) return url
  throw invalid(
    `${name} is not the address of a PostgreSQL`,
    'write postgres://login:password@host:5432/database, with # / ? and % of a password as %23 %2F %3F and %25',
  )
}

export function readCollector({ OTEL_EXPORTER_OTLP_ENDPOINT: url }: NodeJS.ProcessEnv): string | undefined {
  if (!url || (/^https?:\/\//i.test(url) && URL.canParse(url))) return given(url)
  throw invalid('OTEL_EXPORTER_OTLP_ENDPOINT is not the address of a collector', 'write it as http://127.0.0.1:4318')
}
