import type { TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from './errors.ts'
import { type Access, API_PREFIX, type Route, type Routes } from './route.ts'

// Contract → OpenAPI 3.1. Shapes already are JSON Schema, so nothing is described a second time.

const CREDENTIAL_ERRORS: readonly ErrorCode[] = [
  'missing_machine_auth',
  'unauthorized',
  'invalid_api_key',
  'agent_expired',
  'network_not_allowed',
]

/** The refusals every route of its kind can answer with. */
export function commonErrors({ access, method, query, apiKeyOnly }: Route): readonly ErrorCode[] {
  // Also where a route takes nothing: a member too many is refused.
  const known: ErrorCode[] = [
    'rate_limited',
    'internal_error',
    'not_ready',
    'overloaded',
    'wrong_host',
    'validation_failed',
  ]
  if (access.kind === 'setup') known.push('invalid_setup_token')
  else if (access.kind !== 'public') known.push(...CREDENTIAL_ERRORS)
  if (access.kind === 'permission' || access.kind === 'global-admin' || (access.kind === 'agent' && access.permission))
    known.push('machine_permission_denied')
  if (access.kind === 'permission' && access.tenantRole) known.push('role_required')
  if (access.kind === 'agent') known.push('agent_principal_required')
  if (access.kind === 'global-admin') known.push('global_admin_required')
  if (access.kind === 'user') known.push('key_kind_refused', ...(access.anyOf ? (['role_required'] as const) : []))
  if (apiKeyOnly) known.push('missing_api_key')
  if (query?.properties.page) known.push('list_too_long')
  // Reads of secrets are recorded like writes.
  if (method !== 'GET' || (access.kind !== 'public' && access.kind !== 'setup')) known.push('audit_unavailable')
  if (method !== 'GET') known.push('invalid_json', 'payload_too_large', 'unsupported_media_type')
  if (method !== 'GET' && access.kind !== 'public' && access.kind !== 'setup')
    known.push('idempotency_in_progress', 'idempotency_key_reused', 'recovery_required')
  return known
}

/** Every refusal of a route, its own first. */
export const errorsOf = (route: Route): readonly ErrorCode[] => [
  ...new Set([...(route.errors ?? []), ...commonErrors(route)]),
]

/** Who may call a route, as a sentence. */
export function describeAccess(access: Access): string {
  switch (access.kind) {
    case 'public':
      return 'Nobody needs to be known.'
    case 'setup':
      return 'The one-time setup token in X-Setup-Token.'
    case 'principal':
      return 'Any valid API key or access token.'
    case 'permission':
      return `Permission ${access.permission}${access.tenantRole ? ` and the role ${access.tenantRole} in the session’s tenant` : ''}.`
    case 'agent':
      return `The API key of an agent${access.permission ? ` with ${access.permission}` : ''}.`
    case 'global-admin':
      return `A key made by the operator on the host, with ${access.permission}.`
    case 'user':
      return access.anyOf
        ? `A person’s access token with one of ${access.anyOf.join(', ')}.`
        : 'A person’s access token.'
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

function parameters(route: Route): object[] {
  const of = (where: 'path' | 'query', schema: ObjectSchema | undefined): object[] =>
    Object.entries(schema?.properties ?? {}).map(([name, member]) => ({
      name,
      in: where,
      required: where === 'path' || (schema?.required ?? []).includes(name),
      schema: member,
    }))
  const idempotency = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 255 },
    description: 'Same key and body: the stored answer.',
  }
  return [
    ...of('path', route.params as ObjectSchema | undefined),
    ...of('query', route.query as ObjectSchema | undefined),
    ...(route.method === 'GET' ? [] : [idempotency]),
  ]
}

function refusals(route: Route): Record<string, object> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(route))
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  )
}

const security = ({ access }: Route): object[] => {
  if (access.kind === 'public') return []
  if (access.kind === 'setup') return [{ setupToken: [] }]
  if (access.kind === 'user') return [{ accessToken: [] }]
  if (access.kind === 'agent' || access.kind === 'global-admin') return [{ apiKey: [] }]
  return [{ apiKey: [] }, { accessToken: [] }]
}

const operation = (group: string, name: string, route: Route): object => ({
  operationId: `${group}.${name}`,
  tags: [group],
  summary: route.summary,
  description: describeAccess(route.access),
  parameters: parameters(route),
  security: security(route),
  ...(route.body && { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }),
  responses: {
    [String(route.status ?? 200)]: {
      description: 'Done.',
      content: { 'application/json': { schema: route.response } },
    },
    ...refusals(route),
  },
})

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS) },
        message: { type: 'string' },
        requestId: { type: 'string' },
        details: {},
        hint: { type: 'string' },
        docs: { type: 'string' },
      },
    },
  },
} as const

export function describeApi(api: Readonly<Record<string, Routes>>, version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [group, routes] of Object.entries(api)) {
    for (const [name, route] of Object.entries(routes)) {
      const path = (API_PREFIX[route.api] + route.path).replace(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(group, name, route) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Strongroom',
      version,
      description:
        'A secrets vault whose server cannot read the secrets. Values are encrypted and verified on the client.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        accessToken: { type: 'http', scheme: 'bearer' },
        setupToken: { type: 'apiKey', in: 'header', name: 'X-Setup-Token' },
      },
    },
  }
}
