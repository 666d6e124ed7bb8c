import { userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
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

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What HTTP carries: anything else is refused by every sender, long after the start and where nobody looks. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function readValue(name: string, text: string): string {
  const decoded = decodedOf(text)
  if (decoded !== undefined && HEADER_VALUE.test(decoded)) return decoded
  throw invalid(
    `OTEL_EXPORTER_OTLP_HEADERS: the value of ${JSON.stringify(name)} ${decoded === undefined ? 'is not percent-encoded' : 'is none that a header can have'}`,
    decoded === undefined ? 'write a percent sign as %25' : 'leave out line ends and other control characters',
  )
}

function decodedOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * `name=value,name=value`, as OpenTelemetry writes headers. A value may be a secret and is never repeated; nor is what should be a name
 * and is none, since it may be the rest of a value with a comma in it.
 */
export const readHeaders = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '')
      .map((pair, i) => {
        const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
        if (HEADER_NAME.test(name.trim())) return [name.trim(), readValue(name.trim(), value.trim())]
        throw invalid(
          `OTEL_EXPORTER_OTLP_HEADERS: number ${i + 1} does not begin with the name of a header and =`,
          'write name=value, separated by commas; a comma in a value is written %2C',
        )
      }),
  )

/** Where the data lies if nobody says. A folder of whatever directory this was started in is never meant. */
export function readHome(env: NodeJS.ProcessEnv): string {
  const home = given(env.HOME) ?? homeOfAccount()
  if (isAbsolute(home)) return home
  throw invalid(
    home === '' ? 'HOME is not set, and this account has no home' : `HOME ${JSON.stringify(home)} is no absolute path`,
    'set HOME, or say where the data belongs with --data or STRONGROOM_DATA',
  )
}

function homeOfAccount(): string {
  try {
    return userInfo().homedir
  } catch {
    // In a container the number of the user may belong to no account.
    return ''
  }
}
