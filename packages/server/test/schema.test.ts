import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { describeSchema } from '../scripts/write-schema.ts'

// Catches: a migration without `npm run schema` after it. Seen red: a column taken out of schema.ts.

it('has the types of exactly the tables that the migrations make', async () => {
  const written = readFileSync(new URL('../src/db/schema.ts', import.meta.url), 'utf8')
  expect(written).toBe(await describeSchema(inject('postgres').logins.owner))
})
