import { money } from '@strongroom/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { outcomes } from '../people.ts'
import { type FundingWorld, startFundingWorld } from './funding-world.ts'

// Payments over a real chain, seen by a scanner that is made anew for each turn.
//
// Seen red: a payment credited before it is confirmed; the credit named after the intent, so that a second payment is none; late
// payments not told, or told of punctual ones; an expiry nobody notices; another token credited; remainders not rounded; an address
// given out before the chain is read; a payment link for all that was asked instead of what is missing; nothing shown as incoming.

let w: FundingWorld
beforeAll(async () => {
  w = await startFundingWorld()
  // Nobody is sent to an address that nobody reads yet.
  expect(await outcomes([w.acme.intent(5_000_000n)])).toEqual(['chain_unavailable'])
  expect(await w.tick()).toBe('read')
})
afterAll(() => w.close())

describe('a payment', () => {
  it('of exactly the amount is seen, confirmed and credited once, however many turns are taken', async () => {
    const { acme, chain, token } = w
    const before = await acme.available()
    const intent = await acme.intent(5_000_000n)
    expect(intent).toMatchObject({ status: 'requires_payment', network: 'eip155:31337', deposits: [] })
    const txHash = await chain.transfer(token, intent.address, 5_000_000n)
    await w.tick()
    expect(await acme.read(intent)).toMatchObject({
      status: 'processing',
      incoming: money(5_000_000n),
      credited: money(0n),
      deposits: [{ txHash, ordinal: 0, state: 'seen', value: '5000000', confirmations: 1, creditedAt: null }],
    })
    expect((await acme.client.billing.balance()).incoming).toEqual(money(5_000_000n))
    await chain.mine()
    await w.tick()
    // Two of three confirmations.
    expect(await acme.available()).toBe(before)
    await chain.mine()
    await w.tick()
    expect(await acme.available()).toBe(before + 5_000_000n)
    for (let turn = 0; turn < 3; turn++) await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: [], credited: money(5_000_000n) })
    expect(await acme.available()).toBe(before + 5_000_000n)
    expect((await acme.client.billing.balance()).incoming).toEqual(money(0n))
    expect(await acme.told(intent)).toEqual([
      'funding_intent.created',
      'deposit.seen',
      'funding_intent.processing',
      'deposit.credited',
      'funding_intent.funded',
      'balance.credited',
    ])
    const { data } = await acme.client.billing.creditTransactions()
    expect(data[0]).toMatchObject({ type: 'funding', amount: money(5_000_000n), ref: { id: intent.intentId } })
    expect(await acme.account('clearing:31337:TUSD')).toBe(-(await acme.available()))
  })

  it('that is too small is credited, and what follows completes it', async () => {
    const { acme, chain, token } = w
    const before = await acme.available()
    const intent = await acme.intent(5_000_000n)
    await chain.transfer(token, intent.address, 3_000_000n)
    await w.settle()
    const partly = await acme.read(intent)
    expect(partly).toMatchObject({ status: 'partially_funded', exceptions: ['underpaid'], credited: money(3_000_000n) })
    expect(partly.paymentUri).toMatch(/&uint256=2000000$/)
    await chain.transfer(token, intent.address, 2_000_000n)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: [], credited: money(5_000_000n) })
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('that is too large is credited as it came', async () => {
    const { acme, chain, token } = w
    const before = await acme.available()
    const intent = await acme.intent(5_000_000n)
    await chain.transfer(token, intent.address, 7_500_001n)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: ['overpaid'] })
    expect(await acme.available()).toBe(before + 7_500_001n)
  })

  it('that comes after the intent expired, or was cancelled, is credited and told to be late', async () => {
    const { acme, chain, token } = w
    const before = await acme.available()
    const [intent, cancelled] = [await acme.intent(5_000_000n), await acme.intent(2_000_000n)]
    const ended = await acme.client.funding.cancelIntent({ params: { id: cancelled.intentId } })
    expect(ended.status).toBe('cancelled')
    await w.passTime(2 * 86_400)
    await chain.mine()
    await w.tick()
    expect(await acme.told(intent)).toEqual(['funding_intent.created', 'funding_intent.expired'])
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.transfer(token, cancelled.address, 2_000_000n)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: ['paid_late'] })
    expect(await acme.read(cancelled)).toMatchObject({ status: 'funded', exceptions: ['paid_late'] })
    expect(await acme.told(intent)).toContain('funding_intent.paid_late')
    expect(await acme.available()).toBe(before + 7_000_000n)
  })

  it('of several in one transaction is told apart, also between organisations', async () => {
    const { acme, other, chain, token } = w
    const [before, theirs] = [await acme.available(), await other.available()]
    const [mine, foreign] = [await acme.intent(3_000_000n), await other.intent(4_000_000n)]
    const txHash = await chain.transferMany(token, [
      [mine.address, 1_000_000n],
      [foreign.address, 4_000_000n],
      [mine.address, 1_000_000n],
      [mine.address, 1_000_000n],
    ])
    await w.settle()
    const { deposits, status } = await acme.read(mine)
    expect([status, ...deposits.map((deposit) => `${deposit.txHash === txHash} ${deposit.ordinal}`)]).toEqual([
      'funded',
      'true 0',
      'true 2',
      'true 3',
    ])
    expect(await acme.available()).toBe(before + 3_000_000n)
    expect(await other.available()).toBe(theirs + 4_000_000n)
    expect(await other.read(foreign)).toMatchObject({ status: 'funded', deposits: [{ ordinal: 1 }] })
  })

  it('of nothing, of more than there is, of a transaction that failed, or of a token nobody named, is not seen', async () => {
    const { acme, chain, token } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    const worthless = await chain.deploy()
    await chain.mint(worthless, intent.address, 5_000_000n)
    await chain.transfer(token, intent.address, 0n)
    await chain.transfer(token, intent.address, 10n ** 24n)
    const poor = chain.accounts[7] ?? ''
    await chain.transfer(token, intent.address, 5_000_000n, { from: poor }).catch(() => undefined)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'requires_payment', deposits: [] })
    expect(await acme.available()).toBe(before)
  })

  it('in another token that is taken here is kept for people to look at, and not credited', async () => {
    const { acme, chain, otherToken } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(otherToken, intent.address, 5_000_000n)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({
      status: 'in_review',
      exceptions: ['wrong_asset'],
      deposits: [{ state: 'held' }],
    })
    expect(await acme.available()).toBe(before)
  })

  it('with more decimals than money has is credited in whole micro-units, and the rest is rounded where it can be seen', async () => {
    const { other, chain, fineToken } = w
    const [before, rounding] = [await other.available(), await other.account('rounding')]
    const intent = await other.intent(2_000_000n, 'FINE')
    expect(intent.paymentUri).toMatch(/&uint256=2000000000000000000$/)
    // Less than a micro-unit is nothing.
    await chain.transfer(fineToken, intent.address, 999_999_999_999n)
    await chain.transfer(fineToken, intent.address, 1_000_000_600_000_000_000n)
    await chain.transfer(fineToken, intent.address, 1_000_000_600_000_000_000n)
    await w.settle()
    expect(await other.read(intent)).toMatchObject({ status: 'funded', exceptions: [] })
    expect(await other.available()).toBe(before + 2_000_000n)
    expect(await other.account('rounding')).toBe(rounding + 1n)
  })
})
