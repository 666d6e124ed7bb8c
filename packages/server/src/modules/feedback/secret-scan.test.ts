import { createHash, createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeAccessToken, makeApiKey } from '../../secrets/credentials.ts'
import { findSecret } from './secret-scan.ts'

// Catches: a pattern that is left out (each kind has its own samples), a threshold so low that sentences are refused, one so
// high that random tokens pass. Every secret here is made up from a counter: nothing in this file opens anything.

const SETS = {
  base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  base64url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  base32: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  crockford: '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
  upper: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  hex: '0123456789abcdef',
  digits: '0123456789',
} as const

let counter = 0
/** The same letters in every run: a test that depends on luck proves nothing. */
function fake(set: keyof typeof SETS, length: number, seed = `sample ${counter++}`): string {
  let out = ''
  for (let block = 0; out.length < length; block++)
    for (const byte of createHash('sha256').update(`${seed} ${block}`).digest())
      out += SETS[set].charAt(byte % SETS[set].length)
  return out.slice(0, length)
}

const b64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (): string =>
  `${b64({ alg: 'ES256', typ: 'JWT' })}.${b64({ sub: 'agent', exp: 1 })}.${fake('base64url', 86)}`
const pem = (label: string): string => `-----BEGIN ${label}-----\n${fake('base64', 64)}\n-----END ${label}-----`
const pepper = createSecretKey(new Uint8Array(32))

const SECRETS: readonly (readonly [kind: string, text: string])[] = [
  ['strongroom_credential', `my key is ${makeApiKey(pepper).apiKey}`],
  ['strongroom_credential', makeApiKey(pepper).apiKey],
  [
    'strongroom_credential',
    `curl -H "X-API-Key: ${makeApiKey(pepper).apiKey}" http://127.0.0.1:8420/api/v1/machine/me`,
  ],
  ['strongroom_credential', `X-API-Key: ${makeApiKey(pepper).accessKey}`],
  ['strongroom_credential', `STRONGROOM_API_KEY=${makeApiKey(pepper).apiKey} strongroom run`],
  ['strongroom_credential', `token ${makeAccessToken().token} was refused`],
  ['strongroom_credential', `(${makeAccessToken().token})`],
  [
    'strongroom_credential',
    `device SRD1-${fake('crockford', 4)}-${fake('crockford', 4)}-${fake('crockford', 4)}-${fake('crockford', 4)}`,
  ],
  ['strongroom_credential', `recovery code srr1-${fake('crockford', 52).toLowerCase()}`],
  ['strongroom_credential', `SRR1${fake('crockford', 58)}`],
  ['ciphertext', `the field came back as v3.${fake('base64url', 80)}`],
  ['ciphertext', `{"value":"v3.${fake('base64url', 40)}"}`],
  ['ciphertext', `bundle vub3.${fake('base64url', 200)}`],
  ['private_key', pem('PRIVATE KEY')],
  ['private_key', pem('RSA PRIVATE KEY')],
  ['private_key', `here:${pem('EC PRIVATE KEY')}`],
  ['private_key', pem('OPENSSH PRIVATE KEY')],
  ['private_key', pem('ENCRYPTED PRIVATE KEY').replaceAll('\n', '\\n')],
  ['private_key', pem('PGP PRIVATE KEY BLOCK')],
  ['private_key', `AGE-SECRET-KEY-1${fake('upper', 58)}`],
  ['token', jwt()],
  ['token', `Authorization: ${jwt()} is refused`],
  ['token', `https://app.example.com/callback?id_token=${jwt()}`],
  ['token', `authorization: bearer ${fake('hex', 24)}`],
  ['token', `Authorization: Basic ${Buffer.from('svc:fake-value-1234').toString('base64')}`],
  ['provider_key', `AKIA${fake('upper', 16)}`],
  ['provider_key', `temporary credentials ASIA${fake('upper', 16)} expired`],
  ['provider_key', `ghp_${fake('base62', 36)}`],
  ['provider_key', `clone with gho_${fake('base62', 36)}`],
  ['provider_key', `ghs_${fake('base62', 36)}`],
  ['provider_key', `github_pat_${fake('base62', 22)}_${fake('base62', 59)}`],
  ['provider_key', `sk_live_${fake('base62', 24)}`],
  ['provider_key', `the test key sk_test_${fake('base62', 24)} works`],
  ['provider_key', `rk_live_${fake('base62', 24)}`],
  ['provider_key', `whsec_${fake('base64', 32)}`],
  ['provider_key', `xoxb-${fake('digits', 12)}-${fake('digits', 12)}-${fake('base62', 24)}`],
  ['provider_key', `xoxp-${fake('digits', 11)}-${fake('base62', 32)}`],
  ['provider_key', `xapp-1-${fake('upper', 11)}-${fake('digits', 13)}-${fake('hex', 32)}`],
  ['provider_key', `https://hooks.slack.com/services/T${fake('upper', 8)}/B${fake('upper', 8)}/${fake('base62', 24)}`],
  ['provider_key', `sk-${fake('base62', 48)}`],
  ['provider_key', `sk-proj-${fake('base64url', 48)}`],
  ['provider_key', `AIza${fake('base64url', 35)}`],
  ['provider_key', `glpat-${fake('base64url', 20)}`],
  ['provider_key', `npm_${fake('base62', 36)}`],
  ['provider_key', `dop_v1_${fake('hex', 64)}`],
  ['provider_key', `SG.${fake('base64url', 22)}.${fake('base64url', 43)}`],
  ['provider_key', `hvs.${fake('base64url', 24)}`],
  ['provider_key', `${fake('digits', 9)}:AA${fake('base64url', 33)}`],
  ['connection_string', `postgres://app:${fake('base62', 12)}@db.internal:5432/prod`],
  ['connection_string', 'DATABASE_URL=postgresql://svc:pa%24%24@10.0.0.4/app?sslmode=require'],
  ['connection_string', `mongodb+srv://root:${fake('base62', 10)}@cluster0.example.net`],
  ['connection_string', `redis://:${fake('base62', 10)}@cache:6379/0`],
  ['connection_string', `amqps://guest:${fake('base62', 8)}@broker/vhost`],
  ['connection_string', `https://deploy:${fake('base62', 8)}@git.example.com/repo.git`],
  ['connection_string', `Server=db;Database=app;User Id=sa;Password=${fake('base62', 12)};`],
  ['password', 'password: hunter2'],
  ['password', 'the passphrase is Correct-h0rse'],
  ['password', `"api_key": "${fake('base62', 14)}"`],
  ['password', `DB_PASSWORD=${fake('base62', 15)}`],
  ['password', "secret = 's3cr3t!'"],
  ['high_entropy', `the header was ${fake('base62', 24)}`],
  ['high_entropy', fake('base64url', 43)],
  ['high_entropy', `value ${fake('base64', 44)}=`],
  ['high_entropy', `aws says ${fake('base64', 40)}`],
  ['high_entropy', `session ${fake('hex', 32)}`],
  ['high_entropy', `key=${fake('hex', 64)}`],
  ['high_entropy', `otp seed ${fake('base32', 32)}`],
  ['high_entropy', `${fake('base62', 16)}\u200b${fake('base62', 16)}`],
  ['email_address', 'write to jane.doe@example.com'],
  ['email_address', 'the user <j.d+prod@mail.example.co.uk> cannot see it'],
  ['card_number', 'card 4242 4242 4242 4242 was declined'],
  ['card_number', 'pan=5555555555554444'],
  ['card_number', '3782-822463-10005'],
]

