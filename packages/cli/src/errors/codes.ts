import { OPERATOR_CODES } from './operator-codes.ts'
import { TASK_CODES } from './task-codes.ts'

// What this program itself refuses with. A code never changes; `strongroom explain CODE` prints `about`.

export interface CodeEntry {
  readonly exitCode: number
  readonly about: string
}

/** Exit codes are part of the interface; under `run` whatever fails before the child starts ends in 125. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  signIn: 3,
  denied: 4,
  notFound: 5,
  invalid: 6,
  unavailable: 7,
  money: 8,
  unverified: 9,
  approval: 10,
  rateLimited: 11,
  partly: 12,
  failedPurchase: 13,
  timeout: 124,
  notStarted: 125,
  notExecutable: 126,
  commandNotFound: 127,
  interrupted: 130,
} as const

export const CLI_CODES = {
  usage: {
    exitCode: EXIT.usage,
    about: 'The command line was not understood: an unknown flag or verb, or a missing argument.',
  },
  unexpected: {
    exitCode: EXIT.unexpected,
    about: 'A mistake in this program. Nothing is known about what it had done; look before you repeat it.',
  },
  not_signed_in: {
    exitCode: EXIT.signIn,
    about:
      'There is no credential: no profile on this machine, no STRONGROOM_BUNDLE in the environment, no systemd credential. A person runs `strongroom login` or `strongroom init`; a process gets the bundle of an agent.',
  },
  session_expired: {
    exitCode: EXIT.signIn,
    about:
      'The session of this profile has ended, and there is nobody to ask for the passphrase. Run `strongroom login`, or give STRONGROOM_PASSPHRASE_FILE.',
  },
  not_confirmed: {
    exitCode: EXIT.signIn,
    about:
      'You have joined with an invite and were never signed in. An administrator has to confirm your key first: `strongroom user endorse EMAIL`. A wrong passphrase is refused alike, since the server does not tell which it is.',
  },
  keys_locked: {
    exitCode: EXIT.signIn,
    about:
      'The keys of this machine are in a file that is sealed with your passphrase, and there is nobody to ask for it. Run a command in a terminal, or give STRONGROOM_PASSPHRASE_FILE.',
  },
  wrong_passphrase: { exitCode: EXIT.signIn, about: 'The passphrase does not open the keys. Nothing was changed.' },
  profile_not_found: {
    exitCode: EXIT.notFound,
    about: 'There is no profile of this name. `strongroom config profiles` lists them.',
  },
  ambiguous_name: {
    exitCode: EXIT.notFound,
    about: 'Several things have this name. The refusal lists their ids; use one of them.',
  },
  principal_not_found: {
    exitCode: EXIT.notFound,
    about: 'No person and no agent you can see has this name, email or id.',
  },
  field_not_found: { exitCode: EXIT.notFound, about: 'The item has no field of this name.' },
  vault_not_found: { exitCode: EXIT.notFound, about: 'There is no vault of this name that you can see.' },
  budget_not_found: {
    exitCode: EXIT.notFound,
    about: 'There is no budget of this id, or none that limits whom you named.',
  },
  record_not_found: {
    exitCode: EXIT.notFound,
    about: 'The domain has no such record. `strongroom domain records` shows them.',
  },
  key_not_found: { exitCode: EXIT.notFound, about: 'There is no such key, or none that counts.' },
  fingerprint_required: {
    exitCode: EXIT.usage,
    about:
      'Which key belongs to a name only the server says. Ask the agent for the fingerprint on its own screen, and sign for that.',
  },
  tenant_not_found: { exitCode: EXIT.notFound, about: 'There is no tenant of this name or id that you can see.' },
  invite_not_accepted: {
    exitCode: EXIT.invalid,
    about: 'There is no accepted invite to sign for: the invitee runs `strongroom init --invite FILE` first.',
  },
  file_not_found: { exitCode: EXIT.notFound, about: 'The item has no file of this name.' },
  file_name_taken: {
    exitCode: EXIT.invalid,
    about: 'The item has a file of this name. `strongroom file put --replace` makes the new one its next version.',
  },
  no_console_in_log: {
    exitCode: EXIT.notFound,
    about:
      'The policy of the organisation names no console. An administrator of the directory signs for one: strongroom verify-console --record.',
  },
  audit_chain_broken: {
    exitCode: EXIT.unverified,
    about:
      'Entries of the audit trail are not those that were sealed, or are gone. Details name the first place and what is wrong there. The API changes no entry: somebody has written to the database, or the server shows something else than it keeps. Keep what you have exported before, and look at the host and its backups.',
  },
  input_too_large: { exitCode: EXIT.invalid, about: 'What was piped in is larger than this command takes.' },
  changed_meanwhile: {
    exitCode: EXIT.invalid,
    about:
      'Something was changed by somebody else while it was read, so what was read does not fit together. Try again.',
  },
  import_unreadable: {
    exitCode: EXIT.invalid,
    about: 'The file is not what the other program exports, or it is encrypted with a key of that program.',
  },
  not_a_repository: {
    exitCode: EXIT.invalid,
    about: 'The folder is no git repository, and --history, --staged and --install-hook need one.',
  },
  git_failed: {
    exitCode: EXIT.invalid,
    about:
      'Git is not installed, or it refused what it was asked; the message has its words. Not everything was looked at.',
  },
  input_required: {
    exitCode: EXIT.usage,
    about:
      'Something has to be asked, but this is no terminal or `--no-input` was given. The message names the flag that answers it.',
  },
  confirmation_required: {
    exitCode: EXIT.usage,
    about: 'The command changes something that does not come back. Give `--yes` where nobody can be asked.',
  },
  cancelled: { exitCode: EXIT.interrupted, about: 'You answered no, or ended the question. Nothing was changed.' },
  plaintext_refused_for_agent: {
    exitCode: EXIT.denied,
    about:
      'A coding agent drives this terminal, so values are not printed: they would stay in its transcript. It can use them with `strongroom run -- COMMAND`. This is a courtesy, not a boundary.',
  },
  timeout: { exitCode: EXIT.timeout, about: 'The time given with --timeout was over before the work was done.' },
  interrupted: { exitCode: EXIT.interrupted, about: 'The command was interrupted.' },
  file_unreadable: { exitCode: EXIT.invalid, about: 'A file could not be read.' },
  file_unwritable: {
    exitCode: EXIT.invalid,
    about: 'A file could not be written. What was there before is unchanged.',
  },
  output_unwritable: {
    exitCode: EXIT.invalid,
    about:
      'Standard output could not be written, such as where a disk is full. What was printed is not whole; what the command changes may be done.',
  },
  config_invalid: {
    exitCode: EXIT.invalid,
    about: 'A configuration file or a variable cannot be understood; the message names the line, or the variable.',
  },
  env_name_refused: {
    exitCode: EXIT.invalid,
    about:
      'A variable has a name that no process should get from a vault, such as PATH, LD_PRELOAD or NODE_OPTIONS, or one that is no name of a variable.',
  },
  env_conflict: {
    exitCode: EXIT.invalid,
    about: 'Two sources give one variable, or the process has it already. `--conflict` says which one wins.',
  },
  env_missing: { exitCode: EXIT.notFound, about: 'A variable that is required is in none of the sources.' },
  command_not_found: {
    exitCode: EXIT.commandNotFound,
    about: 'There is no program of this name on the PATH, or no file at this path. Nothing was started.',
  },
  command_not_executable: {
    exitCode: EXIT.notExecutable,
    about: 'The command is there but is no program that this user may start. Nothing was started.',
  },
  dotenv_invalid: {
    exitCode: EXIT.invalid,
    about:
      'A dotenv file has a line that is not NAME=value, an open quote, or a broken reference; the message names the line.',
  },
  project_file_invalid: {
    exitCode: EXIT.invalid,
    about: 'strongroom.toml has something that is not understood; the message names the line. Nothing was read.',
  },
  source_undecided: {
    exitCode: EXIT.notFound,
    about:
      'Nothing says which variables are wanted, and there is not exactly one vault. Give --vault or --project, write a strongroom.toml, or set the vault of the profile.',
  },
  value_not_expressible: {
    exitCode: EXIT.invalid,
    about:
      'A value cannot be written in this format so that its reader would read exactly the same, such as a line break for docker run --env-file. Nothing was written.',
  },
  mount_failed: {
    exitCode: EXIT.invalid,
    about: 'The pipe that --mount names could not be made, or something is there already. Nothing was started.',
  },
  mask_refused: {
    exitCode: EXIT.denied,
    about:
      'Unmasked output is for a person at a terminal: --mask never is refused without one, and where a coding agent reads along.',
  },
  template_invalid: {
    exitCode: EXIT.invalid,
    about:
      'A template has a reference that cannot be filled in safely where it stands; the message names the line. Nothing was written.',
  },
  command_missing: { exitCode: EXIT.usage, about: 'There is no command after `--`.' },
  server_not_running: {
    exitCode: EXIT.unavailable,
    about: 'There is no server at this address. `strongroom up` starts one on this machine.',
  },
  server_not_ready: {
    exitCode: EXIT.unavailable,
    about:
      'There is a server at this address, and it cannot work now: its database is away, hangs or takes no writes. The log of the server says which, in lines with `database_unavailable`. Starting another server does not help.',
  },
  server_wrong_host: {
    exitCode: EXIT.unavailable,
    about:
      'There is a server at this address, and it does not answer for this name. Whoever runs it adds the name to STRONGROOM_HOSTS; a proxy in front of it has to pass the name on.',
  },
  server_not_installed: {
    exitCode: EXIT.unavailable,
    about: 'The server is a package of its own, and it is not installed beside this program.',
  },
  server_refused: {
    exitCode: EXIT.unavailable,
    about: 'The server could not start and said why: the message and the fix are its own.',
  },
  server_died: {
    exitCode: EXIT.unavailable,
    about: 'The server ended although nobody stopped it. Its last lines are shown; the data is kept.',
  },
  node_too_old: {
    exitCode: EXIT.unavailable,
    about:
      'The server needs Node 24 and this program runs on an older one. A pinned Node is brought from the registry once, which failed here.',
  },
  port_taken: {
    exitCode: EXIT.invalid,
    about: 'Another program listens on this port, and it is no Strongroom server. Choose another one with --port.',
  },
  data_unreachable: {
    exitCode: EXIT.invalid,
    about:
      'Started by root, the database runs as another user, and that user cannot pass through a folder above the data directory.',
  },
  reset_refused: {
    exitCode: EXIT.invalid,
    about: 'The directory holds no data of a server, or a server runs on it. Nothing was deleted.',
  },
  already_set_up: {
    exitCode: EXIT.invalid,
    about:
      'The server has its organisation already. Sign in with `strongroom login`, or join with an invite: `strongroom init --invite FILE`.',
  },
  weak_passphrase: {
    exitCode: EXIT.invalid,
    about:
      'The passphrase is too easy to guess. Take at least 12 characters that are not your name, your email or one repeated pattern; four random words are good.',
  },
  no_wrapped_key: {
    exitCode: EXIT.denied,
    about:
      'You are on the access list of the vault, but its key was not wrapped for the key you use now, for instance because that one is new. An administrator of the vault shares it again.',
  },
  agent_not_found: { exitCode: EXIT.notFound, about: 'There is no agent of this name or id that you can see.' },
  webhook_not_found: {
    exitCode: EXIT.notFound,
    about: 'There is no such webhook endpoint, or it belongs to another key: each key sees its own.',
  },
  license_not_yours: {
    exitCode: EXIT.notFound,
    about: 'You have bought no licence of this name or id. `strongroom license list` shows what you have.',
  },
  bundle_not_here: {
    exitCode: EXIT.notFound,
    about:
      'The bundle of an agent is on the machine where the agent was made, and nowhere else. Print it there, or make new keys.',
  },
  code_not_found: {
    exitCode: EXIT.notFound,
    about: 'There is no such code. The refusal names those that look like it.',
  },
  unhealthy: { exitCode: EXIT.partly, about: 'A check of `strongroom doctor` failed. Each one says how to fix it.' },
  ...OPERATOR_CODES,
  ...TASK_CODES,
} as const satisfies Readonly<Record<string, CodeEntry>>

export type CliCode = keyof typeof CLI_CODES
