import keysFile from '../vectors/keys.json' with { type: 'json' }
import { benchAttachments } from './attachments.ts'
import { benchReads } from './read.ts'

for (const line of [...(await benchReads(keysFile.keys.big)), '', ...(await benchAttachments())]) console.log(line)