const ORDINARY: readonly string[] = [
  'There is no way to rename a vault group from the machine API.',
  'GET /api/v1/machine/vault/:vaultId/environment-fields answers 404 when the vault has no environment fields.',
  'The error message says "The agent is archived." but the agent was created a minute ago.',
  'Please add a route that lists webhooks of all keys, not only of the calling key.',
  'The docs say that limit is ignored without page, but limit=0 answers 400.',
  'I called POST /licenses/purchase with mode "existing" and got validation_failed.',
  'Request req_0123456789abcdefghjkmn took 31 seconds.',
  'Agent agt_7h3kq9x2m4n8p5r6s1t0vw cannot see vault vlt_0a1b2c3d4e5f6g7h8j9k0m.',
  'See /api/v1/machine/vault/vlt_0a1b2c3d4e5f6g7h8j9k0m/items/itm_9k8j7h6g5f4e3d2c1b0a9m for an example.',
  'The UUID 123e4567-e89b-12d3-a456-426614174000 is not accepted as an idempotency key.',
  'Since commit 9fceb02d0ae598e95dc970b74767f19372d61af8 the answer has no meta.',
  'The image sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 does not start.',
  'The member isEnvironmentVariable should be called exported.',
  'machine_permission_denied does not name the permission in details.',
  'I need machine.vault.secret.read without machine.vault.read.',
  'TENANT_AGENT_MANAGER should be enough to read the budget of an agent.',
  'The password field is missing in the item template for databases.',
  'Setting a password policy is not possible.',
  'The token expires too early.',
  'token: missing',
  'The API key was shown once and I lost it; regenerating it works.',
  'How do I rotate the secret of a webhook?',
  'password: <PASSWORD>',
  'Send X-API-Key: <ACCESS_KEY>.<SECRET> as the docs say.',
  'Authorization: Bearer <ACCESS_TOKEN> is the wrong header for agents.',
  'export STRONGROOM_API_KEY=$KEY fails in fish.',
  'The secret is never shown again, which is right.',
  'Search for "postgres" finds items whose names start with Postgres only.',
  'The connection string postgres://db.internal:5432/prod without user should be allowed as website.',
  'https://docs.example.com/guides/getting-started/how-to-rotate-keys-in-production has a broken link.',
  'https://example.com/a/very/long/path/with/many/segments/and/no/meaning/at/all',
  'packages/server/src/modules/agents/service.ts mentions a route that does not exist.',
  'node_modules/@strongroom/sdk/dist/client.js throws TransportError.',
  '@strongroom/sdk@0.1.0 does not work with Bun 1.2.3.',
  'The CLI prints ERR_MODULE_NOT_FOUND after an upgrade from 0.9.12 to 1.0.0-beta.17.',
  'TypeError: Cannot read properties of undefined (reading "wrappedKey")',
  'at processTicksAndRejections (node:internal/process/task_queues:105:5)',
  'The function verifyTransparencyProofAndCheckpoint is slow for ten thousand leaves.',
  'getMultipartPreSignedUrls answers the parts in the wrong order.',
  'initialize-multipart-upload should be a POST.',
  'PATCH /attachments/:vaultId/assets/:assetId/finish-upload answers 409 twice in a row.',
  'distributor-charges for 2026-07 show two lines for 2026-07-14T00:00:00.000Z.',
  'The invoice 2026-000123 has the amount 12500000 with scale 6.',
  'Prepaid credit of 1250.00 USD is shown as 1,250 USD.',
  'The order number 1234567890123456789 is too long for the table.',
  'Timestamps like 1753142400000 should be ISO 8601.',
  'Call +49 30 1234567 is not accepted as a phone number.',
  'The certificate chain has 3 entries and the second one expired on 2026-01-31.',
  'Use of RSA-OAEP-256 with a 3072 bit key is refused as too short.',
  'AES-256-GCM, HKDF-SHA-256 and Ed25519 should be named in the reference.',
  'A SHA-256 digest of the plaintext is not part of the checkpoint.',
  'Status 503 with Retry-After: 2 was answered 17 times between 10:00 and 10:05.',
  'p99 is 1200 ms, p50 is 12 ms, at 64 connections.',
  'Antidisestablishmentarianism and internationalization are long words.',
  'Die Datenschutzgrundverordnung verlangt eine Aufbewahrungsfrist fuer Protokolle.',
  'Il manque une route pour lister les groupes de securite.',
  'これはテストです。ボルトの名前を変更できません。',
  'The name 🔐 production cannot be searched.',
  '{"error":{"code":"validation_failed","message":"The request does not match the contract of this route."}}',
  'SELECT count(*) FROM vault_activity_event WHERE action = "vault.read"',
  'DOMAIN_NOT_MANAGED and domain_not_managed are both used in the docs.',
  'A-B-C-D-E-F-G-H-I-J-K-L is a valid vault name.',
  '----------------------------------------------------------------',
  '========================================',
  'x'.repeat(3),
  '',
  'limit=100&page=2&includeLines=true&month=2026-07',
  'The environment variable NEXT_PUBLIC_ANALYTICS_ENDPOINT is exported although it is not marked.',
  'user-key-pair/rotate and vault/public-key do almost the same.',
  'The server logs FST_ERR_CTP_EMPTY_JSON_BODY and webhook_event_type_unknown.',
  'PostgreSQL is found in /usr/lib/postgresql/15/bin only.',
  'Tests are in 400_test/401_test/403_test/404_test of the example.',
  'The reference org_acme/vlt_prod/itm_db/fld_url is not resolved.',
  'see RFC 9110 section 15.5.1 and RFC 6962 section 2.1.2',
]

