import { COMMERCE_ERRORS } from './errors-commerce.ts'

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
    'Compare it with the reference at /docs/api; details name the member.',
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
  agent_expired: entry(
    401,
    'This agent has expired: its keys are valid, and its time is over.',
    'Ask whoever manages the agent to move its expiry: strongroom agent update NAME --expires 30d.',
  ),
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
  network_not_allowed: entry(
    403,
    'This agent may not be used from the address this request came from.',
    'Ask from one of the networks of the agent, or have this one added; details name the address.',
  ),
  agent_principal_required: entry(403, 'Only agents can call this route.', 'Use the API key of an agent.'),
  global_admin_required: entry(
    403,
    'Only keys made by the operator on the host can call this route.',
    'Make one on the host: strongroom admin global-admin-key create --out FILE.',
  ),
  key_kind_refused: entry(
    403,
    'This kind of principal cannot call this route.',
    'Use the API key of an agent, or log in.',
  ),
  vault_access_denied: entry(
    403,
    'Your entry on the access list of the vault does not allow this.',
    'Ask an administrator of the vault; details name the role it takes.',
  ),
  project_access_denied: entry(
    403,
    'Your entry on the access list of the project does not allow this.',
    'Ask an administrator of the project; details name the role it takes.',
  ),
  project_access_incomplete: entry(
    403,
    'The project has vaults that you are not on the access list of, so there is no whole environment for you.',
    'Ask the administrators of its vaults for access; details say how many are missing.',
  ),
  signed_url_refused: entry(
    403,
    'This address is altered, out of time, or not for this request.',
    'Ask for a new one, and send exactly what it was given for.',
  ),
  rotation_requires_old_key: entry(
    403,
    'A key with live grants is only replaced under its own signature.',
    'Sign with the old key too, or ask the directory administrators for a recovery.',
  ),

  // 404: absent or not visible, the same answer
  route_not_found: entry(404, 'There is no such route.', 'See the reference at /docs/api.'),
  agent_not_found: entry(404, 'There is no such agent, or it is not visible to you.', 'List agents with GET /agent.'),
  user_not_found: entry(404, 'There is no such user, or they are not visible to you.', 'List users first.'),
  tenant_not_found: entry(404, 'There is no such tenant, or it is not visible to you.', 'List tenants first.'),
  group_not_found: entry(404, 'There is no such security group, or it is not visible to you.', 'List groups first.'),
  session_not_found: entry(404, 'There is no such session.', 'List your sessions first.'),
  invite_not_found: entry(404, 'There is no such invite, or it is over.', 'Ask for a new invite.'),
  vault_not_found: entry(
    404,
    'There is no such vault, or you are not on its access list.',
    'List vaults with GET /vault.',
  ),
  project_not_found: entry(
    404,
    'There is no such project, or you are not on its access list.',
    'List projects with GET /project.',
  ),
  vault_group_not_found: entry(
    404,
    'There is no such vault group in your tenant.',
    'List vault groups with GET /vault-group.',
  ),
  shared_item_not_found: entry(
    404,
    'There is nothing under this link: it never was, has expired, was withdrawn, or was seen as often as it may be.',
    'Ask whoever sent it for a new link.',
  ),
  field_not_found: entry(404, 'There is no such field, or it is not visible to you.', 'List items first.'),
  vault_item_not_found: entry(404, 'There is no such vault item, or it is not visible to you.', 'List items first.'),
  item_version_not_found: entry(
    404,
    'This version of the item is not kept: it never was, or it is too old, or its vault key was retired.',
    'List the versions of the item first.',
  ),
  attachment_not_found: entry(
    404,
    'There is no such attachment, or it is not visible to you.',
    'List items of the vault: the answer names their attachments.',
  ),
  upload_not_found: entry(404, 'There is no such upload of yours, or it is over.', 'Start a new upload.'),
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
  quorum_unreachable: entry(
    409,
    'There would be too few administrators to sign.',
    'Name another administrator of the directory, or lower the quorum, first.',
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
  recovery_required: entry(
    409,
    'The server was restored from a backup. Until the directory administrators have signed that, nothing is changed.',
    'Reading goes on. An administrator makes the recovery statement: /docs/how-to/back-up-and-restore, “After a restore”.',
  ),
  recovery_not_due: entry(
    409,
    'The log was not restored, or its recovery was stated already.',
    'Nothing has to be recovered; read again.',
  ),
  recovery_not_found: entry(404, 'There is no recovery at this leaf.', 'GET /transparency/recovery lists them.'),
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
  self_lockout: entry(
    409,
    'The list no longer names you as ADMIN.',
    'Keep your own entry, or say allowSelfRemoval=true if you mean it.',
  ),
  last_admin: entry(409, 'Somebody has to stay ADMIN.', 'Make somebody else ADMIN in the same list.'),
  etag_mismatch: entry(409, 'The list was changed since it was read.', 'Read it again and repeat the change.'),
  slug_taken: entry(409, 'An active project has this slug already.', 'Choose another slug and sign again.'),
  project_conflict: entry(
    409,
    'The project changed since it was read.',
    'Details bring the project as it is now: verify it, repeat the change on top of it, and sign again.',
  ),
  project_archived: entry(409, 'The project is archived.', 'Nothing changes in it any more; make a new project.'),
  vault_archived: entry(
    409,
    'The vault is archived.',
    'Nothing changes in it until an administrator of the vault restores it.',
  ),
  vault_not_archived: entry(409, 'The vault is active.', 'There is nothing to restore.'),
  item_archived: entry(409, 'The item is archived already.', 'There is nothing to archive; restore it to change it.'),
  rotation_due: entry(
    409,
    'A former reader still holds the vault key, so nothing else is written.',
    'A vault administrator must rotate the vault key.',
  ),
  attachment_stored: entry(
    409,
    'This version of the attachment is stored already.',
    'Read the vault again; a change of the content is the next version.',
  ),
  attachment_version_conflict: entry(
    409,
    'The attachment has another version by now, or belongs to another item.',
    'Read the vault again; details name the version that comes next.',
  ),
  attachment_quota_exceeded: entry(
    409,
    'There is not enough room for attachments.',
    'Details name the limit and what is used; remove attachments, or ask the operator for more.',
  ),
  upload_finalized: entry(409, 'The upload is finalized: its parts are what they are.', 'Start a new upload.'),
  upload_not_finalized: entry(409, 'The upload is not finalized yet.', 'Finalize it, then send the commit again.'),
  upload_being_read: entry(
    409,
    'The parts are together and still being read and compared.',
    'Wait as Retry-After says and send the request again.',
  ),
  id_conflict: entry(
    409,
    'This id was used before in the organisation.',
    'Make a new id, encrypt again and repeat the change.',
  ),

  // 413, 414, 415, 417, 421, 422, 431
  payload_too_large: entry(413, 'The body is larger than this route takes.', 'Split it, or store it as an attachment.'),
  attachment_too_large: entry(
    413,
    'The attachment is larger than this server takes.',
    'Details name the limit; the operator can raise it.',
  ),
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
    'Use a new key for a new request. A change that is signed anew is a new request: look whether the first was made.',
  ),
  invalid_document: entry(422, 'A signed document is refused.', 'Details name the rule; update the client.'),
  witness_not_registered: entry(
    422,
    'A cosignature is by no witness of this organisation.',
    'An owner or admin registers its verifier key: PUT /platform/directory/witnesses.',
  ),
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
  upload_parts_refused: entry(
    422,
    'Parts are missing, or are not what was sent.',
    'Details name the parts; send them again, then finalize again.',
  ),
  upload_spoiled: entry(422, 'What lies in storage is not what was sent, and was thrown away.', 'Start a new upload.'),
  attachment_mismatch: entry(
    422,
    'The signed checkpoint is of other content than was uploaded.',
    'Details name what differs; sign what was uploaded, or upload again.',
  ),
  list_too_long: entry(
    422,
    'The list is too long to be answered at once.',
    'Ask for pages: page=1&limit=100; details name the most rows one answer has.',
  ),
  wider_than_vault: entry(
    422,
    'An item cannot be shown to more people, or with more rights, than its vault.',
    'Leave out what details name, or change the access list of the vault.',
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

  ...COMMERCE_ERRORS,
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS
