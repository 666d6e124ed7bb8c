import { isIP } from 'node:net'
import { join } from 'node:path'
import { CURRENCY, type Network, networkProblem, readNetwork, SCALE } from '@strongroom/contract'
import { type ChainConfig, readChain } from './chain/chain-config.ts'
import { given, readCollector, readDatabaseUrl, readHeaders, readHome, readHosts } from './config-places.ts'
import { StartError } from './errors.ts'
import { type Catalogue, loadCatalogue, SANDBOX_CATALOGUE } from './licenses/catalogue.ts'
import { parseNetwork } from './outside/addresses.ts'
import type { EgressPolicy } from './outside/egress.ts'

/** Everything the operator can set. This file is the only reader of the environment. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDirectory: string
  /** Absent: the embedded PostgreSQL in the data directory. */
  readonly databaseUrl: string | undefined
  /** The owner of the tables, for migrations; by default the same as `databaseUrl`. */
  readonly migrationUrl: string | undefined
  readonly rootKey: string | undefined
  readonly rootKeyFile: string | undefined
  /** Host names this server answers for, besides loopback ones. */
  readonly hosts: readonly string[]
  /** Proxies in front of this server, whose X-Forwarded-For names the client. */
  readonly trustedProxies: readonly Network[]
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly metricsToken: string | undefined
  /** An OpenTelemetry collector; absent: no spans are made. */
  readonly otlpEndpoint: string | undefined
  readonly otlpHeaders: Readonly<Record<string, string>>
  readonly poolSize: number
  /** How many purchases of one organisation are under way at once; the others wait in line. */
  readonly purchasesAtOnce: number
  /** Absent: objects lie in the data directory. */
  readonly s3: S3Config | undefined
  /** Absent: credit does not come over a chain. */
  readonly chain: ChainConfig | undefined
  readonly attachmentLimits: AttachmentLimits
  /** In micro-units: credit below it is low, and those who listen are told. */
  readonly lowBalance: bigint
  /** What can be bought; absent a file: the sandbox. */
  readonly catalogue: Catalogue
  /** What this server may connect to when others name an address. */
  readonly egress: EgressPolicy
  /** Absent: records of domains lie in the database. */
  readonly powerDns: PowerDnsConfig | undefined
  /** Whom the records of domains are checked with; the resolvers of the machine if there are none. */
  readonly dnsResolvers: readonly string[]
}

/** A PowerDNS authoritative server, by its HTTP API. */
export interface PowerDnsConfig {
  readonly url: string
  readonly key: string
}

/** An S3-compatible store. The bucket, or the prefix in it, belongs to this deployment alone: what nobody knows is swept. */
export interface S3Config {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly keyId: string
  readonly secret: string
  readonly prefix: string
}

/** In bytes of ciphertext. */
export interface AttachmentLimits {
  readonly asset: number
  readonly vault: number
  readonly org: number
}

/** One that has the credit and one that is just behind it: more of them only wait for each other, with a connection each. */
const PURCHASES_AT_ONCE = 2

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

function port(text: string): number {
  const value = Number(text)
  if (!/^[0-9]{1,5}$/.test(text) || value < 1 || value > 65_535)
    throw new StartError(
      'config_invalid',
      `the port ${JSON.stringify(text)} is not a number from 1 to 65535`,
      'set --port or STRONGROOM_PORT',
    )
  return value
}

const OPTIONS = ['host', 'port', 'data'] as const
type Option = (typeof OPTIONS)[number]

/** `--name value` or `--name=value`. What is mistyped is refused: a server on another port or directory is worse than none. */
function readOptions(args: readonly string[]): ReadonlyMap<Option, string> {
  const options = new Map<Option, string>()
  for (let at = 0; at < args.length; at++) {
    const [, given, joined] = /^--([^=]*)(?:=(.*))?$/s.exec(args[at] ?? '') ?? []
    const name = OPTIONS.find((known) => known === given)
    if (name === undefined)
      throw invalid(
        `the argument ${JSON.stringify(args[at])} is unknown`,
        `use ${OPTIONS.map((known) => `--${known} VALUE`).join(', ')}; everything else is set by variables`,
      )
    const value = joined ?? args[++at]
    if (!value || (joined === undefined && value.startsWith('--')))
      throw invalid(`--${name} needs a value`, `write --${name} VALUE`)
    options.set(name, value)
  }
  return options
}

