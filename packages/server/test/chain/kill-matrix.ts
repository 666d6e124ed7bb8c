import type { FundingIntent } from '@strongroom/contract'
import { inOrg } from '../../src/context.ts'
import { type Death, type Ended, runMortal, startMatrix } from '../crash/mortal.ts'
import { harnessOn } from '../harness-on.ts'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { CONFIRMATIONS, type FundingWorld, type Payer, payer, startFundingWorld } from './funding-world.ts'
import { inAnotherPlace, reorganise, signedPayment } from './reorganise.ts'
import type { ScannerOrders } from './scanner-process.ts'

// Payments whose scanner is killed at every point where it touches the database or asks a node of a real chain, in each of the turns that a
// payment takes. The chain goes on, or becomes another one, before somebody else takes the next turn.
//
// Seen red: a deposit marked as credited, or as taken back, in another transaction than its transfer; a transfer with a name of its own each
// time; the cursor moved in another transaction than what was read is kept.

const SCANNER = new URL('./scanner-process.ts', import.meta.url)
const TARGET = 5_000_000n

/** What happens on the chain before each turn of the scanner. */
type Happenings = readonly (() => Promise<unknown>)[]

interface Scene {
  readonly name: string
  /** What the ledger may have of it in the end. */
  readonly transfers: readonly string[]
  readonly deposits: number
  readonly turns: number
  begin(w: FundingWorld, intent: FundingIntent): Promise<Happenings>
}

const SCENES: readonly Scene[] = [
  {
    name: 'paid',
    transfers: ['fund'],
    deposits: 1,
    turns: 2,
    begin: async ({ chain, token }, { address }) => [
      () => chain.transfer(token, address, TARGET),
      () => chain.mine(CONFIRMATIONS),
    ],
  },
  {
    name: 'paid in two parts',
    transfers: ['fund fund'],
    deposits: 2,
    turns: 3,
    begin: async ({ chain, token }, { address }) => [
      () => chain.transfer(token, address, TARGET - 2_000_000n),
      () => chain.mine(CONFIRMATIONS),
      async () => {
        await chain.transfer(token, address, 2_000_000n)
        await chain.mine(CONFIRMATIONS)
      },
    ],
  },
  {
    name: 'in another place before it is credited',
    transfers: ['fund'],
    deposits: 1,
    turns: 3,
    begin: async (w, intent) => {
      const pay = await signedPayment(w, intent, TARGET)
      const snapshot = await w.chain.snapshot()
      return [pay, () => reorganise(w.chain, snapshot, inAnotherPlace(w, pay)), () => w.chain.mine(CONFIRMATIONS)]
    },
  },
  {
    name: 'gone after it was credited, and back in another place',
    // Whoever was killed before it was credited has nothing to take back.
    transfers: ['fund', 'fund reorg restore'],
    deposits: 1,
    turns: 3,
    begin: async (w, intent) => {
      const pay = await signedPayment(w, intent, TARGET)
      const snapshot = await w.chain.snapshot()
      const deep = () => w.chain.mine(CONFIRMATIONS)
      return [() => pay().then(deep), () => reorganise(w.chain, snapshot), () => inAnotherPlace(w, pay)().then(deep)]
    },
  },
]

async function takeTurn(w: FundingWorld): Promise<void> {
  const outcome = await w.tick()
  if (outcome !== 'read') throw new Error(`the chain was not read: ${outcome}`)
}

const transfersOf = (w: FundingWorld, { orgId }: Payer, { intentId }: FundingIntent): Promise<readonly string[]> =>
  inOrg(w.h.deps, orgId, async (db) => {
    const rows = await db
      .selectFrom('ledger_transfer')
      .select('transfer_id as id')
      .where('ref_id', '=', intentId)
      .orderBy('seq')
      .execute()
    return rows.map(({ id }) => id.replace(/:.*/, ''))
  })

type Books = readonly bigint[]

/** What can be spent, what came over the chain, and what was taken back; each is checked against its transfers. */
const booksOf = async (w: FundingWorld, by: Payer): Promise<Books> => [
  await by.available(),
  await by.account(`clearing:${w.chain.chainId}:TUSD`),
  await by.account('suspense'),
]

async function wrongWith(w: FundingWorld, scene: Scene, by: Payer, intent: FundingIntent, before: Books) {
  const { status, exceptions, deposits } = await by.read(intent)
  const states = deposits.map(({ state }) => state)
  if (status !== 'funded' || exceptions.length > 0) return `it is ${status} ${exceptions.join(' ')}`
  if (states.length !== scene.deposits || states.some((state) => state !== 'credited'))
    return `deposits ${states.join(' ')}`
  const transfers = await transfersOf(w, by, intent)
  if (!scene.transfers.includes(transfers.join(' '))) return `transfers ${transfers.join(' ')}`
  const moved = (await booksOf(w, by)).map((balance, i) => balance - (before[i] ?? 0n))
  if (moved.join() !== [TARGET, -TARGET, 0n].join()) return `the books have moved by ${moved.join(', ')}`
  const told = (await by.told(intent)).filter((type) => type === 'balance.credited').length
  const due = transfers.filter((name) => name !== 'reorg').length
  return told === due ? undefined : `${told} of ${due} credits told`
}

interface Stage {
  readonly w: FundingWorld
  readonly by: Payer
  readonly orders: ScannerOrders
}

/** The scanner of one turn dies; all others live. */
async function play({ w, by, orders }: Stage, scene: Scene, turn: number, dieAt: number): Promise<Ended> {
  const [before, intent] = [await booksOf(w, by), await by.intent(TARGET)]
  const happenings = await scene.begin(w, intent)
  let death: Death | undefined
  for (const [i, happen] of happenings.entries()) {
    await happen()
    if (i === turn) death = await runMortal(SCANNER, { ...orders, dieAt })
    else await takeTurn(w)
  }
  await w.chain.mine(CONFIRMATIONS)
  await takeTurn(w)
  return { death, wrong: await wrongWith(w, scene, by, intent, before) }
}

export async function killScanners(step: number): Promise<void> {
  const matrix = startMatrix('funding, kills', step)
  const postgres = await startTestPostgres()
  const logins = await copyDatabase(postgres)
  const w = await startFundingWorld((overrides) => harnessOn(logins, overrides))
  await w.tick()
  const orders = { app: logins.app, worker: logins.worker, skewMs: 0, settings: w.settings }
  for (const scene of SCENES)
    for (let turn = 0; turn < scene.turns; turn++) {
      const by = await payer(w.h, `${scene.name}, ${turn}`)
      await matrix.atEveryPoint(`${scene.name}, turn ${turn + 1}`, (dieAt) =>
        play({ w, by, orders }, scene, turn, dieAt),
      )
    }
  await w.close()
  await postgres.stop()
  matrix.end()
}
