import { expect, it } from 'vitest'
import { checkStorageUrl } from '../../src/attachments/address.ts'
import { refusal } from './streams.ts'

// Section 7: addresses. Seen red: each of the five checks switched off in turn, origins compared as texts, `//host` taken for a path.

const HTTPS = { server: 'https://vault.example', origins: ['https://store.example:8443/'] }
const LOCAL = { server: 'http://127.0.0.1:8420', origins: ['http://localhost:9000', 'http://store.example'] }
const LAN = { server: 'http://10.0.0.5:8420', origins: ['http://127.0.0.1:9000', 'http://10.0.0.6'] }

it.each([
  ['/objects/1?a=b', HTTPS, 'https://vault.example/objects/1?a=b'],
  ['/objects/1', { server: 'https://vault.example/behind/' }, 'https://vault.example/behind/objects/1'],
  ['https://vault.example/x', HTTPS, 'https://vault.example/x'],
  ['https://store.example:8443/x', HTTPS, 'https://store.example:8443/x'],
  ['http://localhost:9000/x', LOCAL, 'http://localhost:9000/x'],
  ['http://10.0.0.5:8420/x', LAN, 'http://10.0.0.5:8420/x'],
])('takes %s', (candidate, addresses, whole) => {
  expect(checkStorageUrl(candidate, addresses).href).toBe(whole)
})

it.each([
  ['//vault.example/x', HTTPS],
  ['/\\vault.example/x', HTTPS],
  ['objects/1', HTTPS],
  ['', HTTPS],
  ['http://vault.example/x', HTTPS],
  ['https://vault.example.evil/x', HTTPS],
  ['https://store.example/x', HTTPS],
  ['https://user@vault.example/x', HTTPS],
  ['https://:secret@vault.example/x', HTTPS],
  ['https://vault.example/x#y', HTTPS],
  ['file:///etc/passwd', HTTPS],
  ['data:,x', HTTPS],
  ['http://store.example/x', LOCAL],
  ['http://127.0.0.1:9000/x', LAN],
  ['http://10.0.0.6/x', LAN],
])('refuses %s', async (candidate, addresses) => {
  expect(await refusal(() => checkStorageUrl(candidate, addresses))).toBe('asset_url')
})

it('refuses what is no text', async () => {
  for (const candidate of [undefined, null, 7, {}, ['/x']])
    expect(await refusal(() => checkStorageUrl(candidate, HTTPS))).toBe('malformed')
})
