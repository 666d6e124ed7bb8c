// Gives this agent new keys. The new credential is saved before the server hears of it, so that it cannot be lost.
import { writeFile } from 'node:fs/promises'
import { Strongroom } from '@strongroom/sdk'

const strongroom = Strongroom.fromEnv()
const file = process.env.NEW_BUNDLE_FILE ?? 'agent.bundle'

const { keyId, rewrapped } = await strongroom.agents.rotateRuntimeKey(
  { save: async ({ bundle }) => writeFile(file, bundle?.reveal() ?? '', { mode: 0o600 }) },
  { onProgress: (done, total) => console.log(`vault ${done} of ${total}`) },
)
console.log(`${rewrapped} vault keys now open with ${keyId}`)

const { names } = await strongroom.secrets.env({ vault: 'prod' })
console.log('still reads', names.length, 'secrets')
