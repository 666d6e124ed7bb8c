// Uploads and downloads so many bytes, and prints by how much its memory grew meanwhile.
import { createHash } from 'node:crypto'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { streamed } from './attachment-wire.ts'

const [, , vault = '', item = '', bytes = '0'] = process.argv
const strongroom = NodeStrongroom.fromEnv({ cache: false })
const size = Number(bytes)

/** The most that was in use at any time, over what was in use before. */
async function growthOf<T>(work: () => Promise<T>): Promise<{ result: T; grew: number }> {
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 10)
  const result = await work()
  clearInterval(timer)
  return { result, grew: most - before }
}

// What is loaded on first use is no memory of a transfer.
const first = await strongroom.attachments.upload(vault, item, new Uint8Array(10), { name: 'first' })
await (await strongroom.attachments.download(vault, first.assetId)).bytes()

const sent = createHash('sha256')
async function* source() {
  for await (const chunk of streamed(size)) {
    sent.update(chunk)
    yield chunk
  }
}
const up = await growthOf(() => strongroom.attachments.upload(vault, item, source(), { name: 'large' }))
const received = createHash('sha256')
const down = await growthOf(async () => {
  const { stream } = await strongroom.attachments.download(vault, up.result.assetId)
  for await (const chunk of stream) received.update(chunk)
})
const isSame = sent.digest('hex') === received.digest('hex')
console.log(JSON.stringify({ up: up.grew, down: down.grew, isSame }))
