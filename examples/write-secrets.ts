// Writes a secret, changes it only if nobody else has, and hears of it as a running program would.
import { ConflictError, Strongroom } from '@strongroom/sdk'

const strongroom = Strongroom.fromEnv()
const ref = 'sr://prod/mailer/API_KEY'

const { version, created } = await strongroom.secrets.set(ref, 'key-1')
console.log(created ? 'created' : 'changed', 'version', version)

for await (const { added, changed, bundle } of strongroom.secrets.watch({ vault: 'prod' })) {
  console.log('environment:', bundle.names.join(', '), { added: added.length, changed })
  if (changed.includes('API_KEY')) break
  await strongroom.secrets.set(ref, 'key-2', { ifVersion: version })
}

try {
  await strongroom.secrets.set(ref, 'key-3', { ifVersion: version })
} catch (error) {
  if (!(error instanceof ConflictError)) throw error
  console.log('somebody was quicker: version', error.currentVersion)
}