/** Those of the embedded PostgreSQL, without what background work, migrations and its own superuser need. */
const EMBEDDED_CONNECTIONS = 90
const MOST_CONNECTIONS = 1000

function poolSize({ STRONGROOM_POOL_SIZE: text = '10', DATABASE_URL }: NodeJS.ProcessEnv): number {
  const most = DATABASE_URL ? MOST_CONNECTIONS : EMBEDDED_CONNECTIONS
  if (/^[0-9]{1,4}$/.test(text) && Number(text) >= 2 && Number(text) <= most) return Number(text)
  throw invalid(
    `STRONGROOM_POOL_SIZE ${JSON.stringify(text)} is not a number from 2 to ${most}`,
    DATABASE_URL
      ? 'write it in digits alone, less than the max_connections of your PostgreSQL'
      : 'write it in digits alone; the embedded PostgreSQL has no more connections',
  )
}

const invalid = (message: string, nextStep: string): StartError => new StartError('config_invalid', message, nextStep)

/** All of the four that have no default, or none. */
function readS3(env: NodeJS.ProcessEnv): S3Config | undefined {
  const {
    STRONGROOM_S3_ENDPOINT: endpoint,
    STRONGROOM_S3_BUCKET: bucket,
    STRONGROOM_S3_ACCESS_KEY_ID: keyId,
    STRONGROOM_S3_SECRET_ACCESS_KEY: secret,
    STRONGROOM_S3_REGION: region,
    STRONGROOM_S3_PREFIX: prefix = 'strongroom/',
  } = env
  if (!endpoint && !bucket && !keyId && !secret) return undefined
  if (!endpoint || !bucket || !keyId || !secret)
    throw invalid(
      'the S3 store is only half configured',
      'set STRONGROOM_S3_ENDPOINT, _BUCKET, _ACCESS_KEY_ID and _SECRET_ACCESS_KEY, or none of them',
    )
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(endpoint))
    throw invalid('STRONGROOM_S3_ENDPOINT is not the address of a server', 'write https://host, without a path')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/.test(bucket))
    throw invalid(
      `STRONGROOM_S3_BUCKET ${JSON.stringify(bucket)} is not the name of a bucket`,
      'write its name alone, such as my-bucket; a folder in it is STRONGROOM_S3_PREFIX',
    )
  if (!/^(?:[A-Za-z0-9_-]+\/)*$/.test(prefix))
    throw invalid('STRONGROOM_S3_PREFIX is not a folder', 'write letters, digits, - and _, and a slash at the end')
  return { endpoint: endpoint.replace(/\/$/, ''), region: given(region) ?? 'us-east-1', bucket, keyId, secret, prefix }
}

function readPowerDns({ STRONGROOM_POWERDNS_URL: url, STRONGROOM_POWERDNS_KEY: key }: NodeJS.ProcessEnv) {
  if (!url && !key) return undefined
  if (!url || !key)
    throw invalid(
      'PowerDNS is only half configured',
      'set STRONGROOM_POWERDNS_URL and STRONGROOM_POWERDNS_KEY, or none of them',
    )
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(url))
    throw invalid('STRONGROOM_POWERDNS_URL is not the address of a server', 'write https://host, without a path')
  return { url: url.replace(/\/$/, ''), key }
}

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** A network of no bits would let every caller choose their address. */
const trustedProxies = (env: NodeJS.ProcessEnv): readonly Network[] =>
  list(env.STRONGROOM_TRUSTED_PROXIES ?? '').map((text) => {
    const network = readNetwork(text)
    if (network && network.bits > 0) return network
    const problem = network ? 'is everybody' : networkProblem(text)
    throw invalid(
      `STRONGROOM_TRUSTED_PROXIES: ${JSON.stringify(text)} ${problem}`,
      'write the addresses of your proxies, such as 10.1.0.5 or 10.1.0.0/28',
    )
  })

const NAME_SERVER = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/** Addresses, never names: nobody is there yet to look them up. */
function nameServers(env: NodeJS.ProcessEnv, name: string): readonly string[] {
  const servers = list(env[name] ?? '')
  for (const text of servers) {
    const [, v6, v4] = NAME_SERVER.exec(text) ?? []
    if (isIP(text) === 0 && isIP(v6 ?? v4 ?? '') === 0)
      throw invalid(
        `${name}: ${JSON.stringify(text)} is no address`,
        'write 10.1.0.53, 10.1.0.53:5353 or [fd00::53]:53',
      )
  }
  return servers
}