describe('refuses', () => {
  it.each(SECRETS.map(([kind, text], i) => ({ kind, text, i })))('sample $i as $kind', ({ kind, text }) => {
    expect(findSecret(text)).toBe(kind)
  })

  it('every sample also in the middle of a long text', () => {
    const long = (text: string): string =>
      `${'The route answers slowly. '.repeat(60)}${text}\n${'Nothing else happened. '.repeat(60)}`
    expect(SECRETS.filter(([, text]) => findSecret(long(text)) === undefined)).toEqual([])
  })

  it('998 of 1000 random tokens of 24 characters and more', () => {
    const missed = Array.from({ length: 5000 }, (_, i) =>
      fake(i % 2 === 0 ? 'base62' : 'base64url', 24 + (i % 20), `random ${i}`),
    ).filter((token) => findSecret(`it said ${token}.`) === undefined)
    expect(missed.length).toBeLessThan(10)
  })
})

describe('keeps', () => {
  it.each(ORDINARY.map((text, i) => ({ text, i })))('ordinary sentence $i', ({ text }) => {
    expect(findSecret(text)).toBeUndefined()
  })
})

it('has at least sixty samples on both sides', () => {
  expect(Math.min(SECRETS.length, ORDINARY.length)).toBeGreaterThanOrEqual(60)
})

it('takes no long time for any text of the longest length', () => {
  const hostile = [
    'a://',
    'a:',
    'a@',
    'a.',
    '1 ',
    '4',
    'bearer ',
    'password ',
    'A-',
    '-----BEGIN ',
    'eyJaaaaaaaa.',
  ].map((part) => part.repeat(4000).slice(0, 4000))
  const started = performance.now()
  for (const text of hostile) findSecret(text)
  expect(performance.now() - started).toBeLessThan(1000)
})
