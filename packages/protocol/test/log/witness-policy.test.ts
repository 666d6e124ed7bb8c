import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Cosignature } from '../../src/log/checkpoint.ts'
import { makeVerifierKey, NOTE_COSIGNATURE, NOTE_SIGNATURE } from '../../src/log/note.ts'
import { evaluateQuorum, NO_WITNESSES, parseWitnessPolicy } from '../../src/log/witness-policy.ts'
import { refusal } from './refusal.ts'

// Sections 5.4 and 5.5. Seen red: a group threshold one too low, the oldest instead of the k-th newest time, far-future
// times taken as fresh, one key under two names, each `ensure` switched off alone.

const publicKey = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const witnessKey = (n: number) => makeVerifierKey(`w${n}.example`, NOTE_COSIGNATURE, publicKey(n))
const logVkey = makeVerifierKey('log.example', NOTE_SIGNATURE, publicKey(99)).vkey
const witnessLine = (n: number): string => `witness w${n} ${witnessKey(n).vkey}\n`
const WITNESSES = [1, 2, 3, 4, 5].map(witnessLine).join('')
const TWO_OF_THREE = `${WITNESSES}group g 2 w1 w2 w3\nquorum g\n`
const NESTED = `${WITNESSES}group x 2 w1 w2 w3\ngroup y any w4 w5\ngroup both all x y\nquorum both\n`

const NOW = 1_767_225_600_000
const MINUTE = 60_000
const by = (n: number, ageMs: number): Cosignature => ({ key: witnessKey(n), timestamp: (NOW - ageMs) / 1000 })
const judge = (policy: string, cosignatures: Cosignature[], maxStaleMs = 60 * MINUTE) =>
  evaluateQuorum(parseWitnessPolicy(policy), cosignatures, { now: NOW, maxStaleMs })

describe('the text of a witness policy', () => {
  it('is read with logs, witnesses, groups, comments and loose white space', () => {
    const text = `# ours\n\n \tlog\t${logVkey}  https://log.example/ \n${witnessLine(1).replace('\n', ' https://w1.example/\n')}${witnessLine(2)}  # two\ngroup g all w1 w2\nquorum g\n`
    const policy = parseWitnessPolicy(text)
    expect(policy.logs).toMatchObject([{ key: { name: 'log.example' }, url: 'https://log.example/' }])
    expect(policy.witnesses).toMatchObject([
      { name: 'w1', key: { name: 'w1.example' }, url: 'https://w1.example/' },
      { name: 'w2', key: { name: 'w2.example' }, url: null },
    ])
    expect(policy.quorum).toMatchObject({ kind: 'group', threshold: 2 })
  })

  it('is refused where C2SP does not allow it', async () => {
    const sameKey = makeVerifierKey('other', NOTE_COSIGNATURE, publicKey(1)).vkey
    const bad: Record<string, string> = {
      empty: '',
      'no quorum': WITNESSES,
      'no final newline': 'quorum none',
      'two quorums': 'quorum none\nquorum none\n',
      'two quorums with names': `${WITNESSES}quorum w1\nquorum w1\n`,
      'quorum without name': 'quorum\n',
      'quorum with two names': `${WITNESSES}quorum w1 w2\n`,
      'unknown quorum': 'quorum w1\n',
      'quorum before its definition': `quorum w1\n${witnessLine(1)}`,
      'unknown line': 'policy x\nquorum none\n',
      'a line named like a method': 'constructor x\nquorum none\n',
      'carriage return': 'quorum none\r\n',
      'null character': 'quorum none\u0000\n',
      'lone surrogate': '# \ud800\nquorum none\n',
      'group without members': 'group g all\nquorum none\n',
      'group without threshold': 'group g\nquorum none\n',
      'group of unknown': `group g all w1\nquorum none\n`,
      'group of itself': `${WITNESSES}group g any g\nquorum none\n`,
      'threshold 0': `${WITNESSES}group g 0 w1\nquorum g\n`,
      'threshold over count': `${WITNESSES}group g 3 w1 w2\nquorum g\n`,
      'threshold with zero': `${WITNESSES}group g 01 w1\nquorum g\n`,
      'threshold in words': `${WITNESSES}group g most w1\nquorum g\n`,
      'member twice in a group': `${WITNESSES}group g 2 w1 w1\nquorum g\n`,
      'member twice in the policy': `${WITNESSES}group g any w1\ngroup h any w1\nquorum g\n`,
      'none as member': `${WITNESSES}group g any none\nquorum g\n`,
      'none as name': `witness none ${witnessKey(1).vkey}\nquorum none\n`,
      'name twice': `${witnessLine(1)}witness w1 ${witnessKey(2).vkey}\nquorum none\n`,
      'group named as a witness': `${WITNESSES}group w1 any w2\nquorum none\n`,
      'key twice': `${witnessLine(1)}witness again ${sameKey}\nquorum none\n`,
      'log key twice': `log ${logVkey}\nlog ${logVkey}\nquorum none\n`,
      'witness without key': 'witness w\nquorum none\n',
      'witness with too many words': `witness w ${witnessKey(1).vkey} url more\nquorum none\n`,
      'witness with a log key': `witness w ${logVkey}\nquorum none\n`,
      'log with a witness key': `log ${witnessKey(1).vkey}\nquorum none\n`,
      'log without key': 'log\nquorum none\n',
      'broken key': `log ${logVkey}x\nquorum none\n`,
    }
    for (const [why, text] of Object.entries(bad))
      expect(await refusal(() => parseWitnessPolicy(text)), why).toBe('malformed')
  })

  it('is limited in length and in the number of definitions', async () => {
    expect(await refusal(() => parseWitnessPolicy(`#${'x'.repeat(65_536)}\nquorum none\n`))).toBe('limit_exceeded')
    const many = (count: number): string =>
      Array.from(
        { length: count },
        (_, n) => `log ${makeVerifierKey(`l${n}`, NOTE_SIGNATURE, publicKey(n)).vkey}\n`,
      ).join('')
    expect(await refusal(() => parseWitnessPolicy(`${many(64)}quorum none\n`))).toBe('accepted')
    expect(await refusal(() => parseWitnessPolicy(`${many(65)}quorum none\n`))).toBe('limit_exceeded')
    const crowd = Array.from(
      { length: 129 },
      (_, n) => `witness n${n} ${makeVerifierKey(`n${n}`, NOTE_COSIGNATURE, publicKey(n)).vkey}\n`,
    )
    expect(await refusal(() => parseWitnessPolicy(`${crowd.slice(1).join('')}quorum none\n`))).toBe('accepted')
    expect(await refusal(() => parseWitnessPolicy(`${crowd.join('')}quorum none\n`))).toBe('limit_exceeded')
  })
})

