import { FAULTS, type Fault, startReferenceProvider } from './reference-provider.ts'

// The reference provider as a program of its own: `node main.ts`, with PROVIDER_SECRET (whsec_…), PROVIDER_PORT, PROVIDER_CANARY and
// PROVIDER_SKU. It prints its address, and then one line for each order it has. A line on its standard input is faults for the next
// requests, or `approve <id>`.

const { PROVIDER_SECRET: secret, PROVIDER_PORT: port, PROVIDER_CANARY: canary, PROVIDER_SKU: sku = 'MP1' } = process.env
if (secret === undefined) throw new Error('PROVIDER_SECRET is not set')

const provider = await startReferenceProvider({
  secret,
  prices: { [sku]: 12_500_000n },
  labels: { [sku]: ['MAIL_KEY', 'Account'] },
  ...(canary !== undefined && { canary }),
  ...(port !== undefined && { port: Number(port) }),
})
process.stdout.write(`${provider.url}\n`)

const isFault = (word: string): word is Fault => FAULTS.some((fault) => fault === word)

function obey(line: string): void {
  const [order, id = ''] = line.trim().split(' ')
  if (order === 'approve') provider.approve(id)
  else provider.misbehave(...line.trim().split(/\s+/).filter(isFault))
  const states = [...provider.orders.values()].map(({ externalId, status }) => `${externalId} ${status}`)
  process.stdout.write(`${states.join('\n')}\n`)
}

let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk.toString()).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) obey(line)
})
process.once('SIGTERM', () => {
  void provider.close().then(() => process.exit(0))
})
