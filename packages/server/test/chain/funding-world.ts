import { HDKey } from '@scure/bip32'
import { type FundingIntent, money } from '@strongroom/contract'
import { type ChainConfig, readChain } from '../../src/chain/chain-config.ts'
import { type ChainNode, openNodes } from '../../src/chain/node.ts'
import { inOrg } from '../../src/context.ts'
import { creditOf, ledgerDifferences } from '../../src/ledger/ledger.ts'
import { makeScanner } from '../../src/modules/funding/scanner.ts'
import { type Harness, startHarness, type TestAgent } from '../harness.ts'
import { type ChainProcess, startChainNode } from './chain-node.ts'

// A server whose credit comes over a real chain. Nothing runs in the background: a test takes each turn of the scanner itself, each
// with a scanner that has just been made and remembers nothing.

export const CONFIRMATIONS = 3

export interface FundingWorld {
  readonly h: Harness
  readonly chain: ChainProcess
  readonly config: ChainConfig
  /** What the configuration was read from. */
  readonly settings: Readonly<Record<string, string>>
  readonly account: HDKey
  readonly token: string
  readonly otherToken: string
  /** Eighteen decimals. */
  readonly fineToken: string
  readonly acme: Payer
  readonly other: Payer
  tick(nodes?: readonly ChainNode[]): Promise<string>
  /** Mines until everything so far is confirmed, and takes a turn. */
  settle(): Promise<void>
  /** Time passes here and on the chain. */
  passTime(seconds: number): Promise<void>
  close(): Promise<void>
}

export interface Payer extends TestAgent {
  readonly orgId: string
  readonly tenantId: string
  intent(micros: bigint, asset?: string): Promise<FundingIntent>
  read(intent: FundingIntent): Promise<FundingIntent>
  /** What the organisation can spend, after the book was checked. */
  available(): Promise<bigint>
  account(name: string): Promise<bigint>
  /** Types of the events about an object and its deposits, in their order. */
  told(intent: FundingIntent): Promise<readonly string[]>
}

export async function payer(h: Harness, name: string): Promise<Payer> {
  const org = await h.org(name)
  const agent = await h.agent(org, ['machine.billing.all'])
  const { orgId } = org
  const { funding } = agent.client
  return {
    ...org,
    ...agent,
    intent: (micros, asset = 'TUSD') => funding.createIntent({ body: { amount: money(micros), asset } }),
    read: ({ intentId }) => funding.getIntent({ params: { id: intentId } }),
    available: () =>
      inOrg(h.deps, orgId, async (db) => {
        const differences = await ledgerDifferences(db, orgId)
        if (differences.length > 0) throw new Error(`accounts differ: ${differences.join(', ')}`)
        return (await creditOf(db, orgId)).available
      }),
    account: (account) =>
      inOrg(h.deps, orgId, async (db) => {
        const row = await db
          .selectFrom('ledger_account')
          .select(['cr_posted', 'dr_posted'])
          .where('account', '=', account)
          .executeTakeFirst()
        return BigInt(row?.cr_posted ?? '0') - BigInt(row?.dr_posted ?? '0')
      }),
    told: ({ intentId }) =>
      inOrg(h.deps, orgId, async (db) => {
        const rows = await db
          .selectFrom('outbox_event')
          .select(['type'])
          .where('org_id', '=', orgId)
          .where('body', 'like', `%${intentId}%`)
          .orderBy('seq')
          .execute()
        return rows.map(({ type }) => type.replace('billing.', ''))
      }),
  }
}

const SEED = Buffer.from('a seed of the tests and of nobody else'.padEnd(64, '.'))

/** A chain with tokens, and the configuration of a server that takes them. */
export async function startTokens(): Promise<
  Pick<FundingWorld, 'chain' | 'config' | 'settings' | 'account' | 'token' | 'otherToken' | 'fineToken'>
> {
  const chain = await startChainNode()
  const [token, otherToken, fineToken] = [await chain.deploy(), await chain.deploy(), await chain.deploy(18)]
  const [rich = ''] = chain.accounts
  for (const contract of [token, otherToken, fineToken]) await chain.mint(contract, rich, 10n ** 30n)
  const account = HDKey.fromMasterSeed(SEED).derive("m/44'/60'/0'/0")
  const settings = {
    STRONGROOM_CHAIN_RPC: chain.url,
    STRONGROOM_CHAIN_ID: String(chain.chainId),
    STRONGROOM_CHAIN_XPUB: account.publicExtendedKey,
    STRONGROOM_CHAIN_ASSETS: JSON.stringify([
      { symbol: 'TUSD', contract: token, decimals: 6 },
      { symbol: 'XUSD', contract: otherToken, decimals: 6 },
      { symbol: 'FINE', contract: fineToken, decimals: 18 },
    ]),
    STRONGROOM_CHAIN_CONFIRMATIONS: String(CONFIRMATIONS),
  }
  const config = readChain(settings)
  if (!config) throw new Error('the chain is not configured')
  return { chain, config, settings, account, token, otherToken, fineToken }
}

/** One turn of a scanner that remembers nothing. */
export const scan = (h: Harness, config: ChainConfig, nodes = openNodes(config.rpcUrls)): Promise<string> =>
  makeScanner(h.deps, h.worker, config, nodes).tick()

export async function startFundingWorld(start = startHarness): Promise<FundingWorld> {
  const tokens = await startTokens()
  const { chain, config } = tokens
  const h = await start({ chain: config })
  const tick = (nodes?: readonly ChainNode[]): Promise<string> => scan(h, config, nodes)
  return {
    ...{ ...tokens, h, tick },
    acme: await payer(h, 'acme'),
    other: await payer(h, 'other'),
    settle: async () => {
      await chain.mine(CONFIRMATIONS)
      await tick()
    },
    passTime: async (seconds) => {
      h.advance(seconds * 1000)
      await chain.passTime(seconds)
    },
    close: async () => {
      await h.close()
      await chain.close()
    },
  }
}
