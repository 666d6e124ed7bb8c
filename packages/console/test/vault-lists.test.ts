import { execFileSync } from 'node:child_process'
import { shellLine } from '@strongroom/contract'
import type { AuditEvent, ItemSummary } from '@strongroom/sdk'
import { expect, it } from 'vitest'
import { edgesOf, edgeWords } from '../src/pages/vaults/access-edges.ts'
import { isMismatch } from '../src/pages/vaults/access-rows.ts'
import { diffOf } from '../src/pages/vaults/env-diff.ts'
import { matrixOf, missingIn } from '../src/pages/vaults/environment-matrix.ts'
import { readsIn } from '../src/pages/vaults/reads.ts'
import { sortedNames } from '../src/ui/name-order.ts'

// What the pages of vaults reckon out of lists. Seen red: another vault that counts, reads of other vaults that count, a key without a role
// that is left out, a role without a key that counts as both, capitals before small letters and 10 before 2, a name that a shell takes for
// several words or for commands.

it('compares variable by variable, and sets vaults beside each other', () => {
  const item = (name: string, ...labels: string[]): ItemSummary => ({
    itemId: `id-${name}`,
    name,
    website: '',
    status: 'active',
    version: 1,
    labels,
  })
  const here = [item('a', 'ONE', 'TWICE'), item('b', 'TWICE', 'TWO')]
  const lines = diffOf(
    [
      { name: 'ONE', value: 'same', line: 1 },
      { name: 'TWO', value: 'other', line: 2 },
      { name: 'TWICE', value: 'x', line: 3 },
      { name: 'NEW', value: 'x', line: 4 },
      { name: 'LD_PRELOAD', value: 'x', line: 5 },
      { name: 'ONE', value: '', line: 6 },
    ],
    here,
    (name) => name === 'ONE',
  )
  expect(Object.fromEntries(lines.map(({ name, state }) => [name, state]))).toEqual({
    ONE: 'no value',
    TWO: 'changed',
    TWICE: 'in several items',
    NEW: 'new',
    LD_PRELOAD: 'refused name',
  })
  const rows = matrixOf([
    { vaultId: 'v2', name: 'prod', items: here },
    { vaultId: 'v1', name: 'staging', items: [item('c', 'ONE')] },
    { vaultId: 'v3', name: 'closed', items: undefined },
  ])
  expect(rows.map(({ name }) => name)).toEqual(['ONE', 'TWICE', 'TWO'])
  const [one, twice] = rows
  expect([one?.cells.get('v1')?.counts, one?.cells.get('v2')?.counts]).toEqual([true, false])
  expect(twice).toMatchObject({ isDuplicate: true, isMissing: true })
  expect(one?.cells.get('v3')).toBeUndefined()
  expect([missingIn(rows, 'v1'), missingIn(rows, 'v3')]).toEqual([['TWICE', 'TWO'], []])
})

it('counts as a read of an item what was read of it, or of the environment it is in, here and with success', () => {
  const event = (action: string, at: number, ids: readonly string[], outcome = 'success', who = 'user:a') => ({
    ...{ action, outcome, actor: { type: 'user', id: who }, occurredAt: `2026-01-01T00:00:0${at}Z` },
    targets: ids.map((id) => ({ type: 'any', id })),
  })
  const { byReader, ofItem } = readsIn('v1', [
    event('item.read', 9, ['v1', 'i1'], 'refused'),
    event('item.update', 8, ['v1', 'i1']),
    event('item.read', 7, ['v2', 'i1']),
    event('vault.environment.read', 6, ['v1'], 'success', 'agent:b'),
    event('item.read', 5, ['v1', 'i2']),
    event('item.read', 4, ['v1', 'i1']),
  ] as AuditEvent[])
  expect([...byReader]).toEqual([
    ['agent:b', '2026-01-01T00:00:06Z'],
    ['user:a', '2026-01-01T00:00:05Z'],
  ])
  expect(ofItem('i1', true).map(({ who }) => who)).toEqual(['agent:b', 'user:a'])
  expect(ofItem('i1', false)).toEqual([{ who: 'user:a', at: '2026-01-01T00:00:04Z' }])
})

it('joins roles and keys, people first, and finds one without the other', () => {
  const holder = (principal: string, role: 'READ' | 'ADMIN', ...keyIds: string[]) => ({
    ...{ principal, name: '', role, keyIds, kind: 'agent' as const },
  })
  const edges = edgesOf(
    [
      {
        ...{ vaultId: 'v2', name: 'staging' },
        access: { holders: [holder('agent:b', 'READ'), holder('user:a', 'ADMIN', 'k1')], strangers: [] },
      },
      {
        ...{ vaultId: 'v1', name: 'prod' },
        access: {
          holders: [holder('user:a', 'ADMIN', 'k1')],
          strangers: [{ principal: 'agent:c', keyIds: ['k2'] }],
        },
      },
    ],
    (principal) => `the ${principal}`,
  )
  expect(edges.map((edge) => [edge.name, edge.vault, edgeWords(edge), isMismatch(edge)])).toEqual([
    ['the user:a', 'prod', 'admin, has a key', false],
    ['the user:a', 'staging', 'admin, has a key', false],
    ['the agent:b', 'staging', 'read, no key', true],
    ['the agent:c', 'prod', 'no role, has a key', true],
  ])
})

it('sorts names as people look for them', () => {
  expect(sortedNames(['zebra', 'Ärzte', 'vault 10', 'Beta', 'alpha', 'vault 2', 'Zoo'])).toEqual([
    ...['alpha', 'Ärzte', 'Beta', 'vault 2', 'vault 10', 'zebra', 'Zoo'],
  ])
})

it('gives a shell every name as one word, and none for what is not there', () => {
  const names = ["it's new", '$(id)', 'a"b', '; rm -rf .', '', 'two\nlines', '*', '~', 'plain-1.x']
  const line = shellLine`printf '%s|' ${names} ${[]} --flag ${[]} ${7}`
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe([...names, '--flag', '7', ''].join('|'))
  expect(line).toMatch(/ plain-1\.x --flag 7$/)
})