describe('a quorum of witnesses', () => {
  it('gives the newest time for which enough have cosigned', () => {
    expect(judge(TWO_OF_THREE, [by(1, 0), by(2, 5 * MINUTE), by(3, 9 * MINUTE)])).toEqual({
      witnessed: true,
      newestMs: NOW - 5 * MINUTE,
    })
    expect(judge(`${WITNESSES}group g any w1 w2\nquorum g\n`, [by(1, MINUTE), by(2, 0)])).toEqual({
      witnessed: true,
      newestMs: NOW,
    })
    expect(judge(`${WITNESSES}group g all w1 w2\nquorum g\n`, [by(1, MINUTE), by(2, 0)])).toEqual({
      witnessed: true,
      newestMs: NOW - MINUTE,
    })
    expect(judge(`${WITNESSES}quorum w4\n`, [by(4, MINUTE)])).toEqual({ witnessed: true, newestMs: NOW - MINUTE })
    expect(judge(NESTED, [by(1, MINUTE), by(3, 2 * MINUTE), by(5, 3 * MINUTE)])).toEqual({
      witnessed: true,
      newestMs: NOW - 3 * MINUTE,
    })
  })

  it('is refused if too few have cosigned, whoever else did and however often', async () => {
    expect(await refusal(() => judge(TWO_OF_THREE, []))).toBe('witness_quorum')
    expect(await refusal(() => judge(TWO_OF_THREE, [by(1, 0), by(1, 0), by(4, 0), by(5, 0)]))).toBe('witness_quorum')
    expect(await refusal(() => judge(NESTED, [by(1, 0), by(2, 0), by(3, 0)]))).toBe('witness_quorum')
    expect(await refusal(() => judge(NESTED, [by(1, 0), by(4, 0), by(5, 0)]))).toBe('witness_quorum')
    const renamed = { key: makeVerifierKey('elsewhere', NOTE_COSIGNATURE, publicKey(1)), timestamp: NOW / 1000 }
    expect(await refusal(() => judge(`${WITNESSES}quorum w1\n`, [renamed]))).toBe('witness_quorum')
  })

  it('is stale if it holds only with cosignatures older than allowed', async () => {
    expect(await refusal(() => judge(TWO_OF_THREE, [by(1, 0), by(2, 60 * MINUTE)]))).toBe('accepted')
    expect(await refusal(() => judge(TWO_OF_THREE, [by(1, 0), by(2, 60 * MINUTE + 1000)]))).toBe('stale_view')
    expect(await refusal(() => judge(TWO_OF_THREE, [by(1, 0), by(2, 90 * MINUTE), by(2, MINUTE)]))).toBe('accepted')
  })

  it('is not made fresh by a clock that runs more than ten minutes ahead', async () => {
    expect(judge(`${WITNESSES}quorum w1\n`, [by(1, -10 * MINUTE)])).toEqual({
      witnessed: true,
      newestMs: NOW + 10 * MINUTE,
    })
    expect(await refusal(() => judge(`${WITNESSES}quorum w1\n`, [by(1, -10 * MINUTE - 1000)]))).toBe('stale_view')
    expect(await refusal(() => judge(TWO_OF_THREE, [by(1, 0), by(2, -11 * MINUTE)]))).toBe('stale_view')
    expect(judge(TWO_OF_THREE, [by(1, 0), by(2, MINUTE), by(3, -11 * MINUTE)])).toEqual({
      witnessed: true,
      newestMs: NOW - MINUTE,
    })
  })

  it('that asks for none says so instead of refusing', () => {
    expect(judge(NO_WITNESSES, [])).toEqual({ witnessed: false })
    expect(judge(`${WITNESSES}quorum none\n`, [by(1, 0)])).toEqual({ witnessed: false })
  })

  it('of k out of n holds exactly for the k-th newest time', () => {
    const ages = fc.array(fc.nat(50), { minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(ages, fc.integer({ min: 1, max: 5 }), (ages, threshold) => {
        const policy = `${WITNESSES}group g ${threshold} w1 w2 w3 w4 w5\nquorum g\n`
        const kth = [...ages].sort((a, b) => a - b)[threshold - 1] as number
        const result = judge(
          policy,
          ages.map((age, n) => by(n + 1, age * MINUTE)),
        )
        expect(result).toEqual({ witnessed: true, newestMs: NOW - kth * MINUTE })
      }),
    )
  })
})
