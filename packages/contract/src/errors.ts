/** What a code means: its status, the sentence a person reads, and what to do next. A code is for programs and never changes. */
export interface ErrorEntry {
  readonly status: number
  readonly message: string
  readonly hint: string
}

const entry = (status: number, message: string, hint: string): ErrorEntry => ({ status, message, hint })

/** Every code the API can answer with. */
export const ERRORS = {
  // 400: not in the contract's shape
  validation_failed: entry(
    400,
    'The request does not match the contract of this route.',
    'Compare it with the reference at /docs; details name the member.',
  ),
  invalid_json: entry(
    400,
    'The body is not the JSON this route takes.',
    'Send one JSON value without duplicate keys, at most 32 levels deep.',
  ),
  bad_request: entry(400, 'The request is not well-formed HTTP for this API.', 'Use an ordinary HTTP client.'),

  // 401: who are you
  missing_machine_auth: entry(
    401,
    'There is neither an API key nor an access token in the request.',
    'Send X-API-Key, or Authorization: Bearer.',
  ),
  unauthorized: entry(401, 'These credentials are not valid.', 'Log in again, and send one credential only.'),
  missing_api_key: entry(401, 'This route takes an API key only, and there is none.', 'Send X-API-Key.'),
  invalid_api_key: entry(401, 'This API key is not valid.', 'Ask whoever manages the agent for a new key.'),
  invalid_setup_token: entry(
    401,
    'This setup token is not valid or was used before.',
    'Print a new one on the host: strongroom admin setup-token.',
  ),
  login_failed: entry(401, 'User or passphrase are not right.', 'Try again; after some tries wait a minute.'),

  // 403: permission or role
  machine_permission_denied: entry(
    403,
    'This credential lacks the permission the route needs.',
    'Ask an administrator; details name the permission.',
  ),
  role_required: entry(403, 'This needs a role you do not hold.', 'Ask an administrator; details name the role.'),
  cannot_grant: entry(
    403,
    'Nobody can give what they do not hold.',
    'Leave out what details name, or ask somebody who holds it.',
  ),
  agent_principal_required: entry(403, 'Only agents can call this route.', 'Use the API key of an agent.'),
  global_admin_required: entry(
    403,
    'Only keys made by the operator on the host can call this route.',
    'strongroom admin key create --global-admin',
  ),
  key_kind_refused: entry(
    403,
    'This kind of principal cannot call this route.',
    'Use the API key of an agent, or log in.',
  ),
  rotation_requires_old_key: entry(
    403,
    'A key with live grants is only replaced under its own signature.',
    'Sign with the old key too, or ask the directory administrators for a recovery.',
  ),

  // 404: absent or not visible, the same answer
  route_not_found: entry(404, 'There is no such route.', 'See the reference at /docs.'),
  agent_not_found: entry(404, 'There is no such agent, or it is not visible to you.', 'List agents with GET /agent.'),
  user_not_found: entry(404, 'There is no such user, or they are not visible to you.', 'List users first.'),
  tenant_not_found: entry(404, 'There is no such tenant, or it is not visible to you.', 'List tenants first.'),
  group_not_found: entry(404, 'There is no such security group, or it is not visible to you.', 'List groups first.'),
  session_not_found: entry(404, 'There is no such session.', 'List your sessions first.'),
  invite_not_found: entry(404, 'There is no such invite, or it is over.', 'Ask for a new invite.'),
  vault_item_not_found: entry(404, 'There is no such vault item, or it is not visible to you.', 'List items first.'),
  leaf_not_found: entry(404, 'The log has no such entry.', 'Ask for the checkpoint to see its size.'),
  document_not_found: entry(
    404,
    'There is no such document in the log.',
    'Documents are named by the hash of their payload.',
  ),
  wrapped_key_missing: entry(
    404,
    'There is no wrapped key for this key and the needed version.',
    'Ask a vault administrator to grant access again.',
  ),

  // 405, 408, 409: method, time, state
  method_not_allowed: entry(405, 'This route does not know that method.', 'The Allow header names those it knows.'),
  request_timeout: entry(408, 'The request took too long to arrive.', 'Send it again.'),
  already_set_up: entry(409, 'This server has an organisation already.', 'Log in, or ask for an invite.'),
  not_set_up: entry(
    409,
    'This server has no organisation yet.',
    'Set it up with the token it printed at its first start.',
  ),
  agent_archived: entry(409, 'The agent is archived.', 'Make a new agent.'),
  name_taken: entry(409, 'Something of this kind has that name already.', 'Choose another name.'),
  last_owner: entry(
    409,
    'The last owner of an organisation can neither leave nor lose the role.',
    'Give the role to somebody else first.',
  ),
  tenant_cycle: entry(409, 'A tenant cannot lie below itself.', 'Choose another parent.'),
  tenant_archived: entry(409, 'The tenant is archived.', 'Make a new tenant.'),
  tenant_not_empty: entry(
    409,
    'The tenant still has people, agents, groups or tenants in it.',
    'Move or end them first; details count them.',
  ),
  email_taken: entry(
    409,
    'Somebody with this address is here already.',
    'Revoke the older invite, or use another address.',
  ),
  attempt_over: entry(409, 'This attempt is over: it expired, ended, or never was.', 'Begin again.'),
  invite_exists: entry(409, 'This invite was stored before.', 'Make a new one: an invite serves once.'),
  invite_not_accepted: entry(409, 'Nobody has accepted this invite yet.', 'Wait until the invitee has accepted it.'),
  bundle_version_conflict: entry(
    409,
    'The sealed keys were changed meanwhile.',
    'Read them again and repeat the change with the next version.',
  ),
  invite_used: entry(409, 'This invite was accepted already.', 'Ask for a new invite.'),
  idempotency_in_progress: entry(
    409,
    'The first request with this idempotency key is still running.',
    'Wait as Retry-After says and send it again.',
  ),
  log_conflict: entry(409, 'The log moved on while the change was made.', 'Read again and repeat the change.'),
  key_pending_endorsement: entry(
    409,
    'The key is registered and not endorsed yet.',
    'Ask an administrator to endorse it.',
  ),
  incomplete_replacement_batch: entry(
    409,
    'The batch does not replace exactly the live grants of the old key.',
    'List the grants again; details name what is missing and extra.',
  ),
  vault_head_conflict: entry(
    409,
    'The vault changed since it was read.',
    'Rebase the change on the newer head and send it again.',
  ),
  rotation_due: entry(
    409,
    'A former reader still holds the vault key, so nothing else is written.',
    'A vault administrator must rotate the vault key.',
  ),
  id_conflict: entry(
    409,
    'This id was used before in the organisation.',
    'Make a new id, encrypt again and repeat the change.',
  ),

  // 413, 414, 415, 417, 421, 422, 431
  payload_too_large: entry(413, 'The body is larger than this route takes.', 'Split it, or store it as an attachment.'),
  uri_too_long: entry(414, 'The URL is too long.', 'Send fewer or shorter parameters.'),
  unsupported_media_type: entry(
    415,
    'This route takes application/json only.',
    'Set Content-Type: application/json and send no compression.',
  ),
  expectation_failed: entry(417, 'The server does not meet expectations.', 'Leave out the Expect header.'),
  wrong_host: entry(421, 'This server does not answer for that host name.', 'Use its configured address.'),
  idempotency_key_reused: entry(
    422,
    'This idempotency key was used with another request.',
    'Use a new key for a new request.',
  ),
  invalid_document: entry(422, 'A signed document is refused.', 'Details name the rule; update the client.'),
  invalid_signature: entry(422, 'A signature is refused.', 'Sign with the current key of the named signer.'),
  signer_not_authorised: entry(422, 'The signer may not make this change.', 'Ask somebody who holds the authority.'),
  root_mismatch: entry(
    422,
    'A signed root is not that of the content it stands for.',
    'Read again and rebuild the change; update the client if it persists.',
  ),
  envelope_rejected: entry(
    422,
    'An encrypted value is not the one its signed metadata names.',
    'Encrypt again and repeat the change; update the client if it persists.',
  ),
  feedback_contains_secret: entry(
    422,
    'The feedback looks as if it contained a secret, and was not stored.',
    'Remove it and send the rest.',
  ),
  headers_too_large: entry(431, 'The headers are too large.', 'Send fewer or shorter headers.'),

  // 429, 5xx
  rate_limited: entry(429, 'Too many requests.', 'Wait as Retry-After says.'),
  internal_error: entry(500, 'Something broke on our side.', 'Quote the request id to the operator.'),
  not_ready: entry(503, 'The server is not ready.', 'Wait as Retry-After says.'),
  audit_unavailable: entry(
    503,
    'The audit log cannot be written, so nothing is answered.',
    'Wait as Retry-After says; tell the operator.',
  ),
  overloaded: entry(503, 'The server has too much to do.', 'Wait as Retry-After says.'),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS
