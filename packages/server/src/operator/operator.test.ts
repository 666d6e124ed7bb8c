import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { makeLogOrg } from '../../test/log-org.ts'
import { makeDirectory, operatorOf } from '../../test/operator-seed.ts'
import { readConfig } from '../config.ts'
import { inOrg } from '../context.ts'
import { LOG_KEY } from '../log/log-key.ts'
import { openRootKey } from '../secrets/root-key.ts'
import { loadPepper, PEPPER } from '../secrets/server-secrets.ts'
import { createGlobalAdminKey, revokeGlobalAdminKeys } from './admin-keys.ts'
import { asOperator } from './operator-deps.ts'
import { rotateRootKey } from './root-key-rotation.ts'
import { newSetupToken } from './setup-token.ts'

// Catches: a pepper derived from the root key (API keys would die with it), a rotation that stops half way, an operator's act
// without a record, a key that reaches beyond its organisation.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const auditOf = (orgId: string, action: string) =>
  inOrg(h.deps, orgId, (db) => db.selectFrom('audit_event').selectAll().where('action', '=', action).execute())
const secrets = () => h.deps.database.kysely.selectFrom('server_secret').selectAll().orderBy('name').execute()

it('works on the data directory of a server that is not running, and on none that is in use', {
  timeout: 120_000,
}, async () => {
  const directory = makeDirectory()
  const config = readConfig({ STRONGROOM_LOG_LEVEL: 'silent', STRONGROOM_DATA: directory.path('.') }, [])
  const pepper = await asOperator(config, async (deps) => {
    await expect(asOperator(config, async () => undefined)).rejects.toMatchObject({ code: 'data_directory_in_use' })
    await newSetupToken(deps)
    return deps.pepper
  })
  expect(await asOperator(config, async (deps) => deps.pepper.equals(pepper))).toBe(true)
  directory.remove()
})

describe('a setup token', () => {
  it('is made anew while there is no organisation, and refused afterwards', async () => {
    const fresh = await startHarness()
    const deps = operatorOf(fresh)
    const first = await newSetupToken(deps)
    expect(first).toMatch(/^srs_[A-Za-z0-9_-]{43}$/)
    expect(await newSetupToken(deps)).not.toBe(first)
    await fresh.org('acme')
    await expect(newSetupToken(deps)).rejects.toMatchObject({ code: 'already_set_up' })
    await fresh.close()
  })
})

describe('a global-admin key', () => {
  it('holds every permission in its organisation, belongs to nobody, and is recorded without its secret', async () => {
    const org = await h.org('acme')
    const { apiKey, keyId, accessKey } = await createGlobalAdminKey(operatorOf(h), org.orgId)
    const me = await createClient({ baseUrl: h.url, apiKey }).identity.me()
    expect(me).toMatchObject({
      principal: { type: 'operator', id: `operator:${keyId}` },
      org: { orgId: org.orgId },
      tenant: null,
      agent: null,
      permissions: ['machine.all'],
      globalAdmin: true,
    })
    const [event] = await auditOf(org.orgId, 'operator.create-global-admin-key')
    expect(event).toMatchObject({
      actor_type: 'operator',
      actor_id: 'operator:host',
      targets: [{ type: 'api_key', id: keyId }],
      metadata: { accessKey },
    })
    expect(JSON.stringify(event)).not.toContain(apiKey.split('.')[1])
  })

  it('works in no tenant: it lists no agents and makes none', async () => {
    const org = await h.org('tenantless')
    await h.agent(org, [])
    const { client } = {
      client: createClient({ baseUrl: h.url, apiKey: (await createGlobalAdminKey(operatorOf(h), org.orgId)).apiKey }),
    }
    expect(await client.agents.list()).toEqual({ agents: [] })
    await expect(client.agents.create({ body: { name: 'x', permissions: [] } })).rejects.toMatchObject({
      code: 'tenant_not_found',
    })
  })

  it('is refused for an organisation that does not exist', async () => {
    await expect(createGlobalAdminKey(operatorOf(h), 'org_00000000000000000000')).rejects.toMatchObject({
      code: 'org_not_found',
    })
    await expect(revokeGlobalAdminKeys(operatorOf(h), 'org_00000000000000000000')).rejects.toMatchObject({
      code: 'org_not_found',
    })
  })

  it('ends with all others of its organisation, and leaves agents and other organisations alone', async () => {
    const [acme, globex] = [await h.org('acme two'), await h.org('globex')]
    const agent = await h.agent(acme, [])
    const deps = operatorOf(h)
    const ended = [await createGlobalAdminKey(deps, acme.orgId), await createGlobalAdminKey(deps, acme.orgId)]
    const kept = await createGlobalAdminKey(deps, globex.orgId)
    expect(await revokeGlobalAdminKeys(deps, acme.orgId)).toBe(2)
    for (const { apiKey } of ended)
      await expect(createClient({ baseUrl: h.url, apiKey }).identity.me()).rejects.toMatchObject({
        code: 'invalid_api_key',
      })
    await createClient({ baseUrl: h.url, apiKey: kept.apiKey }).identity.me()
    await agent.client.identity.me()
    expect(await auditOf(acme.orgId, 'operator.revoke-global-admin-keys')).toHaveLength(1)
  })
})

describe('rotating the root key', () => {
  const next = openRootKey(new Uint8Array(32).fill(9))
  const back = () => rotateRootKey(operatorOf(h), next, h.deps.rootKey)

  it('seals every secret anew, and API keys go on working in a server started with the new root key', async () => {
    const org = await makeLogOrg(h, 'rotating')
    const agent = await h.agent(org, [])
    const before = await secrets()
    expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining([PEPPER, LOG_KEY]))
    const opened = before.map(({ name, sealed }) => h.deps.rootKey.open(name, sealed))

    expect(await rotateRootKey(operatorOf(h), h.deps.rootKey, next)).toEqual({ resealed: before.length })
    const after = await secrets()
    expect(after.map(({ name, sealed }) => next.open(name, sealed))).toEqual(opened)
    expect(after.map(({ name, sealed }) => h.deps.rootKey.open(name, sealed))).toEqual(after.map(() => undefined))
    await expect(loadPepper(h.deps)).rejects.toMatchObject({ code: 'root_key_wrong' })
    expect((await loadPepper({ ...h.deps, rootKey: next })).equals(h.deps.pepper)).toBe(true)
    await agent.client.identity.me()
    expect(await auditOf(org.orgId, 'operator.rotate-root-key')).toHaveLength(1)
    await back()
    await h
      .sibling()
      .then((other) => createClient({ baseUrl: other.url, apiKey: agent.apiKey }).identity.me().finally(other.close))
  })

  it('can be repeated after it was done', async () => {
    await rotateRootKey(operatorOf(h), h.deps.rootKey, next)
    expect(await rotateRootKey(operatorOf(h), h.deps.rootKey, next)).toEqual({ resealed: 0 })
    await back()
  })

  it('changes nothing if one secret opens under neither key', async () => {
    const name = 'zzz-sealed-elsewhere'
    await h.deps.database.kysely
      .insertInto('server_secret')
      .values({
        name,
        sealed: openRootKey(new Uint8Array(32).fill(3)).seal(name, Buffer.from('x')),
        created_at: h.deps.now(),
      })
      .execute()
    const before = await secrets()
    await expect(rotateRootKey(operatorOf(h), h.deps.rootKey, next)).rejects.toMatchObject({ code: 'root_key_wrong' })
    expect(await secrets()).toEqual(before)
    await h.deps.database.kysely.deleteFrom('server_secret').where('name', '=', name).execute()
  })
})
