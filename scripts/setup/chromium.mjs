// The browser for the browser tests. Installed from Debian where we may; elsewhere its absence is said, not fatal.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findChromium } from '../chromium.mjs'
import { say } from './say.mjs'

export function whyNotInstallable() {
  if (!existsSync('/usr/bin/apt-get') || !/^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'))) {
    return 'it is installed automatically on Debian only'
  }
  if (process.getuid?.() !== 0) return 'only root may install it'
  return undefined
}

/** @param {string[]} args */
export function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const flags = ['-qq', '-y', '-o', 'DPkg::Lock::Timeout=300']
  return spawnSync('apt-get', [...flags, ...args], { encoding: 'utf8', env, timeout: 900_000 })
}

/** The first one is not in every release. */
const PACKAGES = ['chromium-headless-shell', 'chromium']

export function provideChromium() {
  if (process.env.CHROMIUM_PATH || findChromium()) return
  const reason = whyNotInstallable()
  if (reason) {
    say(
      `no Chromium found and ${reason}: browser tests will be skipped (apt-get install chromium-headless-shell, or CHROMIUM_PATH)`,
    )
    return
  }
  say('installing Chromium with apt-get for the browser tests')
  aptGet('update')
  let why = ''
  for (const name of PACKAGES) {
    const { status, stderr } = aptGet('install', '--no-install-recommends', name)
    if (status === 0 && findChromium()) return
    why = stderr.trim().split('\n').at(-1) ?? ''
  }
  say(`apt-get could not install Chromium, browser tests will be skipped: ${why}`)
}
