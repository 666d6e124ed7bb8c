import { setTimeout as sleep } from 'node:timers/promises'
import { type CommerceWorld, makeCommerceWorld } from './commerce-world.ts'
import { type LoadProcess, type Measured, postgresMicroseconds } from './processes.ts'
import {
  type Beside,
  type Contender,
  describe,
  describeRatio,
  type Meanwhile,
  NO_END,
  type Pairs,
  type Round,
  ratioOf,
  request,
  runBeside,
  runRound,
} from './rounds.ts'
import { benchDeliveries } from './webhooks.ts'

// What commerce costs: beginning a purchase beside the bare route, a ledger of a million beside an empty one, and telling others.

const CONNECTIONS = 64
const ORGS = 8
/** As many buyers as the bare route has connections: of all organisations, and of the first. */
const BUYERS = [CONNECTIONS, ...Array.from({ length: ORGS - 1 }, () => CONNECTIONS / ORGS)]
/** So few that hardly two of them go together, and the process sleeps most of the time. */
const FEW = 4
const PURCHASES_PER_ROUND = 20 * CONNECTIONS
/** The bare route is asked some ten thousand times before it is measured: few purchases would be measured while their code is compiled. */
const WARM_UP_PURCHASES = 75 * CONNECTIONS
const ROUNDS = 6
const ROUND_MS = 1500
const WARM_UP_MS = 3000
const LIMIT_PURCHASE = 10
const LIMIT_GROWN = 1.5
const LONG = 1_000_000
const A_PAGE = 25

export interface CommerceParts {
  readonly server: Measured
  readonly data: string
  readonly bare: Contender
  readonly load: LoadProcess
  readonly beside: Beside
}

const BODY = JSON.stringify({ licenseId: 'sandbox-once', vault: { mode: 'new', name: 'Licences' } })
let turn = 0

/** Each asked for once: a request that is repeated is answered from memory. */
function purchasesOf(apiKey: string, buyer: number, count: number): string[] {
  turn += 1
  return Array.from({ length: count }, (_, i) =>
    [
      'POST /api/v1/machine/licenses/purchase HTTP/1.1',
      'host: 127.0.0.1',
      'user-agent: bench/1.0',
      `x-api-key: ${apiKey}`,
      `idempotency-key: bench-purchase-${turn}-${buyer}-${i}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(BODY)}`,
      '',
      BODY,
    ].join('\r\n'),
  )
}

const purchaseRound = (
  { server, data, load }: CommerceParts,
  buyerKeys: readonly string[],
  count: number,
  meanwhile?: Meanwhile,
) => {
  const chains = buyerKeys.map((apiKey, buyer) => purchasesOf(apiKey, buyer, count / buyerKeys.length))
  const contender: Contender = { server, data, requests: [], status: [201, 202] }
  return runRound(contender, load, { connections: buyerKeys.length, milliseconds: NO_END, chains, meanwhile })
}

const IDLE_MS = 4000

/** What the process uses for a second in which nobody asks anything, in microseconds: its background looks for work all the time. */
async function idleOf({ server }: CommerceParts): Promise<number> {
  const before = (await server.usage()).cpuMicroseconds
  await sleep(IDLE_MS)
  return ((await server.usage()).cpuMicroseconds - before) / (IDLE_MS / 1000)
}

/** Of few and costly requests the idle work of the same while would be a large part. */
const withoutIdle = (round: Round, idle: number): Round => ({
  ...round,
  cpu: round.cpu - (idle * round.seconds) / round.count,
})

/** Buyers, beside as many connections of the bare route: in turn with it, and at the same time, asked as often. */
interface Buying {
  readonly who: string
  readonly keys: readonly string[]
  readonly inTurn: Pairs
  readonly atOnce: Pairs
}

const buying = (who: string, keys: readonly string[]): Buying => ({
  who: `${keys.length} buyers of ${who}`,
  keys,
  inTurn: { own: [], bare: [] },
  atOnce: { own: [], bare: [] },
})

async function buyInTurn(parts: CommerceParts, { keys, inTurn, atOnce }: Buying): Promise<void> {
  const { bare, load, beside } = parts
  const connections = keys.length
  inTurn.bare.push(await runRound(bare, load, { connections, milliseconds: ROUND_MS }))
  const own = await purchaseRound(parts, keys, PURCHASES_PER_ROUND)
  inTurn.own.push(own)
  await runBeside(beside, atOnce, { connections, perSecond: own.perSecond }, (meanwhile) =>
    purchaseRound(parts, keys, PURCHASES_PER_ROUND, meanwhile),
  )
}

