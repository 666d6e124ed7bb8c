import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PowerDnsConfig } from '../../src/config.ts'
import { freePort } from '../process.ts'

// A real PowerDNS from Debian with its zones in a SQLite file, and `dig` to ask it.

const SERVER = '/usr/sbin/pdns_server'
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'
const KEY = 'test-key-of-power-dns'

/** Why there is none; undefined if there is one. */
export const whyNoPowerDns = (): string | undefined =>
  [SERVER, SCHEMA, '/usr/bin/dig', '/usr/bin/sqlite3'].every((path) => existsSync(path))
    ? undefined
    : 'PowerDNS is not installed (apt-get install pdns-server pdns-backend-sqlite3 bind9-dnsutils sqlite3)'

export interface PowerDnsServer {
  readonly config: PowerDnsConfig
  /** Where it answers resolvers: `127.0.0.1:port`. */
  readonly address: string
  /** Of this account, or of nobody's. */
  makeZone(name: string, account?: string): Promise<void>
  /** As its operator would, with `pdnsutil set-account`. */
  setAccount(name: string, account: string): Promise<void>
  /** What a resolver is told, each answer on a line of its own. */
  dig(name: string, type: string): string[]
  stop(): Promise<void>
}

const settings = (folder: string, port: number, webPort: number): string =>
  Object.entries({
    launch: 'gsqlite3',
    'gsqlite3-database': join(folder, 'zones.sqlite3'),
    'local-address': '127.0.0.1',
    'local-port': port,
    api: 'yes',
    'api-key': KEY,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': webPort,
    'webserver-allow-from': '127.0.0.1',
    'socket-dir': folder,
    daemon: 'no',
    guardian: 'no',
    // Otherwise it asks the internet about itself.
    'security-poll-suffix': '',
    'default-soa-content': 'ns1.@ hostmaster.@ 0 10800 3600 604800 3600',
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

export async function startPowerDns(): Promise<PowerDnsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sr-pdns-'))
  const [port, webPort] = [await freePort(), await freePort()]
  spawnSync('/usr/bin/sqlite3', [join(folder, 'zones.sqlite3')], { input: readFileSync(SCHEMA) })
  writeFileSync(join(folder, 'pdns.conf'), settings(folder, port, webPort))
  const server = spawn(SERVER, [`--config-dir=${folder}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(server, 'exit')
  let said = ''
  server.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const config = { url: `http://127.0.0.1:${webPort}`, key: KEY }
  const ask = (path: string, body?: object, method = 'POST'): Promise<Response> =>
    fetch(`${config.url}/api/v1/servers/localhost${path}`, {
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      ...(body && { method, body: JSON.stringify(body) }),
    })
  const isUp = (): Promise<boolean> =>
    ask('').then(
      ({ ok }) => ok,
      () => false,
    )
  const deadline = Date.now() + 60_000
  while (!(await isUp())) {
    if (server.exitCode !== null || Date.now() > deadline) throw new Error(`PowerDNS does not start: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    config,
    address: `127.0.0.1:${port}`,
    makeZone: async (name, account = '') => {
      const zone = { name: `${name}.`, kind: 'Native', nameservers: [`ns1.${name}.`], account }
      const made = await ask('/zones', zone)
      if (made.status !== 201) throw new Error(`PowerDNS made no zone: ${made.status} ${await made.text()}`)
    },
    setAccount: async (name, account) => {
      const set = await ask(`/zones/${name}.`, { account }, 'PUT')
      if (set.status !== 204) throw new Error(`PowerDNS gave the zone to nobody: ${set.status} ${await set.text()}`)
    },
    dig: (name, type) =>
      spawnSync('/usr/bin/dig', ['+short', '@127.0.0.1', '-p', String(port), name, type], { encoding: 'utf8' })
        .stdout.trim()
        .split('\n'),
    stop: async () => {
      server.kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
