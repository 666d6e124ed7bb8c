import decodeQR from 'qr/decode.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CONFIRMATIONS, scan, startTokens } from '../../server/test/chain/funding-world.ts'
import { qrText, qrWidth } from '../src/output/qr.ts'
import { startCommand } from './running.ts'
import { commandAt, jsonOf } from './shapes.ts'
import { openTerminal } from './terminal.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Paying in at the command line, on a real chain. Catches: an address or a link of another intent, an amount read wrong, a command that
// ends before the money is there or waits when it was told not to, a code that no camera reads.
// Seen red: a picture with black and white exchanged, one row left out, an end at the first confirmation, --no-wait that waits.

let tokens: Awaited<ReturnType<typeof startTokens>>
let world: World
let machine: Machine
beforeAll(async () => {
  tokens = await startTokens()
  world = await startWorld({ chain: tokens.config })
  machine = await world.founderMachine()
  await look()
})
afterAll(async () => {
  await world.close()
  await tokens.chain.close()
})

const look = (): Promise<string> => scan(world.h, tokens.config)
const pay = (address: string, micros: bigint): Promise<string> => tokens.chain.transfer(tokens.token, address, micros)
const settle = async (): Promise<void> => {
  await tokens.chain.mine(CONFIRMATIONS)
  await look()
}

interface Intent {
  readonly intentId: string
  readonly address: string
  readonly status: string
  readonly paymentUri: string
}

const ask = (...args: string[]): Promise<Intent> =>
  jsonOf<Intent>(machine, ['billing', 'fund', ...args, '--asset', 'TUSD', '--no-wait'])

const refused = async (args: readonly string[], code: string, exitCode: number) => {
  const ended = await machine.call(['billing', ...args, '--json'])
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
}

it('asks for an address and ends, and shows what came', async () => {
  const intent = await ask('25.5')
  expect(intent).toMatchObject({ status: 'requires_payment', target: { amount: '25500000' } })
  expect(intent.paymentUri).toMatch(
    new RegExp(`^ethereum:0x.*@31337/transfer\\?address=${intent.address}&uint256=25500000$`),
  )
  const shown = await machine.call(['billing', 'intent', intent.intentId])
  expect(shown.stdout).toContain(intent.address)
  expect(shown.stdout).toContain('waiting for the payment')
  await pay(intent.address, 10_000_000n)
  await look()
  expect((await machine.call(['billing', 'intent', intent.intentId])).stdout).toMatch(
    /seen 10\.00 USD: 1 of 3 confirmations[\s\S]*10\.00 USD +seen +1 +0x/,
  )
  await settle()
  const [newest] = await jsonOf<Intent[]>(machine, ['billing', 'intents'])
  expect(newest).toMatchObject({ intentId: intent.intentId, status: 'partially_funded' })
  expect((await machine.call(['billing', 'intents'])).stdout).toMatch(/partially_funded +10\.00 USD +25\.50 USD/)
})

it('waits until the money is there, and says how it goes', async () => {
  const running = startCommand(machine, ['billing', 'fund', '5', '--asset', 'TUSD'])
  const address = (await running.line(/^to /)).split(/ +/)[1] ?? ''
  await running.line(/^waiting for the payment/)
  await pay(address, 5_000_000n)
  await look()
  await running.line(/^seen 5\.00 USD: 1 of 3 confirmations/)
  await settle()
  expect(await running.ended).toBe(0)
  expect(running.stdout).toEqual(['✓ credited 5.00 USD'])
  expect(running.stderr.join('\n')).toMatch(/^link +ethereum:/m)
})

it('prints a line of JSON for each change while it waits', async () => {
  const { intentId, address } = await ask('5')
  const running = startCommand(machine, ['billing', 'intent', intentId, '--wait', '--json'])
  await running.line(/"requires_payment"/)
  await pay(address, 5_000_000n)
  await settle()
  expect(await running.ended).toBe(0)
  const { Value } = await import('typebox/value')
  const shape = await (await commandAt(['billing', 'intent'])).output?.()
  const lines = running.stdout.map((line) => JSON.parse(line) as { type: string; status: string })
  for (const { type: _, ...intent } of lines) expect([...Value.Errors(shape ?? {}, intent)]).toEqual([])
  expect(lines.at(-1)).toMatchObject({ type: 'intent', status: 'funded' })
})