function describeBuying({ who, inTurn, atOnce }: Buying, idle: number): string[] {
  const busy = (rounds: readonly Round[]) => rounds.map((round) => withoutIdle(round, idle))
  return [
    `  ${who}`,
    describe('  bare Fastify, one SELECT, in turn', inTurn.bare),
    describe('  a purchase', inTurn.own),
    describe('  without what the process uses idle', busy(inTurn.own)),
    describeRatio(ratioOf(busy(inTurn.own), inTurn.bare), LIMIT_PURCHASE),
    describe('  the bare route at the same time, as often', atOnce.bare),
    describe('  a purchase, without idle', busy(atOnce.own)),
    describeRatio(ratioOf(busy(atOnce.own), atOnce.bare), LIMIT_PURCHASE),
  ]
}

async function benchPurchases(parts: CommerceParts, { buyerKeys }: CommerceWorld): Promise<string[]> {
  const { bare, load } = parts
  const ofOne = buyerKeys[0] ?? []
  const all = buyerKeys.flatMap((keys) => keys.slice(0, CONNECTIONS / ORGS))
  const idle = await idleOf(parts)
  await runRound(bare, load, { connections: CONNECTIONS, milliseconds: WARM_UP_MS })
  await purchaseRound(parts, all, WARM_UP_PURCHASES)
  const loads = [
    buying(`${buyerKeys.length} organisations`, all),
    // Whoever buys for one organisation waits for its credit.
    buying('one organisation', ofOne),
    buying('one organisation', ofOne.slice(0, FEW)),
  ]
  for (let i = 0; i < ROUNDS; i++) for (const one of loads) await buyInTurn(parts, one)
  return [
    'POST /api/v1/machine/licenses/purchase: a purchase begun (budgets, hold, ledger, events, audit),',
    `${ROUNDS} rounds in turn; idle the process uses ${(idle / 1e6).toFixed(3)} s/s`,
    ...loads.flatMap((one) => describeBuying(one, idle)),
  ]
}

async function benchLedger({ server, data, load }: CommerceParts, world: CommerceWorld): Promise<string[]> {
  const start = performance.now()
  const keys = {
    empty: await world.ledgerKey(0),
    short: await world.ledgerKey(A_PAGE),
    long: await world.ledgerKey(LONG),
  }
  const lines = [
    `ledgers: empty, of one page, and of ${LONG} transfers (made in ${((performance.now() - start) / 1000).toFixed(0)} s)`,
  ]
  const options = { connections: CONNECTIONS, milliseconds: ROUND_MS }
  // A page in the middle stands beside the only one of the short ledger.
  const pages = '/api/v1/machine/billing/credit-transactions?page='
  for (const [path, against, ofLong] of [
    ['/api/v1/machine/billing/balance', 'empty', undefined],
    [`${pages}1`, 'short', undefined],
    [`${pages}1`, 'short', `${pages}${LONG / A_PAGE / 2}`],
  ] as const) {
    const contender = (name: keyof typeof keys): Contender => ({
      server,
      data,
      requests: [request((name === 'long' && ofLong) || path, [`x-api-key: ${keys[name]}`])],
      // One agent asks more often than one may; that is the same for all of them.
      status: [200, 429],
    })
    const rounds: Record<keyof typeof keys, Round[]> = { empty: [], short: [], long: [] }
    for (let i = 0; i < ROUNDS; i++)
      for (const name of ['empty', 'short', 'long'] as const)
        rounds[name].push(await runRound(contender(name), load, options))
    lines.push(`  ${path}${ofLong ? `, of the long one ${ofLong}` : ''}`)
    for (const name of ['empty', 'short', 'long'] as const) lines.push(describe(name, rounds[name]))
    lines.push(describeRatio(ratioOf(rounds.long, rounds[against]), LIMIT_GROWN, `the ${against} one`))
  }
  return lines
}

export async function benchCommerce(parts: CommerceParts, say: (lines: readonly string[]) => void): Promise<void> {
  const { server, data } = parts
  const world = await makeCommerceWorld(`http://127.0.0.1:${server.port}`, data, BUYERS)
  const cpu = async (): Promise<number> => (await server.usage()).cpuMicroseconds + (postgresMicroseconds(data) ?? 0)
  try {
    say(await benchPurchases(parts, world))
    say(await benchLedger(parts, world))
    say(await benchDeliveries(world, cpu))
  } finally {
    await world.close()
    await sleep(0)
  }
}
