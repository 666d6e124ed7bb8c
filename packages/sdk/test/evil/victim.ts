import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { decodePem, type Identity, openKeys, type Principal } from '@strongroom/protocol'
import type { Deed } from '../../evil-server/attack.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { attempt, type Outcome, type Place } from './deeds.ts'

// A program that uses the SDK as it comes: files under its home directory, everything it logs on standard output. Whoever
// started it sends one job at a time. Its private keys count how often they are used.

export interface Job {
  readonly home: string
  readonly deed: Deed
  readonly place: Place
  readonly who: Who
}

/** Whose credentials, in parts, so that the keys can be counted. */
export interface Who {
  readonly server: string
  readonly principal: string
  readonly privateKey: string
  readonly trustAnchor: string
  readonly apiKey?: string
  readonly accessToken?: string
  readonly verify?: StrongroomOptions['verify']
}

export interface Done extends Outcome {
  readonly privateOperations: number
}

/** Where a download goes: nothing is to be there after a refusal, not even a draft. */
export function savedIn(home: string): string {
  mkdirSync(join(home, 'downloads'), { recursive: true })
  return join(home, 'downloads', 'file.bin')
}

const opened = new Map<string, Promise<Identity>>()
let privateOperations = 0

function identityOf({ principal, privateKey }: Who): Promise<Identity> {
  const known = opened.get(principal) ?? openKeys(principal as Principal, decodePem(privateKey))
  opened.set(principal, known)
  return known
}

async function counting(who: Who): Promise<Identity> {
  const identity = await identityOf(who)
  return {
    ...identity,
    rsaDecrypt: (ciphertext) => {
      privateOperations += 1
      return identity.rsaDecrypt(ciphertext)
    },
  }
}

const logger = Object.fromEntries(
  (['error', 'warn', 'info', 'debug'] as const).map((level) => [level, (message: string) => console.log(message)]),
) as unknown as NonNullable<StrongroomOptions['logger']>

async function run({ home, deed, place, who }: Job): Promise<Done> {
  process.env.HOME = home
  // A client of its own, as people have it: all that it keeps is in its home.
  for (const place of ['STRONGROOM_TRUST_STORE', 'STRONGROOM_CACHE_DIR']) delete process.env[place]
  privateOperations = 0
  const { server, trustAnchor, apiKey, accessToken, principal, verify } = who
  const client = NodeStrongroom.fromEnv({
    server,
    trustAnchor,
    privateKey: await counting(who),
    ...(apiKey !== undefined && { apiKey, agentId: principal.slice('agent:'.length) }),
    ...(accessToken !== undefined && { accessToken }),
    ...(verify && { verify }),
    maxRetries: 0,
    logger,
    logLevel: 'debug',
  })
  const outcome = await attempt(client, deed, { ...place, saveTo: savedIn(home) })
  console.log(outcome.error ? outcome.error.shown : 'read')
  return { ...outcome, privateOperations }
}

process.on('message', (job: Job) => {
  run(job).then(
    (done) => process.send?.(done),
    (error: unknown) => process.send?.({ error: { name: 'Crash', code: 'crash', shown: String(error) } }),
  )
})
