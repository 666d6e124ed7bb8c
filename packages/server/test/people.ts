import { readFileSync } from 'node:fs'
import type { Input, OrgRole, Route, TenantRole } from '@strongroom/contract'
import { decodePem, type PrivateKeyMaterial } from '@strongroom/protocol'
import { ApiError, type FirstPerson, setUp } from '@strongroom/sdk'
import { inOrg } from '../src/context.ts'
import { provideSetupToken } from '../src/modules/setup/token.ts'
import type { Harness } from './harness.ts'
import { type Roles, type SeededPerson, seedPerson } from './seed-person.ts'

// People for tests: the first one through the real flow, others put straight into the database where only their roles matter.

const vectors = JSON.parse(readFileSync(new URL('../../protocol/vectors/keys.json', import.meta.url), 'utf8')) as {
  keys: Record<string, string>
}

/** Fixed keys, because making RSA keys is slow. */
export const keysOf = (name: 'alice' | 'bob' | 'carol' | 'dave' | 'mallory' | 'malloryNext'): PrivateKeyMaterial =>
  decodePem(vectors.keys[name] ?? '')

export const FOUNDER = {
  email: 'Alice@Example.com',
  passphrase: 'correct horse battery staple',
  orgName: 'acme',
  userName: 'Alice',
  tenantName: 'main',
}

export async function setupToken(h: Harness): Promise<string> {
  const token = await provideSetupToken(h.deps)
  if (token === undefined) throw new Error('there is an organisation already')
  return token
}

export const foundOrg = async (h: Harness): Promise<FirstPerson> =>
  setUp({ baseUrl: h.url, setupToken: await setupToken(h), ...FOUNDER, keys: keysOf('alice') })

export type SeededUser = SeededPerson

export interface Seed extends Roles {
  readonly orgRoles?: readonly OrgRole[]
  readonly tenantRoles?: readonly { readonly tenantId: string; readonly role: TenantRole }[]
}

export const seedUser = (
  h: Harness,
  place: { orgId: string; tenantId: string },
  seed: Seed = {},
): Promise<SeededUser> => seedPerson(h, place, { name: 'somebody', ...seed })

/** The refusal of a call; fails if it was not refused. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ status: number; code: string; details: unknown; retryAfter: number | undefined }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (!(error instanceof ApiError)) throw new Error(`expected a refusal of the API, got ${String(error)}`)
  const { status, code, details, retryAfter } = error
  return { status, code, details, retryAfter }
}

export const codeOf = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).code

const TABLES = [
  'org',
  'tenant',
  'org_user',
  'user_secret',
  'session',
  'invite',
  'security_group',
  'group_member',
  'tenant_role',
  'log_leaf',
  'api_key',
] as const

/** Everything of an organisation that these modules write, for comparing before and after. Audit rows of refusals may come. */
export async function contentOf({ deps }: Harness, orgId: string): Promise<string> {
  return inOrg(deps, orgId, async (db) => {
    const all: Record<string, unknown> = {}
    for (const table of TABLES)
      all[table] = (await db.selectFrom(table).selectAll().execute())
        .map((row) => JSON.stringify({ ...row, last_used_at: undefined }))
        .sort()
    return JSON.stringify(all)
  })
}

const pathOf = (url: Parameters<typeof fetch>[0]): string =>
  new URL(String(url)).pathname.replace('/api/v1/platform', '')

/** The body a client would send to one path; it is not sent. Stretching a passphrase is slow, so one body serves many tries. */
export async function bodyFor<R extends Route>(
  route: R,
  run: (network: typeof fetch) => Promise<unknown>,
): Promise<Input<R> extends { body: infer B } ? B : never> {
  const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`)
  let body: string | undefined
  const network: typeof fetch = async (url, init) => {
    if (init?.method !== route.method || !pattern.test(pathOf(url))) return fetch(url, init)
    body = String(init.body)
    throw new Error('held back')
  }
  await run(network).catch(() => undefined)
  if (body === undefined) throw new Error(`nothing was sent to ${route.path}`)
  return JSON.parse(body)
}

/** How each call ended: 'ok' or the code of its refusal. */
export const outcomes = (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    calls.map((call) =>
      call.then(
        () => 'ok',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      ),
    ),
  )