it('refuses what makes no sense, says why it is not paid, and that the time is over', async () => {
  await refused(['fund', 'much'], 'usage', 2)
  await refused(['fund', '5', '--expires', '1m'], 'usage', 2)
  await refused(['fund', '5', '--asset', 'DOGE'], 'funding_asset_unsupported', 6)
  await refused(['fund', '0.5', '--asset', 'TUSD'], 'funding_amount_out_of_range', 6)
  await refused(['intent', 'fin_nowhere'], 'funding_intent_not_found', 5)
  const { intentId } = await ask('5')
  const early = await machine.call(['billing', 'intent', intentId, '--wait', '--timeout', '1s', '--json'])
  expect(early.error()).toMatchObject({ code: 'timeout', exitCode: 124 })
  await world.founder.client.funding.cancelIntent({ params: { id: intentId } })
  const ended = await machine.call(['billing', 'intent', intentId, '--wait', '--json'])
  expect(ended.error()).toMatchObject({ code: 'funding_cancelled', exitCode: 8 })
})

it('stops waiting when asked twice, and credits what comes all the same', async () => {
  const { intentId, address } = await ask('5')
  await refused(['cancel', intentId], 'confirmation_required', 2)
  expect(await jsonOf<Intent>(machine, ['billing', 'cancel', intentId, '--yes'])).toMatchObject({ status: 'cancelled' })
  await refused(['cancel', 'fin_nowhere', '--yes'], 'funding_intent_not_found', 5)
  await pay(address, 5_000_000n)
  await look()
  await settle()
  await refused(['cancel', intentId, '--yes'], 'funding_intent_not_cancellable', 6)
  expect(await jsonOf(machine, ['billing', 'intent', intentId])).toMatchObject({ credited: { amount: '5000000' } })
})

const SCALE = 4
const MARGIN = 4

/** What a camera sees of it: black and white dots, with paper around them. */
function photograph(code: string): { width: number; height: number; data: Uint8Array } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what sets colours begins with one
  const lines = code.split('\n').map((line) => [...line.replace(/\u001b\[[0-9;]*m/g, '')])
  const rows = lines.flatMap((line) => [
    line.map((block) => block === '▀' || block === '█'),
    line.map((block) => block === '▄' || block === '█'),
  ])
  const size = { width: ((rows[0]?.length ?? 0) + 2 * MARGIN) * SCALE, height: (rows.length + 2 * MARGIN) * SCALE }
  const data = new Uint8Array(size.width * size.height * 4).fill(255)
  for (let y = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++)
      if (rows[Math.floor(y / SCALE) - MARGIN]?.[Math.floor(x / SCALE) - MARGIN])
        data.fill(0, (y * size.width + x) * 4, (y * size.width + x) * 4 + 3)
  return { ...size, data }
}

it('draws the link as a code that a camera reads, at a terminal and nowhere else', async () => {
  const { paymentUri } = await ask('5')
  const code = await qrText(paymentUri)
  expect(decodeQR(photograph(code))).toBe(paymentUri)
  // Black on white, with a margin that is white: a decoder here forgives what many cameras do not.
  const [margin = ''] = code.split('\n')
  expect([margin.slice(0, 9), margin.slice(9, -4).trim()]).toEqual(['\u001b[30;107m', ''])
  expect(qrWidth(code)).toBeLessThan(80)
  expect((await machine.call(['billing', 'fund', '5', '--asset', 'TUSD', '--no-wait'])).stderr).not.toContain('█')
  const { NO_COLOR: _, ...own } = machine.env
  const terminal = openTerminal(['billing', 'fund', '5', '--asset', 'TUSD'], {
    env: { ...own, TERM: 'xterm-256color' },
    cwd: machine.home,
  })
  await terminal.sees('█')
  await terminal.sees('waiting for the payment')
  terminal.interrupts()
  expect((await terminal.ended).code).toBe(130)
  expect(terminal.screen()).toContain('a payment is credited all the same')
})
