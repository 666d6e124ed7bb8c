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

export function provideChromium() {
  if (process.env.CHROMIUM_PATH || findChromium()) return
  const reason = whyNotInstallable()
  if (reason) {
    say(`no Chromium found and ${reason}: browser tests will be skipped (apt-get install chromium, or CHROMIUM_PATH)`)
    return
  }
  say('installing Chromium with apt-get for the browser tests')
  aptGet('update')
  const { status, stderr } = aptGet('install', '--no-install-recommends', 'chromium')
  if (status === 0 && findChromium()) return
  say(`apt-get could not install Chromium, browser tests will be skipped: ${stderr.trim().split('\n').at(-1)}`)
}
