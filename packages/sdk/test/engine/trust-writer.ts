import { writeSync } from 'node:fs'
import { recordAlarm } from '@strongroom/protocol'
import { fileTrust } from '../../src/engine/trust-file.ts'

// A process that changes a trust store again and again and says what is stored: after the first, each line is an alarm
// that must never be lost.

const [, , path = '', org = '', name = '', count = '0'] = process.argv
const trust = fileTrust(path)
writeSync(1, 'ready\n')
for (let i = 0; i < Number(count); i += 1) {
  await trust.update((store) => recordAlarm(store, org, { at: i, code: 'malformed', detail: `${name} ${i}` }))
  writeSync(1, `${name} ${i}\n`)
}
