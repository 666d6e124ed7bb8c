// The writers of one vault, in a process of their own. Started by vault-writers.ts.
import { type FirstPerson, setUp } from '@strongroom/sdk'
import { FOUNDER, keysOf } from '../people.ts'
import { makeReplay, type Replay } from './checks/replay.ts'
import { openAsAuditor } from './database.ts'
import { type Door, makeDoor } from './door.ts'
import { leanFetch } from './lean-fetch.ts'
import type { FromLoad, Start, ToLoad } from './messages.ts'
import { makeRandom } from './random.ts'
import { makeTraffic, type Traffic } from './traffic.ts'
import { makeVaultBook, type VaultBook } from './vault-book.ts'
import { makeVaultClients, type VaultClient, type VaultClients } from './vault-clients.ts'
import { failed, lost, type Problem } from './writers/writer.ts'

const WRITERS = 64
/** Writers of another vault of the organisation, which shares the log and nothing else. */
const NEIGHBOURS = 2
const PACE_EVERY_MS = 50
/** A busy machine is slow; one where nothing ends for so long stands still. */
const STALLED_MS = 60_000
const CHECKED_WITHIN_TRIES = 5

const tell = (message: FromLoad): void => {
  process.send?.(message)
}
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Written extends VaultClients {
  readonly book: VaultBook
}

interface Load {
  readonly start: Start
  readonly door: Door
  readonly traffic: Traffic
  /** The vault of the writers, and that of the neighbours. */
  readonly vaults: readonly [Written, Written]
  readonly replay: Replay
  /** The size of the log before anybody wrote. */
  readonly before: number
  /** Writes under way, of whatever length. */
  readonly open: Set<VaultClient>
}

async function openLoad(start: Start): Promise<Load> {
  const { url, setupToken, dataDirectory, writers = WRITERS } = start
  const founder: FirstPerson = await setUp({
    baseUrl: url,
    fetch: leanFetch,
    setupToken,
    ...FOUNDER,
    keys: keysOf('alice'),
  })
  const traffic = makeTraffic()
  const makeVault = async (clients: number): Promise<Written> => {
    const vault = await makeVaultClients({ url, founder, traffic, writers: clients })
    return { ...vault, book: makeVaultBook(vault.vaultId, vault.clients) }
  }
  const vaults = [await makeVault(writers), await makeVault(NEIGHBOURS)] as const
  const replay = makeReplay({
    founder,
    client: () => founder.client,
    asAuditor: async (work) => {
      const database = openAsAuditor(dataDirectory)
      return work(database).finally(database.close)
    },
  })
  const { size } = await founder.client.transparency.checkpoint()
  return { start, door: makeDoor(), traffic, vaults, replay, before: size, open: new Set() }
}

/** A client writes for ever. What it meets that it should not is in the book already. */
async function repeat({ start, door, open }: Load, book: VaultBook, client: VaultClient): Promise<never> {
  const random = makeRandom(start.seed * 1000 + client.number)
  for (;;) {
    await door.pass()
    open.add(client)
    await book.write(client, random).catch(() => pause(20))
    open.delete(client)
  }
}

/** Waits until every write has ended; what does not end is a failure, and nothing can be compared beside it. */
async function settle({ open }: Load): Promise<Problem[]> {
  let [left, since] = [open.size, Date.now()]
  while (open.size > 0 && Date.now() - since < STALLED_MS) {
    await pause(10)
    if (open.size < left) [left, since] = [open.size, Date.now()]
  }
  await pause(0)
  return [...open].map(({ number }) => failed(`the write of client ${number} does not settle`))
}

/** Each acknowledged commit is one leaf, and each leaf was acknowledged. */
function compareLeaves({ replay, vaults, traffic, before }: Load): Problem[] {
  const leaves = vaults.flatMap(({ vaultId }) => replay.commitsOf(vaultId)).filter((index) => index >= before)
  const ackedAt = traffic.ackedAt.filter((index) => index >= before)
  const acked = new Set(ackedAt)
  const there = new Set(leaves)
  return [
    ...[...acked].filter((index) => !there.has(index)).map((index) => lost(`leaf ${index} was acknowledged`)),
    ...leaves.filter((index) => !acked.has(index)).map((index) => failed(`nobody was told of leaf ${index}`)),
    ...(acked.size === ackedAt.length ? [] : [failed('one leaf was acknowledged for two writes')]),
  ]
}

async function checking(check: () => Promise<Problem[]>, tries = CHECKED_WITHIN_TRIES): Promise<Problem[]> {
  try {
    return await check()
  } catch (error) {
    if ((error as { status?: number }).status === 503 && tries > 1) {
      await pause(1000)
      return checking(check, tries - 1)
    }
    return [failed(`cannot be compared: ${(error as Error).stack}`)]
  }
}

async function compareAll(load: Load): Promise<Problem[]> {
  const { replay, vaults, traffic } = load
  const problems: Problem[] = []
  for (const { vaultId, reader, book } of vaults)
    problems.push(...book.compare(await reader().secrets.env({ vault: vaultId })))
  return [
    ...problems,
    ...(await replay.catchUp()),
    ...(await replay.show(traffic.takeCheckpoints())),
    ...replay.compareShown(),
    ...compareLeaves(load),
  ]
}

async function compare(load: Load): Promise<void> {
  const { vaults, traffic, replay } = load
  const books = vaults.map(({ book }) => book)
  const problems = await settle(load)
  if (problems.length === 0) problems.push(...(await checking(() => compareAll(load))))
  problems.push(...books.flatMap((book) => book.takeProblems()))
  problems.push(...traffic.takeFaults().map(failed))
  tell({
    type: 'checked',
    ackedInAll: sum(books.map((book) => book.acked())),
    ambiguous: traffic.writes.ambiguous(),
    lost: problems.filter(({ isLoss }) => isLoss).map(({ what }) => what),
    failures: problems.filter(({ isLoss }) => !isLoss).map(({ what }) => what),
    counts: {
      writers: vaults[0].clients.length,
      doubled: sum(books.map((book) => book.doubled())),
      maxRebases: vaults[0].book.mostRebases(),
      checkpoints: replay.shown(),
      inconsistent: replay.inconsistent(),
      postponed: traffic.postponed(),
      slowestMs: traffic.slowestMs(),
    },
  })
}

let load: Load | undefined

async function follow(message: ToLoad): Promise<void> {
  if (message.type === 'start') {
    load = await openLoad(message)
    const { vaults, traffic } = load
    for (const { clients, book } of vaults) for (const client of clients) void repeat(load, book, client)
    setInterval(() => tell(traffic.writes.pace()), PACE_EVERY_MS)
    return tell({ type: 'ready' })
  }
  if (!load) throw new Error('there is no load yet')
  const { door, traffic } = load
  if (message.type === 'run') return door.open()
  if (message.type === 'down') {
    door.close()
    return tell(traffic.writes.seen(message.killedAt))
  }
  return compare(load)
}

process.on('message', (message: ToLoad) => {
  follow(message).catch((error: Error) => tell({ type: 'broken', why: error.stack ?? error.message }))
})
process.on('disconnect', () => process.exit(0))
