import { generateKeyPairSync } from 'node:crypto'
import type { Deps } from '../context.ts'
import { provideServerSecret } from '../secrets/server-secrets.ts'
import { type IssuerKey, issuerKeyOf } from './issuer.ts'

// The keys of the built-in issuer, sealed among the secrets of the server.

const NAME = 'license-issuer-key/'

type Keeper = Pick<Deps, 'database' | 'rootKey' | 'now'>

const makeKey = (): Buffer => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })

async function numbers({ database }: Keeper): Promise<number[]> {
  const rows = await database.kysely
    .selectFrom('server_secret')
    .select('name')
    .where('name', 'like', `${NAME}%`)
    .execute()
  return rows.map(({ name }) => Number(name.slice(NAME.length))).sort((a, b) => a - b)
}

const provide = (keeper: Keeper, n: number): Promise<Buffer> => provideServerSecret(keeper, `${NAME}${n}`, makeKey)

/** Oldest first; the last one signs, and all are published for as long as their licences run. */
export async function issuerKeys(keeper: Keeper): Promise<readonly [IssuerKey, ...IssuerKey[]]> {
  const [first = 1, ...rest] = await numbers(keeper)
  const open = async (n: number): Promise<IssuerKey> => issuerKeyOf(await provide(keeper, n))
  return [await open(first), ...(await Promise.all(rest.map(open)))]
}

/** The private key that signs, for the process that issues. */
export const signingIssuerKey = async (keeper: Keeper): Promise<Uint8Array> =>
  provide(keeper, (await numbers(keeper)).at(-1) ?? 1)

/** The next key of the ring; licences that were signed before stay valid. */
export async function rotateIssuerKey(keeper: Keeper): Promise<string> {
  const known = await numbers(keeper)
  return issuerKeyOf(await provide(keeper, (known.at(-1) ?? 0) + 1)).kid
}

export const issuerJwks = async (keeper: Keeper) =>
  (await issuerKeys(keeper)).map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }))
