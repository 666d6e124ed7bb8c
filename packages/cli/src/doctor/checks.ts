import { access, constants, mkdir, readdir } from 'node:fs/promises'
import { shellLine } from '@strongroom/contract'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readConfigFile } from '../place/config-file.ts'
import { ensureReady, probe, refusedBy } from '../up/probe.ts'
import { type Check, type Checked, failedWith, skipped } from './check.ts'

const LEAST_NODE = [20, 19] as const
const MOST_SKEW_MS = 60_000
/** Longer than a server waits for a database that says nothing. */
const PATIENCE_MS = 12_000

const node: Check = {
  name: 'node',
  look: async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    const isOld = major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1])
    if (isOld)
      throw new CliError('node_too_old', `Node ${process.versions.node} is too old`, {
        fix: 'install Node 20.19 or newer',
      })
    return `${process.versions.node} on ${process.platform}-${process.arch}`
  },
}

const configuration: Check = {
  name: 'configuration',
  look: async ({ paths }) => {
    const { profiles, default: chosen } = await readConfigFile(paths.config)
    const count = Object.keys(profiles).length
    if (chosen !== undefined && !Object.hasOwn(profiles, chosen))
      throw new CliError('profile_not_found', `the default profile ${chosen} is not there`, {
        fix: 'strongroom config use NAME',
      })
    return `${paths.config}   ${count} ${count === 1 ? 'profile' : 'profiles'}`
  },
}

const keyStore: Check = {
  name: 'key store',
  look: async (cli) => {
    const store = await cli.keyStore()
    if (store.kind === 'keychain') return store.where('')
    return `sealed files in ${cli.paths.keys}; no system keychain here, which is fine`
  },
}

/** The address that commands would use. */
async function addressOf(cli: Cli): Promise<string | undefined> {
  const given = serverOf(cli)
  if (given !== undefined) return given.replace(/\/+$/, '')
  const { profiles, default: chosen } = await readConfigFile(cli.paths.config)
  const name = cli.globals.profile ?? (cli.io.env.STRONGROOM_PROFILE || chosen)
  if (name !== undefined && profiles[name]) return profiles[name].server
  const credential = await cli.credential().catch(() => undefined)
  return credential && (await cli.strongroom()).toJSON().server
}

async function versionOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/openapi.json`, { signal: AbortSignal.timeout(10_000) })
  const { info } = (await answer.json()) as { info?: { version?: string } }
  return info?.version ?? 'unknown'
}

const server: Check = {
  name: 'server',
  look: async (cli) => {
    const url = await addressOf(cli)
    if (url === undefined) return skipped('server', 'this machine knows none yet')
    const before = Date.now()
    const found = await probe(url, PATIENCE_MS)
    if (found.kind === 'refusing') throw refusedBy(url, found)
    if (found.kind !== 'strongroom')
      throw new CliError('server_not_running', `no Strongroom server answers at ${url}`, {
        fix: 'strongroom up   starts one here; otherwise check the address and the network',
      })
    const ms = Date.now() - before
    await ensureReady(url, PATIENCE_MS)
    return [
      { name: 'server', state: 'ok', detail: `${url}   version ${await versionOf(url)}   ${ms} ms` },
      clockOf(found.clockMs),
    ]
  },
}

function clockOf(serverMs: number | undefined): Checked {
  if (serverMs === undefined) return skipped('clock', 'the server does not say its time')
  const skew = Math.round((Date.now() - serverMs) / 1000)
  if (Math.abs(skew) * 1000 <= MOST_SKEW_MS) return { name: 'clock', state: 'ok', detail: 'as that of the server' }
  return {
    name: 'clock',
    state: 'failed',
    detail: `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} that of the server`,
    fix: 'set the time of this machine; tokens and checkpoints are judged by it',
  }
}

const credential: Check = {
  name: 'credential',
  look: async (cli) => {
    const { source, profileName } = await cli.credential()
    const strongroom = await cli.strongroom()
    const me = await strongroom.me({ signal: cli.signal })
    return `${me.name} (${me.id}), from ${profileName === undefined ? source : `profile "${profileName}"`}`
  },
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

const trustStore: Check = {
  name: 'trust store',
  look: async (cli) => {
    const { fileTrust } = await import('@strongroom/sdk')
    const { trust } = cli.paths
    try {
      await fileTrust(trust).read()
    } catch (error) {
      // Only what is damaged is ever moved away: what cannot be read for another reason still holds all that was seen.
      const isDamaged = (error as { cause?: { name?: string } }).cause?.name === 'ProtocolError'
      const fix = shellLine`mv ${trust} ${trust}.damaged   forgets what was seen here so far; a copy of the file put back does not`
      return { ...failedWith('trust store', error), ...(isDamaged && { fix }) }
    }
    return trust
  },
}

const log: Check = {
  name: 'log',
  look: async (cli) => {
    const strongroom = await cli.strongroom()
    const { head, previous } = await strongroom.transparency.verify({ signal: cli.signal })
    const since = previous ? `, append-only since ${previous.treeSize}` : ', seen for the first time'
    return `${head.treeSize} entries${since}`
  },
}

const cache: Check = {
  name: 'cache',
  look: async ({ paths }) => {
    await mkdir(paths.cache, { recursive: true, mode: 0o700 })
    await access(paths.cache, constants.R_OK | constants.W_OK).catch((cause) => {
      throw new CliError('file_unwritable', `${paths.cache} cannot be used`, {
        fix: shellLine`ls -ld ${paths.cache}`,
        cause,
      })
    })
    return `${paths.cache}   ciphertexts only`
  },
}

const evidence: Check = {
  name: 'evidence',
  look: async ({ paths }) => {
    const files = await readdir(paths.evidence).catch(() => [])
    if (files.length === 0) return 'no alarm was ever raised here'
    throw new CliError('unhealthy', `${counted(files.length, 'alarm')} raised here`, {
      fix: `look into ${paths.evidence}, show it to whoever is responsible for security, then move it away`,
    })
  },
}

/** Whether each vault can be opened: being on its access list is not enough. */
const vaultKeys: Check = {
  name: 'vault keys',
  look: async (cli) => {
    const strongroom = await cli.strongroom()
    const vaults = await strongroom.vaults.list({ signal: cli.signal })
    const active = vaults.filter(({ status, role }) => status === 'active' && role !== null)
    if (active.length === 0) return skipped('vault keys', 'there is no vault yet')
    const results: Checked[] = []
    for (const { name } of active) {
      const title = `vault ${name}`
      try {
        const items = await strongroom.items.list(name, { signal: cli.signal })
        await strongroom.secrets.env({ vault: name }, { signal: cli.signal, offline: false })
        results.push({ name: title, state: 'ok', detail: `opens, ${counted(items.length, 'item')} verified` })
      } catch (error) {
        const isMissing = (error as { name?: string }).name === 'NoWrappedKeyError'
        const fix = shellLine`an administrator of the vault runs: strongroom vault share ${name} --with YOU`
        results.push({ ...failedWith(title, error), ...(isMissing && { fix, code: 'no_wrapped_key' }) })
      }
    }
    return results
  },
}

/** What needs no server, then what needs one, then what needs somebody who is signed in. */
export const LOCAL: readonly Check[] = [node, configuration, keyStore, trustStore, cache, evidence]
export const REMOTE: readonly Check[] = [server]
export const SIGNED_IN: readonly Check[] = [credential, log, vaultKeys]
