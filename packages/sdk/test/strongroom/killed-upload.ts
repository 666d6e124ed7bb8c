// Uploads so many bytes, one part after the other, and tells of each that has arrived. It is killed meanwhile.
import { writeFileSync } from 'node:fs'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { streamed } from './attachment-wire.ts'

const [, , vault = '', item = '', bytes = '0', file = ''] = process.argv
await NodeStrongroom.fromEnv().attachments.upload(vault, item, streamed(Number(bytes)), {
  name: 'large.bin',
  mediaType: 'application/x-large',
  concurrency: 1,
  onStart: (ticket) => writeFileSync(file, ticket),
  onProgress: (sent) => process.stdout.write(`${sent}\n`),
})
