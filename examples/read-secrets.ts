// Reads one secret, then the whole environment of a vault. STRONGROOM_BUNDLE is the string that came with the agent.
import { Strongroom } from '@strongroom/sdk'

const strongroom = Strongroom.fromEnv()

const key = await strongroom.secrets.get('sr://prod/stripe/SECRET_KEY')
console.log(`${key}`) // prints its reference, never its value
console.log('signed by', key.receipt?.signerKeyId)
const authorization = `Bearer ${key.reveal()}`

const env = await strongroom.secrets.env({ vault: 'prod' })
env.applyTo(process.env)

const log = env.redactor()
console.log(log.write(`calling with ${authorization}`) + log.end()) // calling with Bearer ‹SECRET_KEY›
