import { resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { safeText } from '../output/safe-text.ts'
import { readConfigFile } from '../place/config-file.ts'
import { writePrivate } from '../place/private-file.ts'
import type { Read } from '../project/read-sources.ts'
import type { Loaded } from './loaded.ts'

// What was injected and what proves it: one line for people, one document for programs. Never a value.

const AGES = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

function ageOf(since: Date, now: number): string {
  const ms = Math.max(0, now - since.getTime())
  const [size, unit] = AGES.find(([least]) => ms >= least) ?? [1, 'ms']
  return `${Math.floor(ms / size)} ${unit}`
}

export type NameOf = (principal: string) => string | undefined

/** Names of those who are signed in on this machine. What others are called only the server says, so they stay ids. */
export async function localNames({ paths }: Cli): Promise<NameOf> {
  const { profiles } = await readConfigFile(paths.config).catch(() => ({ profiles: {} }))
  const known = Object.entries(profiles).flatMap(([name, { email, user, agent }]): [string, string][] => {
    if (user !== undefined) return [[`user:${user}`, safeText(email ?? name)]]
    return agent === undefined ? [] : [[`agent:${agent}`, name]]
  })
  const names = new Map(known)
  return (principal) => names.get(principal)
}

/** `ada@northwind.test`, or `user:8f2c…` without the part that only programs need. */
const shownSigner = (kid: string, nameOf: NameOf): string => {
  const [kind = '', id = ''] = kid.split(':')
  return nameOf(`${kind}:${id}`) ?? (id.length > 12 ? `${kind}:${id.slice(0, 8)}…` : `${kind}:${id}`)
}

const counted = (n: number): string => `${n} ${n === 1 ? 'secret' : 'secrets'}`

export interface Verified {
  readonly loaded: Loaded
  readonly secrets: number
  readonly nameOf: NameOf
}

export function summaryLine({ loaded, secrets, nameOf }: Verified, tookMs: number, now = Date.now()): string {
  const { receipts, from } = loaded
  const signers = [...new Set(receipts.map(({ signerKeyId }) => shownSigner(signerKeyId, nameOf)))]
  const sizes = receipts.map(({ checkpoint }) => checkpoint.treeSize)
  const cached = receipts.filter(({ source }) => source === 'cache').map(({ fetchedAt }) => fetchedAt.getTime())
  const parts = [
    `${counted(secrets)} from ${from}`,
    ...(signers.length > 0 ? [`signer ${signers.join(', ')} ✓`] : []),
    ...(sizes.length > 0 ? [`log ${Math.max(...sizes)} ✓`] : []),
    ...(cached.length > 0 ? [`from the cache, ${ageOf(new Date(Math.min(...cached)), now)} old`] : []),
    `${Math.round(tookMs)} ms`,
  ]
  return `strongroom: ${parts.join(' · ')}`
}

const described = (name: string, { value, from }: Read): Readonly<Record<string, unknown>> =>
  typeof value === 'string'
    ? { name, from, kind: 'text' }
    : {
        name,
        from,
        kind: 'secret',
        ref: value.ref,
        version: value.version,
        ...(value.receipt && { vaultId: value.receipt.vaultId }),
      }

export async function writeReceipt(
  cli: Cli,
  path: string,
  { receipts }: Loaded,
  variables: ReadonlyMap<string, Read>,
  command: string,
): Promise<void> {
  const document = {
    at: new Date().toISOString(),
    command,
    variables: [...variables].map(([name, read]) => described(name, read)),
    vaults: receipts,
  }
  await writePrivate(resolve(cli.io.cwd, path), `${JSON.stringify(document, null, 2)}\n`, 0o644)
}
