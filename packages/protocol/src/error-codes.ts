/**
 * Every way this package refuses (docs/reference/protocol.md section 9.3): what it means, and what a person should do.
 * A code never changes its meaning; the `group` says how a client reacts by default.
 */
export const PROTOCOL_ERRORS = {
  // Form: the bytes are not what the protocol writes.
  malformed: [
    'form',
    'The input is not in the exact form the protocol prescribes.',
    'Treat the sender as broken or hostile; update the client if the server is newer.',
  ],
  limit_exceeded: [
    'form',
    'The input is larger or deeper than the protocol allows.',
    'Split the work; values over 64 KiB belong into attachments.',
  ],

  // Forged or foreign identity.
  genesis_mismatch: [
    'identity',
    'The organisation is not the one that was pinned.',
    'Compare the organisation fingerprint with an administrator before going on.',
  ],
  key_substitution: [
    'identity',
    'A key does not hash to the key id that names it.',
    'Stop. Someone offers a foreign key under a known name; keep the evidence file.',
  ],
  bad_signature: ['identity', 'A signature by a known key does not verify.', 'Stop and keep the evidence file.'],
  missing_signature: [
    'identity',
    'A required signature is absent.',
    'Stop; the document was stripped or never completed.',
  ],
  wrong_type: ['identity', 'A signed document of one kind was offered as another.', 'Stop and keep the evidence file.'],
  endorser_not_admin: [
    'identity',
    'A key was endorsed by someone who was not entitled to endorse it.',
    'Ask a directory administrator to endorse the key again.',
  ],
  unknown_signer: [
    'identity',
    'A signer is not part of the verified directory.',
    'Read again with the full directory; if it persists, stop.',
  ],
  continuity_broken: [
    'identity',
    'A known person or agent appears with a new key that no rotation links to the old one.',
    'Confirm the new key with its owner, then accept it explicitly.',
  ],

  // The server contradicts its own history.
  log_fork: [
    'history',
    'Two different histories were shown for the same log.',
    'Stop; keep both checkpoints as evidence and inform the other members.',
  ],
  log_rollback: [
    'history',
    'The log is shorter than one already seen.',
    'Stop. A restored server needs a signed recovery statement first.',
  ],
  bad_inclusion: [
    'history',
    'A log entry is not included where the server says it is.',
    'Stop and keep the evidence file.',
  ],
  bad_map_proof: ['history', 'A state is not proven by the state map of the log.', 'Stop and keep the evidence file.'],
  missing_consistency: [
    'history',
    'The log grew and the server did not prove that it only grew.',
    'Read again; if it persists, stop.',
  ],
  log_key: [
    'history',
    'The checkpoint is not signed by a pinned log key, or names another log.',
    'Compare the trust anchor with an administrator.',
  ],
  bad_transition: [
    'history',
    'A change breaks a transition rule of the log.',
    'A writer must rebuild its change; an auditor must publish the leaf as evidence.',
  ],

  // Freshness.
  witness_quorum: [
    'freshness',
    'Too few trusted witnesses have cosigned the checkpoint.',
    'Retry; if it persists, ask whether the witnesses are running.',
  ],
  stale_view: [
    'freshness',
    'The newest witnessed checkpoint is too old.',
    'Retry; if it persists, the server may be withholding newer state.',
  ],

  // Old or other vault state.
  vault_rollback: [
    'vault',
    'The vault is older than one already seen.',
    'Stop; a server restored from a backup needs a recovery statement.',
  ],
  vault_fork: [
    'vault',
    'The vault has the version already seen with other content.',
    'Stop and keep the evidence file.',
  ],
  vault_swap: ['vault', 'The answer belongs to another vault.', 'Stop and keep the evidence file.'],
  head_mismatch: ['vault', 'The vault head is not the one the log commits to.', 'Read again; if it persists, stop.'],
  acl_mismatch: ['vault', 'The access list is not the one the log commits to.', 'Read again; if it persists, stop.'],
  admin_chain: [
    'vault',
    'The chain of vault administrators does not lead to the vault’s creation.',
    'Stop and keep the evidence file.',
  ],
  project_mismatch: [
    'vault',
    'The project document is not the one the log commits to, or names other vaults.',
    'Stop and keep the evidence file.',
  ],
  project_rollback: ['vault', 'The project is older than one already seen.', 'Stop and keep the evidence file.'],

  // Content altered.
  items_mismatch: [
    'content',
    'The item list is not exactly what the vault head commits to.',
    'Read again; if it persists, stop.',
  ],
  env_mismatch: [
    'content',
    'The environment fields are not exactly what the vault head commits to.',
    'Read again; if it persists, stop.',
  ],
  assets_mismatch: [
    'content',
    'The attachment list is not exactly what the vault head commits to.',
    'Read again; if it persists, stop.',
  ],
  detail_mismatch: [
    'content',
    'The item detail is not the one its list row commits to.',
    'Read again; if it persists, stop.',
  ],
  item_swap: ['content', 'The answer belongs to another item.', 'Stop and keep the evidence file.'],
  field_swap: [
    'content',
    'The ciphertext is not the one the signed metadata commits to.',
    'Stop and keep the evidence file.',
  ],
  aead: [
    'content',
    'A ciphertext does not open with the verified key in its verified place.',
    'Stop; the value was altered or written by a broken client.',
  ],
  padding: [
    'content',
    'A decrypted value is not padded as the protocol prescribes.',
    'Stop; the value was written by a broken client.',
  ],
  duplicate_label: ['content', 'Two environment fields carry the same label.', 'Rename one of the two fields.'],
  asset_mismatch: [
    'content',
    'An attachment differs in size or hash from its signed checkpoint.',
    'Delete the partial file and download again.',
  ],
  asset_url: [
    'content',
    'The server sends for an attachment to a place that nobody has named.',
    'Name the origin of the object store in the client, if it is yours; otherwise stop.',
  ],

  // Keys of the vault.
  stale_wrapped_dek: ['keys', 'The wrapped key is not the one the log grants.', 'Read again; if it persists, stop.'],
  wrap_context: [
    'keys',
    'A wrapped key was made for another vault, version, recipient or sender.',
    'Stop and keep the evidence file.',
  ],
  dek_commitment: [
    'keys',
    'The unwrapped key is not the one everybody else got.',
    'Stop; the key was injected or the rotation was dishonest.',
  ],
  unwrapped_key_missing: [
    'keys',
    'There is no wrapped key for this key and a needed version.',
    'Ask a vault administrator to grant access again.',
  ],

  // Downgrades.
  alg_downgrade: [
    'downgrade',
    'A format version or algorithm is not one this protocol accepts.',
    'Update the client; never fall back.',
  ],
  weak_key: ['downgrade', 'A public key is too weak or malformed.', 'The owner must make a new key.'],
  kdf_floor: [
    'downgrade',
    'The server asked for weaker passphrase stretching than the client allows.',
    'Stop; no server setting can lower the floor.',
  ],

  // Wrong author.
  signer_not_active: [
    'author',
    'The signer’s key was not active when the object was committed.',
    'A current writer must write the object again.',
  ],
  signer_compromised: [
    'author',
    'The current version was last signed by a key known to be compromised.',
    'Review the content; another writer must sign it again.',
  ],
  not_authorised: ['author', 'The signer had no right to make this change.', 'Ask a vault or directory administrator.'],

  // Duties.
  rotation_due: [
    'duty',
    'A removed or compromised reader still holds the current vault key.',
    'A vault administrator must rotate the vault key.',
  ],

  // Writing.
  head_conflict: [
    'write',
    'The vault changed since it was read.',
    'Rebase the change on the newer head and try again.',
  ],
  rebase_conflict: ['write', 'The same field was changed on both sides.', 'Read again and decide which value to keep.'],
  incomplete_batch: [
    'write',
    'The replacement batch does not cover exactly the live grants of the old key.',
    'List the grants again and rebuild the batch.',
  ],
} as const satisfies Record<string, readonly [group: string, meaning: string, whatToDo: string]>