function readEgress(env: NodeJS.ProcessEnv): EgressPolicy {
  const ownHosts = readHosts(env.STRONGROOM_HOSTS ?? '')
  const allowed = list(env.STRONGROOM_EGRESS_ALLOW ?? '').map((text) => {
    const network = parseNetwork(text)
    if (!network)
      throw invalid(`STRONGROOM_EGRESS_ALLOW: ${JSON.stringify(text)} is no network`, 'write it as 10.1.0.0/16')
    return network
  })
  return { allowed, ownHosts, nameServers: nameServers(env, 'STRONGROOM_NAME_SERVERS') }
}

const GIB = 1_073_741_824

function bytes(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name]
  if (text === undefined) return otherwise
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw invalid(`${name} is not a number of bytes`, 'write it in digits alone')
  return Number(text)
}

/** `10` or `2.50`, of the currency of the credit. */
function lowBalance({ STRONGROOM_LOW_BALANCE: text = '10' }: NodeJS.ProcessEnv): bigint {
  const [, whole, part = ''] = /^([0-9]{1,12})(?:\.([0-9]{1,6}))?$/.exec(text) ?? []
  if (whole === undefined)
    throw invalid(
      `STRONGROOM_LOW_BALANCE ${JSON.stringify(text)} is not an amount of ${CURRENCY}`,
      'write it as 10 or 2.50',
    )
  return BigInt(whole + part.padEnd(SCALE, '0'))
}

const defaultDataDirectory = (env: NodeJS.ProcessEnv): string => {
  if (process.getuid?.() === 0) return '/var/lib/strongroom'
  return join(given(env.XDG_DATA_HOME) ?? join(readHome(env), '.local', 'share'), 'strongroom')
}

export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  args: readonly string[] = process.argv.slice(2),
): Config {
  const options = readOptions(args)
  const level = env.STRONGROOM_LOG_LEVEL ?? 'info'
  const logLevel = LOG_LEVELS.find((known) => known === level)
  if (!logLevel)
    throw new StartError(
      'config_invalid',
      `the log level ${JSON.stringify(level)} is unknown`,
      `use one of ${LOG_LEVELS.join(', ')}`,
    )
  return {
    host: options.get('host') ?? given(env.STRONGROOM_HOST) ?? '127.0.0.1',
    port: port(options.get('port') ?? env.STRONGROOM_PORT ?? '8420'),
    dataDirectory: options.get('data') ?? given(env.STRONGROOM_DATA) ?? defaultDataDirectory(env),
    databaseUrl: readDatabaseUrl(env, 'DATABASE_URL'),
    migrationUrl: readDatabaseUrl(env, 'STRONGROOM_MIGRATION_URL'),
    rootKey: env.STRONGROOM_ROOT_KEY,
    rootKeyFile: env.STRONGROOM_ROOT_KEY_FILE,
    hosts: readHosts(env.STRONGROOM_HOSTS ?? ''),
    trustedProxies: trustedProxies(env),
    logLevel,
    metricsToken: env.STRONGROOM_METRICS_TOKEN,
    otlpEndpoint: readCollector(env),
    otlpHeaders: readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    poolSize: poolSize(env),
    purchasesAtOnce: PURCHASES_AT_ONCE,
    s3: readS3(env),
    chain: readChain(env),
    egress: readEgress(env),
    powerDns: readPowerDns(env),
    dnsResolvers: nameServers(env, env.STRONGROOM_DNS_RESOLVER ? 'STRONGROOM_DNS_RESOLVER' : 'STRONGROOM_NAME_SERVERS'),
    lowBalance: lowBalance(env),
    catalogue: env.STRONGROOM_CATALOGUE ? loadCatalogue(env.STRONGROOM_CATALOGUE) : SANDBOX_CATALOGUE,
    attachmentLimits: {
      asset: bytes(env, 'STRONGROOM_ATTACHMENT_BYTES', GIB),
      vault: bytes(env, 'STRONGROOM_ATTACHMENT_BYTES_PER_VAULT', 10 * GIB),
      org: bytes(env, 'STRONGROOM_ATTACHMENT_BYTES_PER_ORG', 100 * GIB),
    },
  }
}
