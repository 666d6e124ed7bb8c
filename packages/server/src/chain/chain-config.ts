import { StartError } from '../errors.ts'
import { readWatchKey, type WatchKey } from './addresses.ts'

/** A token that counts as money: so many of its units are a dollar. */
export interface ChainAsset {
  readonly symbol: string
  /** In lower case. */
  readonly contract: string
  readonly decimals: number
}

/** The chain over which credit comes. */
export interface ChainConfig {
  /** One or two; with two, both have to say the same before money moves. They may carry a key of the operator: never shown. */
  readonly rpcUrls: readonly string[]
  readonly chainId: number
  readonly watchKey: WatchKey
  readonly assets: readonly ChainAsset[]
  readonly confirmations: number
}

const invalid = (message: string, nextStep: string): StartError => new StartError('config_invalid', message, nextStep)

function readUrls(text: string): readonly string[] {
  const urls = text.split(',').map((url) => url.trim())
  const isUrl = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url)
  if (urls.length > 2 || !urls.every(isUrl) || new Set(urls).size !== urls.length)
    throw invalid('STRONGROOM_CHAIN_RPC is not one or two addresses', 'write https://…, or two of them with a comma')
  return urls
}

function readKey(text: string): WatchKey {
  const key = readWatchKey(text)
  if (key) return key
  // Not quoted: it may be the private one.
  throw invalid(
    'STRONGROOM_CHAIN_XPUB is not an extended public key',
    'export the xpub… of the account from your wallet; a private key must never come to this server',
  )
}

function wholeNumber(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (!/^[0-9]{1,15}$/.test(text) || value < least || value > most)
    throw invalid(`${name} is not a number from ${least} to ${most}`, 'write it in digits alone')
  return value
}

const ASSETS_HINT = 'write JSON: [{"symbol":"USDC","contract":"0x…","decimals":6}]'

function readAsset(value: unknown): ChainAsset {
  const { symbol, contract, decimals, ...rest } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isAsset =
    typeof symbol === 'string' &&
    /^[A-Za-z0-9]{1,12}$/.test(symbol) &&
    typeof contract === 'string' &&
    /^0x[0-9a-fA-F]{40}$/.test(contract) &&
    typeof decimals === 'number' &&
    Number.isInteger(decimals) &&
    decimals >= 0 &&
    decimals <= 36 &&
    Object.keys(rest).length === 0
  if (!isAsset) throw invalid('STRONGROOM_CHAIN_ASSETS has something in it that is no asset', ASSETS_HINT)
  return { symbol, contract: contract.toLowerCase(), decimals }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readAssets(text: string): readonly ChainAsset[] {
  const list = parsed(text)
  if (!Array.isArray(list) || list.length === 0 || list.length > 16)
    throw invalid('STRONGROOM_CHAIN_ASSETS is not a list of assets', ASSETS_HINT)
  const assets = list.map(readAsset)
  const isTwice = (key: 'symbol' | 'contract'): boolean => new Set(assets.map((a) => a[key])).size !== assets.length
  if (isTwice('symbol') || isTwice('contract'))
    throw invalid('STRONGROOM_CHAIN_ASSETS names an asset twice', ASSETS_HINT)
  return assets
}

/** All of the four that have no default, or none. */
export function readChain(env: NodeJS.ProcessEnv): ChainConfig | undefined {
  const {
    STRONGROOM_CHAIN_RPC: rpc,
    STRONGROOM_CHAIN_ID: id,
    STRONGROOM_CHAIN_XPUB: xpub,
    STRONGROOM_CHAIN_ASSETS: assets,
    STRONGROOM_CHAIN_CONFIRMATIONS: confirmations = '12',
  } = env
  if (!rpc && !id && !xpub && !assets) return undefined
  if (!rpc || !id || !xpub || !assets)
    throw invalid(
      'the chain is only half configured',
      'set STRONGROOM_CHAIN_RPC, _ID, _XPUB and _ASSETS, or none of them',
    )
  return {
    rpcUrls: readUrls(rpc),
    chainId: wholeNumber('STRONGROOM_CHAIN_ID', id, [1, Number.MAX_SAFE_INTEGER]),
    watchKey: readKey(xpub),
    assets: readAssets(assets),
    confirmations: wholeNumber('STRONGROOM_CHAIN_CONFIRMATIONS', confirmations, [1, 10_000]),
  }
}
