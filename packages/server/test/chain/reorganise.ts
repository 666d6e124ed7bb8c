import type { FundingIntent } from '@strongroom/contract'
import type { ChainProcess } from './chain-node.ts'
import type { FundingWorld } from './funding-world.ts'

// A chain that becomes another one.

type Tokens = Pick<FundingWorld, 'chain' | 'token'>

/** Takes back what happened since the snapshot, and makes the new chain longer than the old one was. */
export async function reorganise(
  chain: ChainProcess,
  snapshot: string,
  before: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const height = await chain.height()
  await chain.revert(snapshot)
  await before()
  const missing = height + 1 - (await chain.height())
  if (missing > 0) await chain.mine(missing)
}

/** The same transaction, byte for byte, whenever it is sent from the same state. */
export async function signedPayment(
  { chain, token }: Tokens,
  { address }: FundingIntent,
  value: bigint,
): Promise<() => Promise<string>> {
  const [from = ''] = chain.accounts
  const nonce = Number(await chain.rpc<string>('eth_getTransactionCount', [from, 'latest']))
  return () => chain.transfer(token, address, value, { from, nonce })
}

/** In the second of the new chain's blocks, behind another transfer: another block, another index of the log. */
export const inAnotherPlace =
  ({ chain, token }: Tokens, pay: () => Promise<string>) =>
  async (): Promise<void> => {
    const neighbour = chain.accounts[1] ?? ''
    await chain.mine()
    await chain.automine(false)
    await pay()
    await chain.transfer(token, neighbour, 0n, { from: neighbour, gasPrice: 90_000_000_000n })
    await chain.mine()
    await chain.automine(true)
  }
