import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { makeAllVectors } from '../scripts/vectors/all.ts'

// The committed vectors are what the generator gives, byte for byte: nobody edits them by hand, and a change of the protocol
// that changes a byte is seen as a change of these files.
// Seen red: one byte of a committed file changed; a file that no maker writes; a file that README.md does not describe; a
// salt drawn from the system instead of the fixed generator; the label of the item key changed in src/ (4 files differ).

const folder = resolve(import.meta.dirname, '../vectors')
const committed = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'keys.json')

describe('the committed vectors', () => {
  it('equal a fresh generation, byte for byte, and the platform is as it was afterwards', async () => {
    const before = { ...platform }
    const fresh = await makeAllVectors()
    expect({ ...platform }).toEqual(before)
    expect([...fresh.keys()].sort()).toEqual([...committed].sort())
    const differing = [...fresh].filter(([name, text]) => readFileSync(resolve(folder, name), 'utf8') !== text)
    expect(differing.map(([name]) => `${name}: run npm run vectors and read what changed`)).toEqual([])
  }, 120_000)

  it('are all described in README.md, and are less than 3 MB', () => {
    const readme = readFileSync(resolve(folder, 'README.md'), 'utf8')
    const missing = committed.filter((name) => !readme.includes(`\`${name.replace('.json', '')}\``))
    expect(missing).toEqual([])
    const bytes = committed.reduce((sum, name) => sum + readFileSync(resolve(folder, name)).length, 0)
    expect(bytes).toBeLessThan(3_000_000)
  })
})
