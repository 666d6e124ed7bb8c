import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { StartError } from '../errors.ts'
import { loadCatalogue } from './catalogue.ts'
import { type LicenseProvider, registerProviders } from './provider.ts'

// Catches: a catalogue that is wrong and read all the same, a mistake that is not named. Seen red: two offers of one slug; an offer of
// nobody; two fields of one label; a price in a number of JSON; a provider that cannot be bought from safely.

const folder = mkdtempSync(join(tmpdir(), 'sr-catalogue-'))
afterAll(() => rmSync(folder, { recursive: true }))

const offer = {
  slug: 'mail-pro',
  name: 'Mail Pro',
  description: '',
  provider: 'acme',
  sku: 'MP1',
  price: '12500000',
  term: 'month',
  fields: [{ label: 'MAIL_KEY', isEnvironmentVariable: true }],
}
const secretFile = join(folder, 'secret')
writeFileSync(secretFile, `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`)
const providers = { acme: { url: 'https://licences.acme.example/v1', secretFile } }

function write(content: unknown): string {
  const file = join(folder, 'catalogue.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
function refusal(content: unknown): string {
  try {
    loadCatalogue(write(content))
    return 'accepted'
  } catch (error) {
    if (error instanceof StartError && error.code === 'catalogue_invalid') return error.message.replace(folder, '')
    throw error
  }
}

it('reads what the operator sells, with amounts that lose no digit', () => {
  const {
    offers,
    providers: named,
    isSandbox,
  } = loadCatalogue(write({ providers, licenses: [{ ...offer, tenants: ['ten_a'] }] }))
  expect(offers.get('mail-pro')).toMatchObject({ price: 12_500_000n, tenants: ['ten_a'], isAvailable: true })
  expect([isSandbox, named.get('acme')?.url]).toEqual([false, 'https://licences.acme.example/v1'])
})

it('sells two licences of the sandbox where nothing is configured', () => {
  const { catalogue } = readConfig({}, [])
  expect([catalogue.isSandbox, [...catalogue.offers.keys()]]).toEqual([true, ['sandbox-monthly', 'sandbox-once']])
  const file = write({ providers, licenses: [offer] })
  expect([...readConfig({ STRONGROOM_CATALOGUE: file }, []).catalogue.offers.keys()]).toEqual(['mail-pro'])
})

it.each([
  ['no JSON', '{', 'is not JSON'],
  ['another shape', { licenses: [{ ...offer, colour: 'red' }] }, 'is not a catalogue: /licenses/0'],
  [
    'a price in a number',
    { providers, licenses: [{ ...offer, price: 12.5 }] },
    'is not a catalogue: /licenses/0/price',
  ],
  ['one slug twice', { providers, licenses: [offer, offer] }, 'names mail-pro twice'],
  ['nobody who sells it', { licenses: [offer] }, 'the unknown provider acme'],
  [
    'one label twice',
    { providers, licenses: [{ ...offer, fields: [...offer.fields, ...offer.fields] }] },
    'the same label',
  ],
  [
    'no secret',
    { providers: { acme: { ...providers.acme, secretFile: `${folder}/none` } }, licenses: [] },
    'cannot be read',
  ],
])('refuses %s, and says where', (_, content, words) => {
  expect(refusal(content)).toContain(words)
})

it('takes no provider that can neither recognise an order nor look one up', () => {
  const capabilities = {
    idempotentOrder: false,
    lookupByExternalId: false,
    credentialReplay: 'once',
    cancel: 'none',
    charges: 'computed',
  } as const
  const never = async (): Promise<never> => {
    throw new Error('never asked')
  }
  const provider: LicenseProvider = { id: 'x', capabilities, order: never, getOrder: never, cancel: never }
  expect(() => registerProviders([provider])).toThrow(/neither recognises/)
  expect(registerProviders([{ ...provider, capabilities: { ...capabilities, lookupByExternalId: true } }]).size).toBe(1)
})
