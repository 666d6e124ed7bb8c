import type { CodeEntry } from './codes.ts'

// What the operator's commands refuse with, beside the server or without it.

const INVALID = 6
const NOT_FOUND = 5
const UNVERIFIED = 9

export const OPERATOR_CODES = {
  no_data_here: {
    exitCode: NOT_FOUND,
    about: 'The directory holds no data of a server, and DATABASE_URL is not set. Nothing was made there.',
  },
  data_directory_in_use: {
    exitCode: INVALID,
    about:
      'A server runs on this data directory, and an embedded database belongs to one process. Stop it, do what you want to do, start it again. A PostgreSQL of your own can be worked on while servers run.',
  },
  data_not_empty: {
    exitCode: INVALID,
    about:
      'A restore goes into an empty directory, and there is a database in this one. Nothing was changed. Where only a restore that was cut off has been, the next one goes on by itself.',
  },
  migrations_waiting: {
    exitCode: INVALID,
    about:
      'The data is of an older version than this program. Nothing was migrated: make the backup with the version the data belongs to, then start the new one.',
  },
  archive_exists: {
    exitCode: INVALID,
    about: 'There is a file of this name already. A backup is not written over it.',
  },
  archive_unwritable: {
    exitCode: INVALID,
    about:
      'The backup cannot be written where it was wanted: no such folder, no room, or not yours. Nothing was left there.',
  },
  archive_unreadable: { exitCode: INVALID, about: 'The file is no backup that this version can read.' },
  archive_damaged: {
    exitCode: UNVERIFIED,
    about: 'The backup was changed, damaged or cut off. Nothing was restored; use another copy of it.',
  },
  archive_key_wrong: {
    exitCode: INVALID,
    about: 'The backup is locked with another passphrase or another root key. Nothing was restored.',
  },
  archive_other_version: {
    exitCode: INVALID,
    about: 'The backup was made by another version. Restore it with that version, then upgrade.',
  },
  restore_incomplete: {
    exitCode: UNVERIFIED,
    about: 'The backup does not hold what it says of itself. Nothing was restored; use another copy of it.',
  },
  database_not_empty: {
    exitCode: INVALID,
    about: 'A restore goes into an empty database, and this one holds an organisation. Nothing was changed.',
  },
  log_inconsistent: {
    exitCode: UNVERIFIED,
    about: 'The log in the database does not have the root that was signed. Do not go on with this database.',
  },
  org_not_found: { exitCode: NOT_FOUND, about: 'There is no organisation of this name or id on the server.' },
  org_ambiguous: { exitCode: NOT_FOUND, about: 'The server has several organisations. Name one by its id.' },
  purchase_not_in_review: {
    exitCode: NOT_FOUND,
    about:
      'No purchase with this id waits for a decision of the operator. `strongroom admin license-review list` shows them.',
  },
  termination_not_in_review: {
    exitCode: NOT_FOUND,
    about:
      'No termination with this id waits for a decision of the operator. `strongroom admin license-review list` shows them.',
  },
  refund_too_large: {
    exitCode: INVALID,
    about: 'More would come back than was paid for the licence. Nothing was changed.',
  },
  global_admin_key_not_found: { exitCode: NOT_FOUND, about: 'No global-admin key with this access key works.' },
  passphrase_short: { exitCode: INVALID, about: 'A passphrase of less than 12 characters protects nothing.' },
  no_recovery_due: {
    exitCode: INVALID,
    about: 'There is nothing to state: the log was not restored, or its recovery was stated already.',
  },
  already_signed: { exitCode: INVALID, about: 'The statement has your signature already, and it counts once.' },
  signatures_missing: {
    exitCode: INVALID,
    about: 'The statement needs the signatures of more administrators before it is sent.',
  },
  root_key_wrong: {
    exitCode: INVALID,
    about: 'The root key does not open the secrets of the server. Give the one the server last ran with.',
  },
  root_key_other: {
    exitCode: INVALID,
    about: 'The data directory has another root key than the one that was given. Nothing was restored.',
  },
  root_key_missing: {
    exitCode: INVALID,
    about:
      'The secrets of the server are there, and the root key that opens them is not. Put its file back; none was made.',
  },
  root_key_in_environment: {
    exitCode: INVALID,
    about: 'The root key is in STRONGROOM_ROOT_KEY. Say with --out where the new one goes, and set it there yourself.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
