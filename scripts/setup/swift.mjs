// OpenStack Swift, the S3-compatible server that the object storage is tested against (docs/decisions/0025). Installed from Debian
// where we may; elsewhere its absence is said, not fatal.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { aptGet, whyNotInstallable } from './chromium.mjs'
import { say } from './say.mjs'

const isThere = () =>
  existsSync('/usr/lib/python3/dist-packages/swift/common/middleware/s3api') &&
  spawnSync('/usr/bin/python3', ['-c', 'import swift']).status === 0

export function provideSwift() {
  if (isThere()) return
  const reason = whyNotInstallable()
  if (reason) {
    say(`no OpenStack Swift found and ${reason}: tests of S3 will be skipped (apt-get install python3-swift)`)
    return
  }
  say('installing OpenStack Swift with apt-get for the tests of S3')
  aptGet('update')
  const { status, stderr } = aptGet('install', '--no-install-recommends', 'python3-swift')
  if (status === 0 && isThere()) return
  say(`apt-get could not install OpenStack Swift, tests of S3 will be skipped: ${stderr.trim().split('\n').at(-1)}`)
}
