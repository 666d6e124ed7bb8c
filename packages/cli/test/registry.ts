import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

// A package registry on this machine: what the repository has installed, and packages that were just built. So npm decides by
// itself what it installs, as it would for anybody, and no test needs the network.

interface Stored {
  readonly folder: string
  readonly manifest: { readonly name: string; readonly version: string }
}

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

const manifestIn = (folder: string): Stored['manifest'] =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Stored['manifest']

/** Every third-party package of the lockfile that is installed here. */
function installedIn(root: string): Stored[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: object }
  return Object.keys(packages)
    .filter((path) => path.startsWith('node_modules/') && !path.startsWith('node_modules/@strongroom/'))
    .map((path) => join(root, path))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: manifestIn(folder) }))
}

const tarball = ({ name, version }: Stored['manifest']): string =>
  `/${name}/-/${name.slice(name.lastIndexOf('/') + 1)}-${version}.tgz`

function sendTarball(response: ServerResponse, { folder }: Stored): void {
  const args = ['-czf', '-', '--exclude=./node_modules', '--transform', 's,^\\.,package,', '-C', folder, '.']
  const tar = spawn('tar', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  tar.stdout.pipe(response)
}

function sendPackument(response: ServerResponse, url: string, stored: readonly Stored[]): void {
  const versions = stored.map(({ manifest }) => [
    manifest.version,
    { ...manifest, dist: { tarball: `${url}${tarball(manifest)}` } },
  ])
  const latest = stored.at(-1)?.manifest.version
  const packument = { name: stored[0]?.manifest.name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(packument))
}

export async function startRegistry(root: string, built: readonly string[]): Promise<Registry> {
  const all = [...installedIn(root), ...built.map((folder) => ({ folder, manifest: manifestIn(folder) }))]
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/')
    const asked = all.find(({ manifest }) => tarball(manifest) === path)
    const named = all.filter(({ manifest }) => `/${manifest.name}` === path)
    if (asked) sendTarball(response, asked)
    else if (named.length > 0) sendPackument(response, url, named)
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
