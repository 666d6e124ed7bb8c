import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EVENT_TYPES } from '@strongroom/contract'
import { expect, it } from 'vitest'

// Every type of event that can be listened for is told somewhere in the server. Catches: a type in the catalogue that nobody ever tells.
// Seen red: a type more in the catalogue.

/** Written as `budget.${action}` and `webhook_endpoint.${change}`, where types say which they can be. */
const COMPOSED = [
  ...['budget.created', 'budget.updated'],
  ...['disabled', 'enabled', 'secret_rotated'].map((change) => `webhook_endpoint.${change}`),
]

it('tells of everything that can be listened for', () => {
  const server = fileURLToPath(new URL('../..', import.meta.url))
  const files = globSync(['src/**/*.ts', 'migrations/*.sql'], { cwd: server }).filter(
    (file) => !file.includes('.test.'),
  )
  const text = files.map((file) => readFileSync(`${server}/${file}`, 'utf8')).join('\n')
  const told = (type: string): boolean => text.includes(`'${type}'`) || COMPOSED.includes(type)
  expect(Object.keys(EVENT_TYPES).filter((type) => !told(type))).toEqual([])
})
