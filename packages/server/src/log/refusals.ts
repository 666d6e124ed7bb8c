import type { ErrorCode } from '@strongroom/contract'
import { ProtocolError, type ProtocolErrorCode } from '@strongroom/protocol'
import { ApiError } from '../errors.ts'

// What the protocol refuses, in the API's words. `details.rule` keeps the protocol's own code, so that a client can say exactly
// which rule its change broke; the details of the protocol are public names and hashes.

/** Every rule that is not named here says something about the document itself: `invalid_document`. */
const CODES: Partial<Record<ProtocolErrorCode, ErrorCode>> = {
  bad_signature: 'invalid_signature',
  missing_signature: 'invalid_signature',
  unknown_signer: 'invalid_signature',

  endorser_not_admin: 'signer_not_authorised',
  not_authorised: 'signer_not_authorised',
  signer_not_active: 'signer_not_authorised',
  signer_compromised: 'signer_not_authorised',

  bad_transition: 'log_conflict',
  incomplete_batch: 'incomplete_replacement_batch',
  head_conflict: 'vault_head_conflict',
  rotation_due: 'rotation_due',

  head_mismatch: 'root_mismatch',
  items_mismatch: 'root_mismatch',
  env_mismatch: 'root_mismatch',
  assets_mismatch: 'root_mismatch',
  detail_mismatch: 'root_mismatch',
  duplicate_label: 'root_mismatch',
  asset_mismatch: 'root_mismatch',

  field_swap: 'envelope_rejected',
  aead: 'envelope_rejected',
  padding: 'envelope_rejected',

  unwrapped_key_missing: 'wrapped_key_missing',
  stale_wrapped_dek: 'wrapped_key_missing',
}

/** `bad_transition` is a change that came too late, but for documents that make no act at all: reading again helps only the first. */
const isFormless = ({ code, details }: ProtocolError): boolean =>
  code === 'bad_transition' && ('kind' in details || 'kinds' in details)

/** An item that does not follow its own version, on a head that was compared before: nothing that reading the vault again would help. */
function codeOfItem({ code, details }: ProtocolError): ErrorCode | undefined {
  if (code !== 'head_conflict' || !('itemId' in details)) return undefined
  return details.itemVersion === 1 ? 'id_conflict' : 'invalid_document'
}

function refusalOf(error: ProtocolError): ApiError {
  const code = isFormless(error) ? 'invalid_document' : (codeOfItem(error) ?? CODES[error.code] ?? 'invalid_document')
  return new ApiError(code, { details: { ...error.details, rule: error.code, reason: error.message } })
}

/** Runs what may refuse by a rule of the protocol; the caller of the API gets the refusal, and any other error stays a bug. */
export async function refusing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof ProtocolError ? refusalOf(error) : error
  }
}
