import type { ChainConfig } from '../../chain/chain-config.ts'
import { openNodes } from '../../chain/node.ts'
import { StartError } from '../../errors.ts'

/**
 * Looks at the chain before the door is opened: a node of another chain, or a token with other decimals, would make wrong money of
 * every payment. A node that does not answer keeps nobody from their secrets: no address is given out until it does.
 */
export async function checkChain(chain: ChainConfig | undefined): Promise<void> {
  if (!chain) return
  for (const node of openNodes(chain.rpcUrls)) {
    const id = await node.chainId().catch(() => undefined)
    if (id === undefined) continue
    if (id !== chain.chainId)
      throw new StartError(
        'chain_mismatch',
        `a node of STRONGROOM_CHAIN_RPC is of chain ${id}, not ${chain.chainId}`,
        'name nodes of the chain of STRONGROOM_CHAIN_ID',
      )
    for (const { symbol, contract, decimals } of chain.assets) {
      const found = await node.decimals(contract).catch(() => undefined)
      if (found !== undefined && found !== decimals)
        throw new StartError(
          'chain_mismatch',
          `the token ${symbol} has ${found} decimals on the chain, not ${decimals}`,
          'correct STRONGROOM_CHAIN_ASSETS',
        )
    }
  }
}
