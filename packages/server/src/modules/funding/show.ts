import { type FundingIntent, money } from '@strongroom/contract'
import { checksummed } from '../../chain/addresses.ts'
import { unitsFor } from './amounts.ts'
import { standingNow } from './fold.ts'
import type { DepositRow, IntentRow } from './store.ts'

/** EIP-681: a transfer of so many units of the token to the address. */
const paymentUri = ({ contract, chainId, address, decimals }: IntentRow, amount: bigint): string =>
  `ethereum:${checksummed(contract)}@${chainId}/transfer?address=${checksummed(address)}&uint256=${unitsFor(amount, decimals)}`

const isOnChain = ({ state }: DepositRow): boolean => state !== 'orphaned' && state !== 'reversed'

const showDeposit = (deposit: DepositRow, head: number): FundingIntent['deposits'][number] => {
  const { txHash, ordinal, state, value, amount, blockNumber, paidAt, creditedAt } = deposit
  return {
    txHash,
    ordinal,
    state,
    value,
    amount: money(amount),
    blockNumber,
    confirmations: isOnChain(deposit) ? Math.max(0, head - blockNumber + 1) : 0,
    paidAt: new Date(paidAt).toISOString(),
    creditedAt: creditedAt === null ? null : new Date(creditedAt).toISOString(),
  }
}

export function showIntent(row: IntentRow, confirmationsRequired: number, now: Date): FundingIntent {
  const { intentId, symbol, chainId, contract, decimals, address, head } = row
  const { status, exceptions, credited, incoming } = standingNow(row, now)
  const [target, network] = [BigInt(row.target), `eip155:${chainId}`]
  const missing = target - credited - incoming
  return {
    intentId,
    status,
    exceptions: [...exceptions],
    target: money(target),
    credited: money(credited),
    incoming: money(incoming),
    asset: { symbol, chainId, contract: checksummed(contract), decimals },
    network,
    address: checksummed(address),
    account: `${network}:${checksummed(address)}`,
    paymentUri: paymentUri(row, missing > 0n ? missing : target),
    confirmationsRequired,
    expiresAt: row.expiresAt.toISOString(),
    cancelledAt: row.cancelledAt?.toISOString() ?? null,
    deposits: row.deposits.map((deposit) => showDeposit(deposit, head)),
    version: row.version,
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
  }
}
