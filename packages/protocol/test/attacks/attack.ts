import { ProtocolError, type ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import type { Identity, Recipient } from '../../src/identity/private-keys.ts'
import { type AdoptedRecovery, adoptRecovery, verifyRecovery } from '../../src/trust/recovery.ts'
import { type Remembered, remember, type VerifiedRound } from '../../src/trust/remember.ts'
import { logPinOf, orgTrustOf, serialiseTrustStore, type TrustStore } from '../../src/trust/store.ts'
import { valueText } from '../../src/values/field.ts'
import {
  type EnvironmentAnswer,
  type OpenedEnvironment,
  openEnvironment,
  type VaultAnswer,
  verifyVaultAnswer,
} from '../../src/vault/answer.ts'
import type { Commit } from '../../src/vault/commit.ts'
import { openVaultKeys, type VaultKeys } from '../../src/vault/grants.ts'
import type { VerifiedHead } from '../../src/vault/vault.ts'
import { ORG, openWorld, type World } from '../world/world.ts'

// An attack is data: what a server or a member tries, the row of section 10 it belongs to, and the code it is refused with.
// The attackers hold real keys: the server signs checkpoints with the real log key and logs whatever it is told, and
// members sign with keys that the directory knows.

export interface Attack {
  readonly id: string
  /** The row of section 10. */
  readonly row: number
  readonly title: string
  readonly code: ProtocolErrorCode
  /**
   * The lie lies inside an encryption, or only memory shows it: a private key was used on the verified wrap before.
   * Every other attack must be refused before any private key is used.
   */
  readonly behindKeys?: true
  run(world: World, bench: Bench): Promise<unknown>
}

/** What an honest server sends in the same situations: a suite that refuses everything is seen here. */
export interface Honest {
  readonly id: string
  readonly theme: string
  readonly title: string
  run(world: World, bench: Bench): Promise<void>
}

/** The victim: a reader with a trust store, whose private key counts how often it is used. */
export interface Client {
  readonly store: TrustStore
  /** An honest answer to this reader, as the attacker starts from it. */
  ask(vaultId?: string): Promise<EnvironmentAnswer>
  /** Reads and remembers what an honest server answers: from now on this client has memory. */
  learn(...vaultIds: readonly string[]): Promise<void>
  /** The whole read: verify, unwrap, open, remember, and only then give out. */
  read(answer: unknown, vaultId?: string): Promise<OpenedEnvironment>
  /** A read that stops at the head, as lists and writers begin. */
  head(answer: unknown, vaultId?: string): Promise<VerifiedHead>
  /** The vault keys, unwrapped with the counting private key. */
  unwrap(head: VerifiedHead, wraps: readonly Envelope[]): Promise<VaultKeys>
  remember(round: Omit<VerifiedRound, 'now'>): Remembered
  /** Goes on with a restored log, if the answer proves that it may. */
  recover(answer: unknown): Promise<AdoptedRecovery>
  /** What reaches the user. */
  release(value: string): void
}

export interface Bench {
  readonly client: Client
  /** The same victim with the keys of somebody else. */
  clientOf(reader: Identity): Client
  readonly server: Server
}

/** The server as writers see it: it re-checks every commit, or it would not be worth writing to. */
export interface Server {
  submit(...docs: readonly Envelope[]): Promise<void>
  commit(vaultId: string, commit: Commit): Promise<void>
}

interface Tally {
  privateOperations: number
  readonly released: string[]
  store: TrustStore
  /** The store as it was before the attack. */
  before: string
  /** The state root before the act that was refused. */
  root: string
}

const rootOf = (world: World): string => `${world.host.leaves.length} ${world.host.ledger.map.root()}`

function counting(identity: Identity, tally: Tally): Recipient {
  const { kid, key, rsaDecrypt, decapsulate } = identity
  const count = (): void => {
    tally.privateOperations++
  }
  return {
    kid,
    key,
    rsaDecrypt: (ciphertext) => {
      count()
      return rsaDecrypt(ciphertext)
    },
    ...(decapsulate && {
      decapsulate: (ciphertext: Uint8Array) => {
        count()
        return decapsulate(ciphertext)
      },
    }),
  }
}

function openClient(world: World, reader: Identity, tally: Tally): Client {
  const recipient = counting(reader, tally)
  const keep = (round: Omit<VerifiedRound, 'now'>): Remembered => {
    const remembered = remember(tally.store, { ...round, now: world.now })
    tally.store = remembered.store
    return remembered
  }
  const ask = (vaultId = world.prod): Promise<EnvironmentAnswer> => {
    const have = logPinOf(ORG, orgTrustOf(tally.store, ORG)).seen?.size
    return world.answer(vaultId, reader, have === undefined ? {} : { have })
  }
  const read = async (answer: unknown, vaultId = world.prod): Promise<OpenedEnvironment> => {
    const opened = await openEnvironment(answer, vaultId, world.trust(tally.store, vaultId), recipient)
    keep({ directory: opened.head.vault.directory, heads: [opened.head] })
    for (const { value } of opened.fields) tally.released.push(valueText(value))
    return opened
  }
  const head = async (answer: unknown, vaultId = world.prod): Promise<VerifiedHead> =>
    verifyVaultAnswer(answer as VaultAnswer, vaultId, world.trust(tally.store, vaultId))
  const recover = async (answer: unknown): Promise<AdoptedRecovery> => {
    const { freshness } = world.trust(tally.store)
    const verified = await verifyRecovery(answer, ORG, orgTrustOf(tally.store, ORG), freshness)
    const adopted = adoptRecovery(tally.store, verified, world.now)
    // What is refused afterwards must leave the store as the recovery made it.
    Object.assign(tally, { store: adopted.store, before: serialiseTrustStore(adopted.store) })
    return adopted
  }
  const learn = async (...vaultIds: readonly string[]): Promise<void> => {
    for (const vaultId of vaultIds.length > 0 ? vaultIds : [world.prod]) await read(await ask(vaultId), vaultId)
    Object.assign(tally, { privateOperations: 0, before: serialiseTrustStore(tally.store) })
    tally.released.length = 0
  }
  return {
    get store() {
      return tally.store
    },
    ask,
    learn,
    read,
    head,
    unwrap: (verified, wraps) => openVaultKeys(verified, wraps, recipient),
    remember: keep,
    recover,
    release: (value) => {
      tally.released.push(value)
    },
  }
}

function openServer(world: World, tally: Tally): Server {
  return {
    submit: async (...docs) => {
      tally.root = rootOf(world)
      await world.host.append(docs, world.now)
    },
    commit: async (vaultId, commit) => {
      tally.root = rootOf(world)
      await world.commit(vaultId, commit)
    },
  }
}

function openBench(world: World): { bench: Bench; tally: Tally } {
  const store = world.fresh()
  const tally: Tally = { privateOperations: 0, released: [], store, before: serialiseTrustStore(store), root: '' }
  const clientOf = (reader: Identity): Client => openClient(world, reader, tally)
  return { bench: { client: clientOf(world.actors.deploy), clientOf, server: openServer(world, tally) }, tally }
}

// An attack that changed nothing leaves its world to the next one: opening an organisation costs more than most attacks.
let spare: { readonly world: World; readonly mark: string } | undefined
const markOf = (world: World): string => `${rootOf(world)} ${world.now}`

async function withWorld<T>(use: (world: World) => Promise<T>): Promise<T> {
  const world = spare && markOf(spare.world) === spare.mark ? spare.world : await openWorld()
  const mark = markOf(world)
  spare = undefined
  const result = await use(world)
  spare = { world, mark }
  return result
}

/** Forgets the spare world: for runs that change the code between two attacks. */
export const dropSpareWorld = (): void => {
  spare = undefined
}

/** What is wrong with the refusal of an attack; empty if nothing is. */
export const faultsOf = (attack: Attack): Promise<string[]> =>
  withWorld(async (world) => {
    const { bench, tally } = openBench(world)
    const faults: string[] = []
    try {
      await attack.run(world, bench)
      faults.push('accepted')
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      if (error.code !== attack.code) faults.push(`refused with ${error.code} (${error.message})`)
    }
    if (tally.released.length > 0) faults.push(`gave out ${tally.released.length} values`)
    if (serialiseTrustStore(tally.store) !== tally.before) faults.push('changed the trust store')
    if (!attack.behindKeys && tally.privateOperations > 0) faults.push('used a private key on unverified input')
    if (tally.root !== '' && tally.root !== rootOf(world)) faults.push('changed the log')
    return faults
  })

export const runHonest = (honest: Honest): Promise<void> =>
  withWorld(async (world) => honest.run(world, openBench(world).bench))
