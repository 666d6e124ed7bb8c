/** The operator's wish cannot be fulfilled: what is wrong, and what to do about it. Nothing was changed. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly code: OperatorErrorCode
  readonly nextStep: string
  constructor(code: OperatorErrorCode, message: string, nextStep: string) {
    super(message)
    this.code = code
    this.nextStep = nextStep
  }
}

export type OperatorErrorCode =
  | 'already_set_up'
  | 'archive_damaged'
  | 'archive_exists'
  | 'archive_key_wrong'
  | 'archive_other_version'
  | 'archive_unreadable'
  | 'archive_unwritable'
  | 'database_not_empty'
  | 'log_inconsistent'
  | 'org_ambiguous'
  | 'org_not_found'
  | 'passphrase_short'
  | 'purchase_not_in_review'
  | 'refund_too_large'
  | 'restore_incomplete'
  | 'root_key_in_environment'
  | 'root_key_other'
  | 'root_key_wrong'
  | 'termination_not_in_review'
