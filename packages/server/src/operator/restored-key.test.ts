import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDirectory } from '../../test/operator-seed.ts'
import { type Config, readConfig } from '../config.ts'
import { makeRootKeyFile, openRootKey, readRootKeyFile } from '../secrets/root-key.ts'
import { ensureOpens } from './archive.ts'
import { asOperator } from './operator-deps.ts'
import { carryOut, type Order } from './orders.ts'

// Which root key a restored server has, on data directories with an embedded PostgreSQL. Catches: a key made anew although the operator
// gave one, so that later backups do not open with the copy that was kept; a key mixed with another one; a key left behind by a
// restore that was refused. Seen red: a new key whatever was given; a key that was never held against the archive.

const directory = makeDirectory()
const at = directory.path
const configOf = (name: string, more: NodeJS.ProcessEnv = {}): Config =>
  readConfig({ STRONGROOM_LOG_LEVEL: 'silent', STRONGROOM_DATA: at(name), ...more }, [])
const order = (config: Config, what: Order) =>
  carryOut(config, what, { progress: () => undefined, signal: new AbortController().signal })
const restore = (name: string, key: string, file = 'b1.srb', env: NodeJS.ProcessEnv = {}) =>
  order(configOf(name, env), { act: 'restore', file: at(file), rootKeyFile: at(key) })
const keyOf = (name: string): string => readFileSync(at(name), 'utf8')

beforeAll(async () => {
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(at('.'), 0o711)
  await asOperator(configOf('old'), async () => undefined)
  await order(configOf('old'), { act: 'backup', file: at('b1.srb') })
})
afterAll(directory.remove)

it('keeps the key that was given, so that its copy opens the backups of the restored server', async () => {
  expect(await restore('restored', 'old/root.key')).toMatchObject({ rootKeyFile: at('restored/root.key') })
  expect(keyOf('restored/root.key')).toBe(keyOf('old/root.key'))
  expect(statSync(at('restored/root.key')).mode & 0o777).toBe(0o600)
  await order(configOf('restored'), { act: 'backup', file: at('b2.srb') })
  await ensureOpens(at('b2.srb'), { rootKey: readRootKeyFile(at('old/root.key')) })
})

it('keeps a key of the settings, and writes none', async () => {
  const env = { STRONGROOM_ROOT_KEY: Buffer.alloc(32, 5).toString('base64url') }
  expect(await restore('set', 'old/root.key', 'b1.srb', env)).toMatchObject({ rootKeyFile: null })
  expect(existsSync(at('set/root.key'))).toBe(false)
  await order(configOf('set', env), { act: 'backup', file: at('b3.srb') })
  await ensureOpens(at('b3.srb'), { rootKey: openRootKey(Buffer.alloc(32, 5)) })
})

it('refuses beside another key, which stays', async () => {
  makeRootKeyFile(at('other/root.key'))
  const before = keyOf('other/root.key')
  await expect(restore('other', 'old/root.key')).rejects.toMatchObject({
    code: 'root_key_other',
    nextStep: 'restore into an empty directory, or move that key away',
  })
  expect(readdirSync(at('other'))).toEqual(['root.key'])
  expect(keyOf('other/root.key')).toBe(before)
})

it('makes nothing with a key that does not open the archive', async () => {
  makeRootKeyFile(at('stranger.key'))
  await expect(restore('wrong', 'stranger.key')).rejects.toMatchObject({ code: 'archive_key_wrong' })
  expect(existsSync(at('wrong'))).toBe(false)
})

it('takes the key away again if the archive turns out to be damaged', async () => {
  writeFileSync(at('cut.srb'), readFileSync(at('b1.srb')))
  truncateSync(at('cut.srb'), statSync(at('cut.srb')).size - 1)
  mkdirSync(at('cut'))
  await expect(restore('cut', 'old/root.key', 'cut.srb')).rejects.toMatchObject({ code: 'archive_damaged' })
  expect(readdirSync(at('cut'))).toEqual([])
})

it('rotates no key that is not there, and makes none', async () => {
  mkdirSync(at('keyless'))
  await expect(order(configOf('keyless'), { act: 'rotate-root-key' })).rejects.toMatchObject({
    code: 'root_key_missing',
    message: `there is no root key at ${at('keyless/root.key')}`,
  })
  expect(readdirSync(at('keyless'))).toEqual([])
})
