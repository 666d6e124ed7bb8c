import type { PrivateKeyMaterial } from '@strongroom/protocol'
import {
  acceptInvite,
  type Client,
  createClient,
  endorseInvite,
  type FirstPerson,
  login,
  makeUserInvite,
  type Person,
  setUp,
} from '@strongroom/sdk'
import type { Database } from '../../src/db/database.ts'
import { FOUNDER, keysOf } from '../people.ts'
import { openAsAuditor } from './database.ts'
import { type Journal, makeJournal } from './journal.ts'
import { leanFetch } from './lean-fetch.ts'
import type { Start } from './messages.ts'

// The organisation under load, and everybody who writes in it.

/** What a device sends when it joins. Texts the server cannot read serve for everybody: sealing them anew is slow. */
export interface Joining {
  readonly registrationRequest: string
  readonly secrets: {
    readonly registrationRecord: string
    readonly kdf: string
    readonly bundleVersion: number
    readonly privateBundle: string
  }
}

export interface World {
  readonly url: string
  readonly seed: number
  readonly journal: Journal
  readonly founder: FirstPerson
  /** A session of the founder; several, since each has its own limit of requests. */
  session(): Client
  /** A new agent that may do everything in the tenant. */
  manager(name: string): Promise<Client>
  /** Somebody with a session and keys of their own. */
  readonly member: Person
  readonly joining: Joining
  /** Ids of people who only have a name. */
  readonly people: readonly string[]
  /** Hashes of documents whose place in the log was acknowledged. */
  readonly loggedDocuments: Set<string>
  /** For comparing; a new connection for each life of PostgreSQL. */
  asAuditor<T>(work: (database: Database) => Promise<T>): Promise<T>
}

/** A client of somebody with this key, or of nobody. */
export const clientOf = (baseUrl: string, apiKey?: string): Client =>
  createClient({ baseUrl, fetch: leanFetch, ...(apiKey !== undefined && { apiKey }) })

const SESSIONS = 4
const PEOPLE = 8
const MEMBER = { email: 'member@example.com', passphrase: 'another long passphrase' }

/** Joins as any device does, and keeps the texts it sent. */
async function join(
  founder: FirstPerson,
  url: string,
  keys: PrivateKeyMaterial,
): Promise<{ member: Person; joining: Joining }> {
  const invited = await makeUserInvite(founder, { ...MEMBER, name: 'Member', tenantId: founder.tenantId })
  const sent: Record<string, unknown>[] = []
  const network: typeof fetch = (input, init) => {
    if (typeof init?.body === 'string') sent.push(JSON.parse(init.body))
    return leanFetch(input, init)
  }
  const server = { baseUrl: url, fetch: network }
  const { codes } = await acceptInvite({ ...server, link: invited.link, passphrase: MEMBER.passphrase, keys })
  await endorseInvite(founder, invited)
  const [request, accepted] = sent as unknown as [Pick<Joining, 'registrationRequest'>, Joining['secrets']]
  const { registrationRecord, kdf, bundleVersion, privateBundle } = accepted
  return {
    member: await login({ baseUrl: url, fetch: leanFetch, ...MEMBER, deviceSecret: codes.deviceSecret }),
    joining: {
      registrationRequest: request.registrationRequest,
      secrets: { registrationRecord, kdf, bundleVersion, privateBundle },
    },
  }
}

async function invitePeople(founder: FirstPerson): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < PEOPLE) {
    const email = `person${ids.length}@example.com`
    ids.push((await makeUserInvite(founder, { email, name: 'Person', tenantId: founder.tenantId })).userId)
  }
  return ids
}

export async function makeWorld({ url, setupToken, dataDirectory, seed }: Start): Promise<World> {
  const founder = await setUp({ baseUrl: url, fetch: leanFetch, setupToken, ...FOUNDER, keys: keysOf('alice') })
  const { deviceSecret } = founder.codes
  const sessions: Client[] = [founder.client]
  while (sessions.length < SESSIONS)
    sessions.push((await login({ baseUrl: url, fetch: leanFetch, ...FOUNDER, deviceSecret })).client)
  let turn = 0
  return {
    url,
    seed,
    journal: makeJournal(),
    founder,
    people: await invitePeople(founder),
    loggedDocuments: new Set(),
    session: () => sessions[turn++ % sessions.length] as Client,
    manager: async (name) => {
      const { apiKey } = await founder.client.agents.create({
        body: {
          name,
          permissions: ['machine.all'],
          tenantRoles: [{ tenantId: founder.tenantId, role: 'TENANT_ADMIN' }],
        },
      })
      return clientOf(url, apiKey ?? undefined)
    },
    ...(await join(founder, url, keysOf('bob'))),
    asAuditor: async (work) => {
      const database = openAsAuditor(dataDirectory)
      try {
        return await work(database)
      } finally {
        await database.close()
      }
    },
  }
}
