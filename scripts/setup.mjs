// Set-up of a fresh clone, run by `npm start` and `npm test`. Plain JavaScript on Node's built-ins only, because it runs
// before anything is installed, on the Node the machine happens to have.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { provideChromium } from './setup/chromium.mjs'
import { differencesFromLockfile, installDependencies, refuseOldNode } from './setup/dependencies.mjs'
import { providePowerDns } from './setup/power-dns.mjs'
import { fail, root, say } from './setup/say.mjs'
import { provideSwift } from './setup/swift.mjs'

const purpose = process.argv[2]

refuseOldNode()
const stale = differencesFromLockfile()
if (stale.length > 0) {
  installDependencies()
  const left = differencesFromLockfile()
  if (left.length > 0)
    fail(`npm did not install ${left.join(', ')}`, 'check the network, delete node_modules and run again')
}
if (purpose === '--for-tests') {
  provideChromium()
  provideSwift()
  providePowerDns()
}
if (purpose === '--for-start' && !existsSync(join(root, 'packages/server/src/main.ts'))) {
  fail('there is no server to start yet: only packages/protocol exists', '`npm test` runs everything that does exist')
}
if (stale.length > 0) say('done')
