import { Script } from 'node:vm'
import { expect, it } from 'vitest'
import { hurried } from '../../src/run/hurried.ts'

// Catches: flags of V8 that stay other ones after a start has hurried, so that nothing compiled is taken any more and a command that goes on for
// long stays slow. Seen red: `allow(true)` left out; only after what went well.

let asked = 0
/** Ever another one of the same length: what this process has compiled it does not compile again, and V8 knows a source by its length. */
const nextSource = (): string => `(function (a) { return a + ${asked++} })`
/** Whether V8 takes what was compiled before: it does not under other flags. */
const takes = (compiled: Buffer): boolean =>
  new Script(nextSource(), { cachedData: compiled }).cachedDataRejected === false

it('leaves V8 as it was, whatever became of the work', async () => {
  const compiled = new Script(nextSource()).createCachedData()
  const isHere = process.versions.node.startsWith('24.')
  expect(takes(compiled)).toBe(true)
  expect(await hurried(async () => takes(compiled))).toBe(!isHere)
  expect(takes(compiled)).toBe(true)
  await expect(hurried(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(takes(compiled)).toBe(true)
})
