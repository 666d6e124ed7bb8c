import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { fileCache } from '../../src/engine/trust-file.ts'
import { Strongroom } from '../../src/strongroom/node.ts'
import { type Bot, errorOf, startWorld, unique, type World } from './world.ts'

// Catches: what keys remember written in the open, or not at all, or again though nothing is new; a read that fails with the cache or
// with what somebody else wrote there; an agent that reads on from what its keys remember.

let world: World
let bot: Bot
let vault: string
beforeAll(async () => {
  world = await startWorld()
  vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, 'value')
  bot = await world.agent('hybrid', { vaults: [{ vault, role: 'read' }] })
})
afterAll(() => world.close())

/** One process after the other on one machine. */
function machine(directory: string) {
  const trustStore = memoryTrust()
  const files = (): readonly string[] => readdirSync(directory).filter((name) => name.startsWith('key-memory'))
  return {
    files,
    read: async () => {
      const client = new Strongroom({ bundle: bot.bundle.reveal(), trustStore, cache: fileCache(directory) })
      return (await client.secrets.env({ vault })).toObject()
    },
    path: () => join(directory, String(files()[0])),
  }
}

it('is one file for the keys, sealed, and written when they have opened something new', async () => {
  const { files, read, path } = machine(world.directory())
  expect(await read()).toEqual({ KEY: 'value' })
  expect(files()).toHaveLength(1)
  const written = readFileSync(path())
  expect(await read()).toEqual({ KEY: 'value' })
  expect(readFileSync(path())).toEqual(written)
  await world.alice.vaults.rotateKey(vault)
  expect(await read()).toEqual({ KEY: 'value' })
  expect(readFileSync(path())).not.toEqual(written)
  const shown = ['"v"', 'bundle', 'opened', bot.principal, bot.agent.agentId, 'KEY', 'value']
  for (const text of shown) expect(readFileSync(path(), 'latin1')).not.toContain(text)
})

it('is begun anew where somebody else wrote it, and the read goes on', async () => {
  const { read, path } = machine(world.directory())
  await read()
  for (const bytes of [Buffer.alloc(0), Buffer.from('{}'), Buffer.alloc(3000, 7)]) {
    writeFileSync(path(), bytes)
    expect(await read()).toEqual({ KEY: 'value' })
    expect(readFileSync(path())).not.toEqual(bytes)
  }
})

it('goes on with a cache that fails', async () => {
  const failing = async (): Promise<never> => {
    throw new Error('no disk')
  }
  const cache = { get: failing, set: failing, delete: failing }
  const client = new Strongroom({ bundle: bot.bundle.reveal(), trustStore: memoryTrust(), cache })
  expect((await client.secrets.env({ vault })).toObject()).toEqual({ KEY: 'value' })
})

it('does not outlive the access of an agent', async () => {
  const { read } = machine(world.directory())
  await read()
  await world.alice.permissions.revoke({ vault }, bot.principal)
  expect((await errorOf(read())).code).toBe('vault_not_found')
})
