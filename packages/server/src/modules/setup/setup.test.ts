import { api, type Input } from '@strongroom/contract'
import {
  makeDocument,
  openKeys,
  orgGenesis,
  type Principal,
  parseKid,
  parseTrustAnchor,
  peekDocument,
} from '@strongroom/protocol'
import { type Client, createClient, login, setUp } from '@strongroom/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { bodyFor, codeOf, FOUNDER, foundOrg, keysOf, outcomes, refusal, setupToken } from '../../../test/people.ts'
import { inOrg, outsideOrgs } from '../../context.ts'
import { anyOrg } from './store.ts'
import { provideSetupToken } from './token.ts'

// Catches: a second organisation by a used token or by a race (useToken that only looks), a genesis that names
// somebody else (checkGenesis left out), rows left behind by a finish that failed, a token kept in clear.
// Seen red: whoever comes a moment after the one who finished is told that the attempt is over, or that the token is not known.

let h: Harness
beforeEach(async () => {
  h = await startHarness()
})
afterEach(() => h.close())

const ALL = { ...FOUNDER, keys: keysOf('alice') }
const hasOrg = (): Promise<boolean> => outsideOrgs(h.deps, anyOrg)

it('makes organisation, owner, tenant, log and session at once, and the founder can log in with their keys', async () => {
  const client = createClient({ baseUrl: h.url })
  expect(await client.setup.status()).toEqual({ needed: true })
  const alice = await foundOrg(h)
  expect(await client.setup.status()).toEqual({ needed: false })

  const me = await alice.client.identity.me()
  expect(me).toMatchObject({
    org: { orgId: alice.orgId },
    orgRoles: ['ORG_OWNER'],
    tenantRoles: [{ tenantId: alice.tenantId, role: 'TENANT_ADMIN' }],
  })
  expect(parseTrustAnchor(alice.trustAnchor)).toMatchObject({ org: alice.orgId })
  const audit = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('audit_event').select('action').orderBy('seq').execute(),
  )
  expect(audit.map(({ action }) => action)).toEqual(['directory.org.genesis', 'org.setup'])

  const again = await login({
    baseUrl: h.url,
    email: 'alice@example.COM',
    passphrase: FOUNDER.passphrase,
    deviceSecret: alice.codes.deviceSecret,
    trustAnchor: alice.trustAnchor,
  })
  expect(again.identity.kid).toBe(alice.identity.kid)
  expect(again.userId).toBe(alice.userId)
})

it('keeps of the setup token and of the passphrase nothing that shows either', async () => {
  const token = await setupToken(h)
  await setUp({ baseUrl: h.url, setupToken: token, ...ALL })
  const dump = JSON.stringify(await outsideOrgs(h.deps, (db) => db.selectFrom('setup_token').selectAll().execute()))
  expect(dump).not.toContain(token)
})

it('refuses a missing, wrong, replaced or malformed setup token alike, and makes nothing', async () => {
  const replaced = await setupToken(h)
  await setupToken(h)
  for (const token of [undefined, 'nonsense', `srs_${'A'.repeat(43)}`, replaced]) {
    const client = createClient({ baseUrl: h.url, ...(token !== undefined && { setupToken: token }) })
    expect(
      await codeOf(client.setup.start({ body: { email: FOUNDER.email, registrationRequest: 'A'.repeat(43) } })),
    ).toBe('invalid_setup_token')
  }
  expect(await hasOrg()).toBe(false)
})

it('refuses to set up twice, and prints no token any more', async () => {
  const token = await setupToken(h)
  await setUp({ baseUrl: h.url, setupToken: token, ...ALL })
  expect(await codeOf(setUp({ baseUrl: h.url, setupToken: token, ...ALL }))).toBe('already_set_up')
  expect(await codeOf(setUp({ baseUrl: h.url, setupToken: 'srs_x', ...ALL }))).toBe('already_set_up')
  expect(await provideSetupToken(h.deps)).toBeUndefined()
})

type Body = Input<typeof api.setup.finish>['body']

async function started(): Promise<{ token: string; client: Client; body: Body }> {
  const token = await setupToken(h)
  const body = await bodyFor(api.setup.finish, (fetch) => setUp({ baseUrl: h.url, setupToken: token, ...ALL, fetch }))
  return { token, client: createClient({ baseUrl: h.url, setupToken: token }), body }
}

/** A genesis that is valid in itself and makes somebody with mallory's key the founder. */
async function genesisBy(principal: Principal, { genesis }: Body): Promise<Body['genesis']> {
  const mallory = await openKeys(principal, keysOf('mallory'))
  const { org, at, policy, salt } = peekDocument(orgGenesis, genesis).payload
  const forged = await makeDocument(
    orgGenesis,
    { org, at, policy, salt, admins: [{ kid: mallory.kid, key: mallory.key.bundle }] },
    [mallory],
  )
  return forged
}

it('refuses whatever is wrong with a finish, leaves nothing behind, and the same finish then succeeds', async () => {
  const { client, body } = await started()
  const { principal } = parseKid(body.kid)
  const unsigned = {
    ...body.genesis,
    signatures: body.genesis.signatures.map(({ keyid }) => ({ keyid, sig: Buffer.alloc(64).toString('base64') })),
  }
  const wrong: readonly [Partial<Body>, string, string | undefined][] = [
    [{ genesis: await genesisBy(principal, body) }, 'invalid_document', 'genesis_mismatch'],
    [{ genesis: await genesisBy('user:usr_other', body) }, 'invalid_document', 'genesis_mismatch'],
    [{ genesis: unsigned }, 'invalid_signature', 'bad_signature'],
    [{ genesis: { payload: 'AAAA', payloadType: 'x', signatures: [] } }, 'invalid_document', 'wrong_type'],
    [{ kdf: body.kdf.replace('m=65536', 'm=1024') }, 'invalid_document', 'kdf_floor'],
    [{ registrationRecord: 'AAAA' }, 'validation_failed', undefined],
    [{ attemptId: 'att_unknown' }, 'attempt_over', undefined],
  ]
  for (const [change, code, rule] of wrong) {
    const refused = await refusal(client.setup.finish({ body: { ...body, ...change } }))
    expect(refused).toMatchObject({ code, ...(rule !== undefined && { details: { rule } }) })
    expect(await hasOrg()).toBe(false)
  }
  expect(await client.setup.finish({ body })).toMatchObject({ userId: principal.slice('user:'.length) })
})

it('does not finish after a quarter of an hour', async () => {
  const { client, body } = await started()
  h.advance(15 * 60_000)
  expect(await codeOf(client.setup.finish({ body }))).toBe('attempt_over')
})

it('lets one of twelve finishes at the same time win, and makes one organisation', async () => {
  const { client, body, token } = await started()
  const other = await bodyFor(api.setup.finish, (fetch) => setUp({ baseUrl: h.url, setupToken: token, ...ALL, fetch }))
  const ended = await outcomes(
    Array.from({ length: 12 }, (_, i) => client.setup.finish({ body: i % 2 === 0 ? body : other })),
  )
  expect(ended.sort()).toEqual([...Array.from({ length: 11 }, () => 'already_set_up'), 'ok'])
})
