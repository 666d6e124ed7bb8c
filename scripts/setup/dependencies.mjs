// The pinned Node and the locked packages. npm silently leaves out optional native packages whose `engines` exclude the
// Node that npm itself runs on; so the pinned Node is brought first, alone, and installs everything else.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installLocked } from './npm.mjs'
import { fail, root, say } from './say.mjs'

/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [optional]
 * @property {string | string[]} [os]
 * @property {string | string[]} [cpu]
 * @property {string | string[]} [libc]
 */

const REQUIRED_MAJOR = 24
const scratch = join(root, '.setup')
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

export function refuseOldNode() {
  if (major > 20 || (major === 20 && minor >= 19)) return
  fail(`this machine's Node is ${process.version}`, 'install Node 20.19 or newer and run the command again')
}

/**
 * @param {string} path
 * @returns {Record<string, LockEntry> | undefined}
 */
function lockedPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined
}

function ourLockfile() {
  return lockedPackages(join(root, 'package-lock.json')) ?? fail('package-lock.json is missing', 'restore it from git')
}

function machineLibc() {
  if (process.platform !== 'linux') return undefined
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/**
 * @param {string | string[] | undefined} allowed names, or names with `!` that are excluded; npm takes one as a string
 * @param {string | undefined} value
 */
function fits(allowed, value) {
  const names = [allowed ?? []].flat()
  if (names.length === 0 || value === undefined) return true
  return names.every((name) => name.startsWith('!')) ? !names.includes(`!${value}`) : names.includes(value)
}

/** @param {LockEntry} entry */
function isForThisMachine({ os, cpu, libc }) {
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, libc && machineLibc())
}

/**
 * What node_modules lacks or has otherwise than the lockfile says; empty when there is nothing to install. Contents are
 * compared, not dates: git and copies set dates as they like, and a package npm left out would go unnoticed.
 */
export function differencesFromLockfile() {
  const wanted = ourLockfile()
  const present = lockedPackages(join(root, 'node_modules/.package-lock.json'))
  if (!present) return ['node_modules']
  const paths = Object.keys({ ...wanted, ...present }).filter((path) => path.startsWith('node_modules/'))
  return paths.filter((path) => {
    const [want, have] = [wanted[path], present[path]]
    if (want && have) return want.version !== have.version || want.integrity !== have.integrity
    return !want?.optional || isForThisMachine(want)
  })
}

/** The lockfile's Node for this machine; undefined where npm has none of this version (macOS). */
function pinnedNode() {
  const isNode = /^node_modules\/(node-(?:linux|darwin|win)-\w+)$/
  return Object.entries(ourLockfile())
    .map(([path, entry]) => ({ name: isNode.exec(path)?.[1] ?? '', entry }))
    .find(({ name, entry }) => name && isForThisMachine(entry))
}

/** @param {string} node */
const runs = (node) => spawnSync(node, ['--version']).status === 0

// A project of its own with one package, whose integrity hash is our lockfile's. There it is a required package: npm
// says nothing when it cannot fetch an optional one.
/** @param {NonNullable<ReturnType<typeof pinnedNode>>} pinned */
function bringNode({ name, entry }) {
  say(`fetching Node ${entry.version} (this machine has ${process.version})`)
  const project = { name: 'setup', version: '0.0.0', dependencies: { [name]: entry.version } }
  const required = { ...entry, optional: false }
  const lockfile = { ...project, lockfileVersion: 3, packages: { '': project, [`node_modules/${name}`]: required } }
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch)
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(project))
  writeFileSync(join(scratch, 'package-lock.json'), JSON.stringify(lockfile))
  installLocked(process.execPath, scratch)
  const node = join(scratch, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!runs(node)) fail(`${node} does not run`, 'if this file system is mounted noexec, clone to another one')
  return node
}

export function installDependencies() {
  const pinned = pinnedNode()
  if (!pinned && major < REQUIRED_MAJOR) {
    const machine = `${process.platform} ${process.arch}`
    fail(`npm has no Node ${REQUIRED_MAJOR} for ${machine}`, `install Node ${REQUIRED_MAJOR} and run the command again`)
  }
  const node = pinned && major < REQUIRED_MAJOR ? bringNode(pinned) : process.execPath
  say('installing the locked packages')
  installLocked(node, root)
  rmSync(scratch, { recursive: true, force: true })
}
