import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { memoryTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { fileTrust } from '../../src/engine/trust-file.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// A trust store that fails. Catches: a change that is in and is told as failed, so that it is made again; a failure that names neither the file
// nor what helps; a damaged store told as a mistake of the caller.
// Seen red: `client_error` without a hint for whatever the system refused and for a lock; `validation_failed` for a damaged file.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })

/** A vault, and a store that knows it and everything else there is. */
async function knownVault(trustStore: TrustKeeper): Promise<string> {
  const vault = unique('vault')
  const { client } = world.device({ trustStore })
  await client.vaults.create({ name: vault })
  await client.secrets.set(`sr://${vault}/db/PASSWORD`, 'first')
  await world.device({ trustStore }).client.secrets.get(`sr://${vault}/db/PASSWORD`)
  return vault
}

/** A file that can be read and not written: the name of a draft beside it would be too long for any disk. */
async function unwritable(): Promise<{ vault: string; path: string; trustStore: TrustKeeper }> {
  const directory = world.directory()
  const [good, path] = [join(directory, 'trust.json'), join(directory, `${'t'.repeat(230)}.json`)]
  const vault = await knownVault(fileTrust(good))
  copyFileSync(good, path)
  return { vault, path, trustStore: fileTrust(path) }
}

it('says of a change that is in that it was made, with the file and what helps', async () => {
  const { vault, path, trustStore } = await unwritable()
  const ref = `sr://${vault}/db/PASSWORD`
  const error = await errorOf(world.device({ trustStore }).client.secrets.set(ref, 'second'))
  expect(error).toMatchObject({ name: 'TrustStoreError', code: 'trust_store_failed', path, isMade: true })
  expect(error.message).toBe(`the change was made, but the trust store ${path} could not be written (ENAMETOOLONG)`)
  expect(error.hint).toMatch(/^Free space/)
  expect((await world.alice.secrets.get(ref)).reveal()).toBe('second')
})

it('says so of a keeper of the caller whose update fails, and names what the system said', async () => {
  const inner = memoryTrust()
  const vault = await knownVault(inner)
  const trustStore: TrustKeeper = { read: inner.read, update: () => Promise.reject(full) }
  const { client } = world.device({ trustStore })
  const ref = `sr://${vault}/db/PASSWORD`
  expect(await errorOf(client.secrets.set(ref, 'second'))).toMatchObject({
    code: 'trust_store_failed',
    message: 'the change was made, but the trust store could not be written (ENOSPC)',
    isMade: true,
    hint: expect.stringMatching(/^Free space/),
  })
  expect((await world.alice.secrets.get(ref)).reveal()).toBe('second')
})

it('does not say so of a read, nor of a change that was not sent', async () => {
  const inner = memoryTrust()
  await knownVault(inner)
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const trustStore: TrustKeeper = { read: inner.read, update: () => Promise.reject(full) }
  const { client } = world.device({ trustStore })
  const calls = [() => client.secrets.env({ vault }), () => client.secrets.set(`sr://${vault}/db/A`, 'a')]
  for (const call of calls)
    expect(await errorOf(call())).toMatchObject({
      code: 'trust_store_failed',
      message: 'the trust store could not be written (ENOSPC)',
      isMade: false,
    })
  expect(await world.alice.items.list(vault)).toEqual([])
})

it('names a file that cannot be read or made, and what to look at', async () => {
  const directory = world.directory()
  const file = join(directory, 'file')
  writeFileSync(file, 'no directory')
  for (const [path, reason] of [
    [directory, 'EISDIR'],
    [join(file, 'trust.json'), 'ENOTDIR'],
  ] as const) {
    const { client } = world.device({ trustStore: fileTrust(path) })
    const error = await errorOf(client.vaults.get('any'))
    expect(error).toMatchObject({ code: 'trust_store_failed', path, isMade: false, retryable: false })
    expect(error.message).toBe(`the trust store ${path} could not be read (${reason})`)
    expect(error.hint).toMatch(/^Check the path/)
  }
})

it('takes a damaged file for no mistake of the caller, and says how to get out of it', async () => {
  const path = join(world.directory(), 'trust.json')
  const vault = await knownVault(fileTrust(path))
  const whole = readFileSync(path, 'utf8')
  for (const text of ['', whole.slice(0, whole.length / 2)]) {
    writeFileSync(path, text)
    const error = await errorOf(world.device({ trustStore: fileTrust(path) }).client.secrets.env({ vault }))
    expect(error).toMatchObject({ name: 'TrustStoreError', code: 'trust_store_failed', path })
    expect(error.message).toBe(`the trust store ${path} is damaged: the trust store is not JSON`)
    expect(error.hint).toMatch(/^Restore it from a backup\. Or remove it deliberately/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  }
})

it('may be tried again where another process holds the lock', async () => {
  const path = join(world.directory(), 'trust.json')
  writeFileSync(`${path}.lock.1`, JSON.stringify({ pid: process.pid, host: `not-${hostname()}`, began: '' }))
  const start = Date.now()
  let asked = 0
  // Each look at the clock is some seconds later, so that nobody waits for them.
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
    asked += 1
    return start + asked * 8_000
  })
  const error = await errorOf(fileTrust(path).update((store) => ({ ...store }))).finally(() => clock.mockRestore())
  expect(error).toMatchObject({ code: 'trust_store_failed', path, retryable: true })
  expect(error.message).toBe(`the trust store ${path} is locked by another process`)
})
