import { parseArgs } from 'node:util'
import { makeCosigner, openKeyFile } from '../../src/monitor/cosigner.ts'
import { openRecord } from '../../src/monitor/record.ts'
import { readWitnessSettings } from '../../src/monitor/settings.ts'
import { makeWitness } from '../../src/monitor/witness.ts'
import { witnessServer } from '../../src/monitor/witness-http.ts'

// A witness that is killed at the moment it signs: its record is written, and no answer has left.

const { values } = parseArgs({ options: { config: { type: 'string' } }, allowPositionals: true })
const settings = await readWitnessSettings(values.config ?? '')
const { publicKey } = await openKeyFile(settings.keyFile)
const signer = {
  publicKey,
  sign: (): Promise<Uint8Array> => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => undefined)
  },
}
const record = openRecord(settings.stateDirectory)
const server = witnessServer(
  makeWitness({ cosigner: makeCosigner(settings.name, signer), logs: settings.logs, record }),
)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') process.stdout.write(`http://127.0.0.1:${address.port}/add-checkpoint\n`)
})
