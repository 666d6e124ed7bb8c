// Attaches a file to an item and fetches it back. A ticket is kept meanwhile, to go on with after an interruption.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { Strongroom } from '@strongroom/sdk'

const strongroom = Strongroom.fromEnv()
const file = process.env.FILE ?? 'contract.pdf'
const kept = `${file}.upload`

const { assetId } = await strongroom.attachments.upload('prod', 'stripe', file, {
  resume: await readFile(kept, 'utf8').catch(() => undefined),
  onStart: (ticket) => writeFile(kept, ticket),
  onProgress: (sent, total) => console.log(`${sent} of ${total} bytes`),
})
await rm(kept, { force: true })

for (const { name, size } of await strongroom.attachments.list('prod', 'stripe'))
  console.log(`attached: ${name}, ${size}`)

const download = await strongroom.attachments.download('prod', assetId)
await download.saveTo(`${file}.copy`) // the whole verified content appears under its name, or nothing
console.log('signed by', download.receipt.signerKeyId)
