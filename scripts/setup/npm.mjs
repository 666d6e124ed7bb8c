// Runs npm under a Node of our choice.
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fail } from './say.mjs'

const NEXT_STEPS = [
  {
    signs: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/,
    nextStep:
      'the package registry cannot be reached: check the network, the proxy (npm config get proxy) and try again',
  },
  {
    signs: /CERT|SSL|self.signed/i,
    nextStep: "the registry's certificate is not trusted: set npm's `cafile`, or NODE_EXTRA_CA_CERTS, and try again",
  },
  { signs: /ENOSPC/, nextStep: 'the disk is full: set-up needs about 500 MB' },
  {
    signs: /EACCES|EPERM/,
    nextStep: "this user may not write here: check the owner of the folder, of node_modules and of npm's cache",
  },
  {
    signs: /EINTEGRITY/,
    nextStep:
      'a package is not the one the lockfile names: run `npm cache verify`; if it stays, do not go on, report it',
  },
  { signs: /E404|ETARGET/, nextStep: 'the registry in use lacks a locked version: check `npm config get registry`' },
]

/** The npm that started us, else the one on PATH, as the path of its JavaScript. */
function findNpm() {
  const started = process.env.npm_execpath
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm'))
  const besideNode = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
  const found = [started, ...onPath, besideNode]
    .filter((path) => path !== undefined)
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .find((path) => basename(path) === 'npm-cli.js')
  return found ?? fail('npm was not found', 'install npm 10 or newer (it comes with Node) and run the command again')
}

// npm looks for its machine-wide settings (proxy, certificates) beside the Node it runs on. Under another Node it would
// miss them, so it is told where they are.
/** @param {string} npm */
function machineSettings(npm) {
  const given = process.env.npm_config_globalconfig
  if (given) return given
  return spawnSync(process.execPath, [npm, 'config', 'get', 'globalconfig'], { encoding: 'utf8' }).stdout.trim()
}

/**
 * `npm ci` in a folder, run by the given Node. Development and optional packages are always included, whatever
 * NODE_ENV says: the checks need them.
 * @param {string} node
 * @param {string} folder
 */
export function installLocked(node, folder) {
  const npm = findNpm()
  const flags = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  // npm's own patience is over a minute; without a network that is a minute of silence.
  const patience = ['--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000', '--loglevel=error']
  const { status, stdout, stderr, error } = spawnSync(node, [npm, 'ci', ...flags, ...patience], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_globalconfig: machineSettings(npm) },
  })
  if (status === 0) return
  const words = `${error?.message ?? ''}\n${stderr ?? ''}\n${stdout ?? ''}`.trim()
  console.error(words)
  const known = NEXT_STEPS.find(({ signs }) => signs.test(words))
  fail(
    'npm ci did not succeed (its words are above)',
    known?.nextStep ?? 'correct what npm names and run the command again',
  )
}
