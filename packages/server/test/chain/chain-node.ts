import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ofThisRun } from '../process.ts'
import token from './test-token.json' with { type: 'json' }

// A real chain on this machine: hardhat's node as a child process, with accounts that are unlocked and rich. Blocks are made when a
// test says so or when something is sent. A reorganisation is a snapshot, something, and back to the snapshot.

export interface Sending {
  readonly from?: string
  readonly nonce?: number
  readonly gasPrice?: bigint
}

export interface ChainProcess {
  readonly url: string
  readonly chainId: number
  readonly accounts: readonly string[]
  rpc<T>(method: string, params?: readonly unknown[]): Promise<T>
  /** The address of a new token, with six decimals or eighteen. */
  deploy(decimals?: 6 | 18): Promise<string>
  mint(contract: string, to: string, value: bigint): Promise<string>
  /** Sends tokens of the first account; gives the hash of the transaction. */
  transfer(contract: string, to: string, value: bigint, sending?: Sending): Promise<string>
  /** Several transfers in one transaction. */
  transferMany(contract: string, payments: readonly (readonly [string, bigint])[]): Promise<string>
  mine(blocks?: number): Promise<void>
  /** Whether each transaction gets a block of its own at once. */
  automine(isOn: boolean): Promise<void>
  /** Moves the time of the blocks that come. */
  passTime(seconds: number): Promise<void>
  height(): Promise<number>
  snapshot(): Promise<string>
  /** Everything since the snapshot has not happened; a snapshot serves once. */
  revert(snapshot: string): Promise<void>
  close(): Promise<void>
}

const CHAIN_ID = 31_337
const GAS = 1_000_000
const GAS_PRICE = 20_000_000_000n

const word = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')
const quantity = (value: bigint | number): string => `0x${value.toString(16)}`

const method = (signature: keyof typeof token.methods, ...words: readonly (bigint | string)[]): string =>
  `0x${token.methods[signature]}${words.map(word).join('')}`

/** The constant that `decimals()` answers with, replaced in the compiled code. */
const withDecimals = (decimals: number): string =>
  token.bytecode.replace('610143600681565b', `61014360${decimals.toString(16).padStart(2, '0')}81565b`)

/** Two arrays: where each begins, then the length and the members of each. */
function transferManyData(payments: readonly (readonly [string, bigint])[]): string {
  const count = BigInt(payments.length)
  return method(
    'transferMany(address[],uint256[])',
    64n,
    64n + 32n * (count + 1n),
    count,
    ...payments.map(([to]) => to),
    count,
    ...payments.map(([, value]) => value),
  )
}

/** The node finds itself among the packages of the folder it is started in. */
function writeFolder(packages: string): { readonly folder: string; readonly config: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sr-chain-'))
  symlinkSync(packages, join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const config = join(folder, 'hardhat.config.mjs')
  writeFileSync(config, `export default { networks: { node: { type: 'edr-simulated', chainId: ${CHAIN_ID} } } }`)
  return { folder, config }
}

interface Launched {
  readonly child: ChildProcess
  readonly url: string
  readonly folder: string
}

async function launch(): Promise<Launched> {
  const hardhat = join(dirname(createRequire(import.meta.url).resolve('hardhat')), '../..')
  const { folder, config } = writeFolder(dirname(hardhat))
  const args = ['--config', config, 'node', '--hostname', '127.0.0.1', '--port', '0']
  const child = spawn(process.execPath, [join(hardhat, 'dist/src/cli.js'), ...args], {
    cwd: folder,
    env: { ...ofThisRun(), HOME: folder, HARDHAT_DISABLE_TELEMETRY: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.once('exit', () => reject(new Error(`the chain node ended: ${text}`)))
    // It goes on talking, and somebody has to listen.
    child.stdout?.on('data', (chunk: Buffer) => {
      if (text.length < 10_000) text += chunk.toString()
      const [, address] = /Started HTTP.* at (http:\S+?)\/?\s/.exec(text) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  return { child, url, folder }
}

const makeRpc =
  (url: string) =>
  async <T>(name: string, params: readonly unknown[] = []): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params })
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } }
    if (error) throw new Error(`${name}: ${error.message}`)
    return result
  }

export async function startChainNode(): Promise<ChainProcess> {
  const { child, url, folder } = await launch()
  const rpc = makeRpc(url)
  const accounts = await rpc<readonly string[]>('eth_accounts')
  const [first = ''] = accounts
  const send = (data: string, to: string | undefined, { from = first, nonce, gasPrice = GAS_PRICE }: Sending = {}) =>
    rpc<string>('eth_sendTransaction', [
      {
        ...{ from, data, gas: quantity(GAS), gasPrice: quantity(gasPrice) },
        ...(to !== undefined && { to }),
        ...(nonce !== undefined && { nonce: quantity(nonce) }),
      },
    ])
  return {
    ...{ url, chainId: CHAIN_ID, accounts, rpc },
    deploy: async (decimals = 6) => {
      const hash = await send(decimals === 6 ? token.bytecode : withDecimals(decimals), undefined)
      const { contractAddress } = await rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
      return contractAddress.toLowerCase()
    },
    mint: (contract, to, value) => send(method('mint(address,uint256)', to, value), contract),
    transfer: (contract, to, value, sending) => send(method('transfer(address,uint256)', to, value), contract, sending),
    transferMany: (contract, payments) => send(transferManyData(payments), contract),
    mine: async (blocks = 1) => {
      await rpc('hardhat_mine', [quantity(blocks)])
    },
    automine: async (isOn) => {
      await rpc('evm_setAutomine', [isOn])
    },
    passTime: async (seconds) => {
      await rpc('evm_increaseTime', [quantity(seconds)])
    },
    height: async () => Number(await rpc<string>('eth_blockNumber')),
    snapshot: () => rpc<string>('evm_snapshot'),
    revert: async (snapshot) => {
      await rpc('evm_revert', [snapshot])
    },
    close: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
