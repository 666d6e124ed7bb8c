import { readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { StartError } from '../errors.ts'

// What can be bought. The operator writes it into a file; without one there are two licences of the sandbox, so that a first purchase
// can be tried without a provider and without money.

/** The provider that is built in: it makes licence keys itself. */
export const BUILT_IN = 'builtin'

const closed = { additionalProperties: false }
const Field = Type.Object(
  { label: Type.String({ minLength: 1, maxLength: 100 }), isEnvironmentVariable: Type.Boolean() },
  closed,
)
const Offer = Type.Object(
  {
    slug: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,62}$' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.String({ maxLength: 2000 }),
    provider: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
    sku: Type.String({ minLength: 1, maxLength: 100 }),
    /** In millionths of a dollar, in digits: a number of JSON would lose some. */
    price: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }),
    term: Type.Union([Type.Literal('month'), Type.Literal('once')]),
    fields: Type.Array(Field, { minItems: 1, maxItems: 32 }),
    /** Ids of the tenants that may buy it; all of them if absent. */
    tenants: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1 })),
    status: Type.Optional(Type.Union([Type.Literal('available'), Type.Literal('unavailable')])),
  },
  closed,
)
const Provider = Type.Object(
  {
    url: Type.String({ pattern: '^https?://[^/?#@]+(?:/[^?#]*)?$' }),
    /** Where the shared secret lies, `whsec_` and base64: it is in no catalogue. */
    secretFile: Type.String({ minLength: 1 }),
  },
  closed,
)
const CatalogueFile = Type.Object(
  {
    providers: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), Provider)),
    licenses: Type.Array(Offer, { maxItems: 10_000 }),
  },
  closed,
)
const validator = Compile(CatalogueFile)

export interface LicenseField {
  readonly label: string
  readonly isEnvironmentVariable: boolean
}

export interface LicenseOffer {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly provider: string
  readonly sku: string
  readonly price: bigint
  readonly term: 'month' | 'once'
  readonly fields: readonly LicenseField[]
  /** Undefined: every tenant. */
  readonly tenants: readonly string[] | undefined
  readonly isAvailable: boolean
}

export interface HttpProviderSettings {
  readonly url: string
  readonly secret: string
}

export interface Catalogue {
  /** The sandbox: nothing in it costs anybody money. */
  readonly isSandbox: boolean
  readonly offers: ReadonlyMap<string, LicenseOffer>
  readonly providers: ReadonlyMap<string, HttpProviderSettings>
}

const invalid = (file: string, what: string): StartError =>
  new StartError(
    'catalogue_invalid',
    `the catalogue ${file} ${what}`,
    'correct the file that STRONGROOM_CATALOGUE names',
  )

const offerOf = ({ price, tenants, status, ...offer }: Static<typeof Offer>): LicenseOffer => ({
  ...offer,
  price: BigInt(price),
  tenants,
  isAvailable: status !== 'unavailable',
})

function readText(file: string, asked: string): string {
  try {
    return readFileSync(asked, 'utf8')
  } catch {
    throw invalid(file, asked === file ? 'cannot be read' : `names the secret file ${asked}, which cannot be read`)
  }
}

function parse(file: string): unknown {
  const text = readText(file, file)
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(file, 'is not JSON')
  }
}

const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/

function readSecret(file: string, name: string, secretFile: string): string {
  const secret = readText(file, secretFile).trim()
  if (!SECRET.test(secret)) throw invalid(file, `names no secret of the form whsec_… for ${name}`)
  return secret
}

/** Refuses a file that is not exactly a catalogue, and names the place. */
export function loadCatalogue(file: string): Catalogue {
  const read = parse(file)
  if (!validator.Check(read)) {
    const [first] = validator.Errors(read)
    throw invalid(file, `is not a catalogue: ${first?.instancePath || '/'} ${first?.message ?? 'is wrong'}`)
  }
  const named = Object.entries(read.providers ?? {})
  const providers = new Map(
    named.map(([name, { url, secretFile }]) => [name, { url, secret: readSecret(file, name, secretFile) }] as const),
  )
  const offers = new Map<string, LicenseOffer>()
  for (const one of read.licenses) {
    if (offers.has(one.slug)) throw invalid(file, `names ${one.slug} twice`)
    if (one.provider !== BUILT_IN && !providers.has(one.provider))
      throw invalid(file, `sells ${one.slug} of the unknown provider ${one.provider}`)
    if (new Set(one.fields.map(({ label }) => label)).size < one.fields.length)
      throw invalid(file, `gives two fields of ${one.slug} the same label`)
    offers.set(one.slug, offerOf(one))
  }
  return { isSandbox: false, offers, providers }
}

const sandbox = (offer: Omit<LicenseOffer, 'provider' | 'tenants' | 'isAvailable'>): LicenseOffer => ({
  ...offer,
  provider: BUILT_IN,
  tenants: undefined,
  isAvailable: true,
})

/** What is sold where the operator has set up nothing. */
export const SANDBOX_CATALOGUE: Catalogue = {
  isSandbox: true,
  providers: new Map(),
  offers: new Map(
    [
      sandbox({
        slug: 'sandbox-monthly',
        name: 'Sandbox licence, by the month',
        description: 'A licence key of this server to try purchases with. It costs test credit and opens nothing.',
        sku: 'sandbox-monthly',
        price: 12_500_000n,
        term: 'month',
        fields: [{ label: 'SANDBOX_LICENSE_KEY', isEnvironmentVariable: true }],
      }),
      sandbox({
        slug: 'sandbox-once',
        name: 'Sandbox licence, once',
        description: 'A licence key of this server that does not expire, with its number. It opens nothing.',
        sku: 'sandbox-once',
        price: 2_000_000n,
        term: 'once',
        fields: [
          { label: 'SANDBOX_ONCE_KEY', isEnvironmentVariable: true },
          { label: 'Licence number', isEnvironmentVariable: false },
        ],
      }),
    ].map((offer) => [offer.slug, offer] as const),
  ),
}
