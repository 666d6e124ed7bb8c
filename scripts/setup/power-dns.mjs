// PowerDNS and dig, the name server and the question that domains are tested with (docs/decisions/0032). Installed from Debian where we
// may; elsewhere their absence is said, not fatal.
import { existsSync } from 'node:fs'
import { aptGet, whyNotInstallable } from './chromium.mjs'
import { say } from './say.mjs'

const PROGRAMS = ['/usr/sbin/pdns_server', '/usr/bin/dig', '/usr/bin/sqlite3']
const PACKAGES = ['pdns-server', 'pdns-backend-sqlite3', 'bind9-dnsutils', 'sqlite3']
const isThere = () => PROGRAMS.every((path) => existsSync(path))

export function providePowerDns() {
  if (isThere()) return
  const reason = whyNotInstallable()
  if (reason) {
    say(
      `no PowerDNS found and ${reason}: tests of name servers will be skipped (apt-get install ${PACKAGES.join(' ')})`,
    )
    return
  }
  say('installing PowerDNS with apt-get for the tests of domains')
  aptGet('update')
  // Only its files are wanted: at this level Debian starts no service.
  process.env.RUNLEVEL = '1'
  const { status, stderr } = aptGet('install', '--no-install-recommends', ...PACKAGES)
  if (status === 0 && isThere()) return
  say(`apt-get could not install PowerDNS, tests of name servers will be skipped: ${stderr.trim().split('\n').at(-1)}`)
}
