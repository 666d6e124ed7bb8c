import {
  type EnvChange,
  indexedDbCache,
  indexedDbTrust,
  Strongroom,
  StrongroomError,
  type StrongroomOptions,
} from '@strongroom/sdk/browser'

// What the page of the browser tests does with the published client. Everything goes in and out as JSON.

let client: Strongroom | undefined
let changes: AsyncIterator<EnvChange> | undefined

const own = (): Strongroom => {
  if (!client) throw new Error('open a client first')
  return client
}

/** An error as a page can show it. */
const shown = (error: unknown): unknown => (StrongroomError.is(error) ? error.toJSON() : { name: String(error) })

/** The result, or the refusal. */
async function told<T>(work: () => Promise<T>): Promise<{ ok: T } | { refused: unknown }> {
  try {
    return { ok: await work() }
  } catch (error) {
    return { refused: shown(error) }
  }
}

const app = {
  open: (options: StrongroomOptions & { readonly isCached?: boolean }) =>
    told(async () => {
      const { isCached, ...rest } = options
      client = new Strongroom({ server: location.origin, ...rest, ...(isCached && { cache: indexedDbCache() }) })
      return `${client}`
    }),
  env: (vault: string, options: { readonly offline?: boolean; readonly maxAge?: string } = {}) =>
    told(async () => {
      const bundle = await own().secrets.env({ vault }, options)
      const { source, consistency, headVersion } = bundle.receipt ?? {}
      return { values: bundle.toObject(), source, consistency, headVersion }
    }),
  get: (ref: string) => told(async () => (await own().secrets.get(ref)).reveal()),
  set: (ref: string, value: string, options: { readonly ifVersion?: number } = {}) =>
    told(async () => own().secrets.set(ref, value, options)),
  remove: (ref: string) => told(async () => own().secrets.remove(ref)),
  createVault: (name: string) => told(async () => own().vaults.create({ name })),
  createItem: (vault: string, name: string, value: string) =>
    told(async () => {
      const item = await own().items.create(vault, { name, fields: [{ label: 'password', value }] })
      return item.itemId
    }),
  item: (vault: string, item: string) =>
    told(async () => (await own().items.get(vault, item)).fields.map(({ secret }) => secret.reveal())),
  head: () => told(async () => (await own().transparency.head()).treeSize),
  startWatching: (vault: string) => {
    changes = own().secrets.watch({ vault }, { interval: '10m' })[Symbol.asyncIterator]()
  },
  nextChange: () =>
    told(async () => {
      const { value } = (await changes?.next()) ?? {}
      const { added, changed, removed, bundle } = value as EnvChange
      return { added, changed, removed, values: bundle.toObject() }
    }),
  /** What the policy of the page makes of code that comes as text, as a script or as WebAssembly. */
  forbidden: async () => {
    const refusal = (error: Error): string => error.name
    const attempts: (() => unknown)[] = [
      () => new Function('return 1')(),
      () => Object.assign(document.createElement('script'), { text: 'x' }),
      () => WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
    ]
    const outcomes: string[] = []
    for (const attempt of attempts) outcomes.push(await (async () => attempt())().then(() => 'allowed', refusal))
    // Each is also told as an event, a little later.
    while (globalThis.violations.length < attempts.length) await new Promise((resolve) => setTimeout(resolve))
    globalThis.violations.length = 0
    return outcomes
  },
  trust: async () => (await indexedDbTrust().read()).orgs,
}

export type PageApp = typeof app

declare global {
  var ask: (name: keyof PageApp, input: readonly unknown[]) => Promise<unknown>
  var violations: string[]
}

export function start(): void {
  globalThis.violations = []
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    globalThis.violations.push(`${violatedDirective} ${blockedURI}`)
  })
  // In a task of its own: what a debugger calls directly may make code from text, whatever the policy of the page says.
  globalThis.ask = (name, input) =>
    new Promise((resolve, reject) => {
      const work = app[name] as (...given: unknown[]) => unknown
      setTimeout(() => Promise.resolve(work(...input)).then(resolve, reject))
    })
}
