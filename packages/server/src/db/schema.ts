import type { Generated, GeneratedAlways } from 'kysely'

// Written from the migrated database by scripts/write-schema.ts. Do not edit.

/** What jsonb holds; stores say which shape it has. */
export type Json = unknown

export interface AgentTable {
  org_id: string
  agent_id: string
  tenant_id: string
  name: string
  description: Generated<string>
  status: string
  permissions: string[]
  vault_id: string | null
  vault_item_id: string | null
  created_by: string
  created_at: Date
  archived_at: Date | null
  expires_at: Date | null
  networks: Generated<string[]>
}

export interface ApiKeyTable {
  org_id: string
  key_id: string
  access_key: string
  secret_hmac: Buffer
  agent_id: string | null
  user_id: string | null
  global_admin: Generated<boolean>
  permissions: Generated<string[]>
  status: string
  created_at: Date
  ended_at: Date | null
}

export interface AttachmentTable {
  org_id: string
  asset_id: string
  asset_version: number
  vault_id: string
  item_id: string
  status: string
  upload_id: string | null
  object_key: string | null
  ciphertext_size: number | null
  ciphertext_hash: string | null
  created_by: string
  created_at: Date
  stored_at: Date | null
}

export interface AttachmentUploadTable {
  org_id: string
  upload_id: string
  vault_id: string
  object_key: string
  storage_id: string
  status: string
  reserved_bytes: Generated<number>
  ciphertext_size: number | null
  ciphertext_hash: string | null
  created_by: string
  created_at: Date
  changed_at: Date
}

export interface AuditEventTable {
  org_id: string
  event_id: string
  seq: GeneratedAlways<number>
  action: string
  occurred_at: Date
  actor_type: string
  actor_id: string
  targets: Generated<Json>
  outcome: string
  error_code: string | null
  request_id: string
  ip: Generated<string>
  user_agent: Generated<string>
  metadata: Generated<Json>
}

export interface AuditHeadTable {
  org_id: string
  position: number
  hash: Buffer
}

export interface AuditSealTable {
  org_id: string
  position: number
  event_id: string
  prev_hash: Buffer
  hash: Buffer
  sealed_at: Date
}

export interface AuditUnsealedTable {
  org_id: string
  seq: number
  event_id: string
  queued_at: Generated<Date>
}

export interface BudgetTable {
  org_id: string
  budget_id: string
  subject_type: string
  subject_id: string
  name: Generated<string>
  enforcement: string
  per_transaction_limit: string | null
  thresholds: number[]
  status: Generated<string>
  version: Generated<number>
  created_by: string
  created_at: Date
}

export interface BudgetHoldTable {
  org_id: string
  owner: string
  budget_id: string
  rule_no: number
  starts_at: Date
  held_at: Date
  amount: string
}

export interface BudgetRefundTable {
  org_id: string
  owner: string
  refund: string
  amount: string
  refunded_at: Date
}

export interface BudgetReservationTable {
  org_id: string
  owner: string
  amount: string
  committed: Generated<string>
  subjects: string[]
  state: string
  held_at: Date
  ended_at: Date | null
}

export interface BudgetRuleTable {
  org_id: string
  budget_id: string
  rule_no: number
  kind: string
  amount: string
  time_zone: Generated<string>
  week_start: number | null
  anchor_day: number | null
  duration: number | null
  starts_at: Date | null
  ends_at: Date | null
  count_from: Date
  is_active: Generated<boolean>
}

export interface BudgetThresholdTable {
  org_id: string
  budget_id: string
  rule_no: number
  starts_at: Date
  threshold: number
  reached_at: Date
}

export interface BudgetWindowTable {
  org_id: string
  budget_id: string
  rule_no: number
  starts_at: Date
  ends_at: Date | null
  reserved: Generated<string>
  spent: Generated<string>
  is_told: Generated<boolean>
}

export interface CatalogueOfferTable {
  slug: string
  offer: Json
  version: Generated<number>
  updated_at: Date
}

export interface ChainAssetTable {
  chain_id: number
  contract: string
  decimals: number
  checked_at: Date
}

export interface ChainBlockTable {
  chain_id: number
  number: number
  hash: string
}

export interface ChainCursorTable {
  chain_id: number
  first_block: number
  next_block: number
  head: number
  version: Generated<number>
  read_at: Date
}

export interface ChargeLineTable {
  org_id: string
  line_id: string
  month: string
  date: string
  instance_id: string
  kind: string
  quantity: number
  amount: string
  corrects_date: string | null
  source: string
  transfer_id: string
  created_at: Date
}

export interface ChargeMonthTable {
  org_id: string
  month: string
  state: string
  version: Generated<number>
  next_at: Date | null
  created_at: Date
  closed_at: Date | null
}

export interface CreditToldTable {
  org_id: string
  told_no: number
}

export interface DnsRecordTable {
  org_id: string
  domain: string
  position: number
  name: string
  type: string
  content: string
  ttl: number
  priority: number | null
  comment: string | null
}

export interface DomainTable {
  org_id: string
  name: string
  managed: boolean
  serial: Generated<number>
  created_by: string
  created_at: Date
}

export interface FeedbackTable {
  org_id: string
  feedback_id: string
  agent_id: string
  category: string
  summary: string
  details: string
  route: string | null
  request_id: string | null
  digest: Buffer
  created_at: Date
}

export interface FundingDepositTable {
  org_id: string
  intent_id: string
  chain_id: number
  tx_hash: string
  ordinal: number
  contract: string
  value: string
  amount: string
  remainder: string
  block_number: number
  block_hash: string
  paid_at: Date
  state: string
  seen_at: Date
  credited_at: Date | null
  round: Generated<number>
  taken: Generated<string>
}

export interface FundingIntentTable {
  org_id: string
  intent_id: string
  address_index: GeneratedAlways<number>
  address: string
  chain_id: number
  symbol: string
  contract: string
  decimals: number
  target: string
  expires_at: Date
  cancelled_at: Date | null
  status: Generated<string>
  exceptions: Generated<string[]>
  version: Generated<number>
  created_by: string
  created_at: Date
}

export interface FundingTransitionTable {
  org_id: string
  intent_id: string
  seq: GeneratedAlways<number>
  object: string
  from_state: string | null
  to_state: string
  cause: string
  occurred_at: Date
}

export interface GroupMemberTable {
  org_id: string
  group_id: string
  user_id: string | null
  agent_id: string | null
}

export interface IdempotencyTable {
  org_id: string
  principal: string
  key_hash: Buffer
  request_hash: Buffer
  status: number | null
  body: Json | null
  created_at: Date
}

export interface InviteTable {
  org_id: string
  invite_id: string
  doc_hash: string
  envelope: Json
  email: string
  user_id: string
  status: string
  acceptance: Json | null
  created_by: string
  created_at: Date
  expires_at: Date
}

export interface LedgerAccountTable {
  org_id: string
  account: string
  no_overdraft: boolean
  dr_posted: Generated<string>
  cr_posted: Generated<string>
  dr_pending: Generated<string>
  cr_pending: Generated<string>
}

export interface LedgerCheckTable {
  org_id: string
  through_seq: Generated<number>
  sums: Generated<Json>
  next_at: Date
  checked_at: Date | null
  differing: Generated<string[]>
}

export interface LedgerTransferTable {
  org_id: string
  transfer_id: string
  seq: GeneratedAlways<number>
  group_id: string
  dr: string
  cr: string
  amount: string
  phase: string
  pending_id: string | null
  code: string
  ref_type: string
  ref_id: string
  posted_after: string
  available_after: string
  created_at: Date
  credit_no: number | null
}

export interface LicenseCallTable {
  org_id: string
  object_id: string
  op: string
  provider: string
  request_digest: string
  state: string
  provider_ref: string | null
  planned_at: Date
  sent_at: Date | null
  ended_at: Date | null
}

export interface LicenseInstanceTable {
  org_id: string
  instance_id: string
  purchase_id: string
  tenant_id: string
  principal: string
  slug: string
  name: string
  provider: string
  sku: string
  term: string
  quantity: number
  amount: string
  instance_ref: string
  status: string
  revision: Generated<number>
  period_start: Date
  period_end: Date | null
  vault_id: string | null
  item_id: string | null
  created_at: Date
  terminated_at: Date | null
}

export interface LicensePeriodTable {
  org_id: string
  instance_id: string
  period_no: number
  starts_at: Date
  ends_at: Date | null
  amount: string
  transfer_id: string
  owner: string
  ended_at: Date | null
  refund: string | null
  refund_id: string | null
  charged_days: Generated<number>
  next_at: Date | null
}

export interface LicensePurchaseTable {
  org_id: string
  purchase_id: string
  instance_id: string
  tenant_id: string
  principal: string
  slug: string
  name: string
  provider: string
  sku: string
  term: string
  quantity: number
  amount: string
  fields: Json
  vault_mode: string
  vault_name: string | null
  vault_id: string | null
  recipient_kid: string
  recipient_key: Json
  subjects: string[]
  state: string
  reason: string | null
  version: Generated<number>
  hold_no: Generated<number>
  money: Generated<string>
  attempts: Generated<number>
  reminders: Generated<number>
  provider_ref: string | null
  instance_ref: string | null
  sealing: string | null
  quote_valid_until: Date
  resumable_until: Date | null
  period_start: Date | null
  period_end: Date | null
  handoff_digest: string | null
  handoff_index: number | null
  handoff_receipt: Json | null
  item_id: string | null
  next_at: Date | null
  lease_until: Date | null
  created_at: Date
  updated_at: Date
  is_test: Generated<boolean>
}

export interface LicenseRenewalTable {
  org_id: string
  renewal_id: string
  instance_id: string
  period_no: number
  starts_at: Date
  amount: string
  state: string
  reason: string | null
  version: Generated<number>
  attempts: Generated<number>
  next_at: Date | null
  lease_until: Date | null
  created_at: Date
  updated_at: Date
}

export interface LicenseSealedTable {
  org_id: string
  purchase_id: string
  envelope: Json
  doc_hash: string
  created_at: Date
}

export interface LicenseTerminationTable {
  org_id: string
  termination_id: string
  instance_id: string
  principal: string
  effective: string
  asked: string
  fallback: string | null
  note: string | null
  state: string
  reason: string | null
  version: Generated<number>
  attempts: Generated<number>
  refundable: string | null
  refund: string | null
  effective_at: Date | null
  earliest_at: Date | null
  next_at: Date | null
  lease_until: Date | null
  created_at: Date
  updated_at: Date
  replaced_by: string | null
}

export interface LicenseTransitionTable {
  org_id: string
  object_id: string
  seq: number
  from_state: string | null
  to_state: string
  cause: string
  actor: string
  at: Date
}

export interface LogCheckpointTable {
  org_id: string
  size: number
  note: string
  created_at: Date
  leaf_index: number
}

export interface LogCosignatureTable {
  org_id: string
  size: number
  vkey: string
  line: string
  signed_at: number
}

export interface LogDocumentTable {
  org_id: string
  doc_hash: string
  kind: string
  envelope: Json
}

export interface LogLeafTable {
  org_id: string
  leaf_index: number
  leaf: Buffer
  updates: Buffer | null
  documents: Buffer | null
  size: number
}

export interface LogNodeTable {
  org_id: string
  level: number
  node_index: number
  hash: Buffer
}

export interface LogStateTable {
  org_id: string
  size: number
  frontier: Generated<string[]>
  map_root: string
  note: Generated<string>
  origin: string
  vkey: string
  last_at: Generated<number>
  cosignatures: Generated<string>
  cosigned: Generated<number>
  restored_at: Date | null
}

export interface LogWitnessTable {
  org_id: string
  vkey: string
  created_at: Date
}

export interface LoginAttemptTable {
  attempt_id: string
  purpose: string
  state: Json
  created_at: Date
  expires_at: Date
}

export interface LoginThrottleTable {
  subject: Buffer
  tokens: number
  at: Date
}

export interface MapNodeTable {
  org_id: string
  path: string
  hash: Buffer
  leaf_key: Buffer | null
  leaf_value: Buffer | null
}

export interface MapStateTable {
  org_id: string
  name: string
  state: Json
  principal: string | null
  kid: string | null
  vault_id: string | null
  is_live: Generated<boolean>
}

export interface MetricMinuteTable {
  org_id: string
  principal: string
  route: string
  minute: Date
  requests: number
  errors: number
  buckets: number[]
}

export interface ObjectOrphanTable {
  object_key: string
  noticed_at: Date
}

export interface OrgTable {
  org_id: string
  name: string
  genesis_hash: string
  log_origin: string
  created_at: Date
}

export interface OrgUserTable {
  org_id: string
  user_id: string
  email: string
  name: string
  status: string
  org_roles: Generated<string[]>
  tenant_id: string
  created_at: Date
}

export interface OutboxEventTable {
  org_id: string
  event_id: string
  seq: GeneratedAlways<number>
  type: string
  body: string
  tenant_id: string | null
  vault_id: string | null
  principal: string | null
  occurred_at: Date
  fanned_out_at: Date | null
  feed_seq: number | null
}

export interface OutboxHeadTable {
  org_id: string
  feed_seq: number
}

export interface OutboxSequenceTable {
  org_id: string
  object_type: string
  object_id: string
  sequence: number
}

export interface PendingKeyTable {
  org_id: string
  kid: string
  endorser: string
  envelope: Json
  created_at: Date
}

export interface ProjectTable {
  org_id: string
  project_id: string
  tenant_id: string
  slug: string
  name: string
  status: string
  vaults: string[]
  project_version: number
  doc_hash: string
  admins_chain: string[]
  created_by: string
  created_at: Date
  updated_at: Date
}

export interface ProjectAccessTable {
  org_id: string
  project_id: string
  principal: string
  role: string
}

export interface RequestEventTable {
  org_id: string
  event_id: string
  occurred_at: Date
  request_id: string
  trace_id: string | null
  method: string
  route: string
  status: number
  error_code: string | null
  duration_ms: number
  bytes_in: number
  bytes_out: number
  principal: string
  access_key: string | null
  tenant_id: string | null
  ip: string
  user_agent: string
}

export interface SecurityGroupTable {
  org_id: string
  group_id: string
  tenant_id: string
  name: string
  created_at: Date
}

export interface ServerSecretTable {
  name: string
  sealed: Buffer
  created_at: Date
}

export interface SessionTable {
  org_id: string
  session_id: string
  token_hash: Buffer
  user_id: string
  device_installation_id: string | null
  user_agent: Generated<string>
  created_at: Date
  last_used_at: Date
  expires_at: Date
  revoked_at: Date | null
}

export interface SetupTokenTable {
  singleton: Generated<boolean>
  token_hash: Buffer
  created_at: Date
  used_at: Date | null
}

export interface SharedItemTable {
  org_id: string
  shared_item_id: string
  created_by: string
  item_id: string | null
  sealed: string | null
  views: Generated<number>
  max_views: number
  expires_at: Date
  created_at: Date
}

export interface TenantTable {
  org_id: string
  tenant_id: string
  parent_id: string | null
  name: string
  status: string
  created_at: Date
}

export interface TenantRoleTable {
  org_id: string
  tenant_id: string
  role: string
  user_id: string | null
  agent_id: string | null
  group_id: string | null
}

export interface UserSecretTable {
  org_id: string
  user_id: string
  opaque_record: string
  kid: string
  bundle_version: number
  kdf: string
  private_bundle: string
  recovery_bundle: string | null
  updated_at: Date
  recovery_version: number | null
  recovery_token_hash: Buffer | null
}

export interface VaultTable {
  org_id: string
  vault_id: string
  tenant_id: string
  name: string
  classification: string
  status: string
  head_version: number
  head_hash: string
  head_index: number
  admins_chain: string[]
  item_count: Generated<number>
  rotation_due: Date | null
  created_by: string
  created_at: Date
  updated_at: Date
}

export interface VaultAccessTable {
  org_id: string
  vault_id: string
  principal: string
  role: string | null
  since_index: number
}

export interface VaultActivityEventTable {
  org_id: string
  seq: GeneratedAlways<number>
  event_id: string
  vault_id: string
  action: string
  actor: string
  subject: Generated<string>
  occurred_at: Date
  request_id: string
}

export interface VaultAssetTable {
  org_id: string
  vault_id: string
  asset_id: string
  asset_version: number
  item_id: string
  status: string
  doc_hash: string
  dek_version: number
  checkpoint: Json
  head_version: number
  changed_index: number
  created_at: Date
}

export interface VaultFieldTable {
  org_id: string
  vault_id: string
  item_id: string
  field_id: string
  label: string
  env: boolean
  ct: string
  dek_version: number
  rev: number
  value: string
}

export interface VaultFieldFormerTable {
  org_id: string
  vault_id: string
  item_id: string
  field_id: string
  ct: string
  dek_version: number
  last_version: number
  value: string
}

export interface VaultGroupTable {
  org_id: string
  vault_group_id: string
  tenant_id: string
  name: string
  created_by: string
  created_at: Date
  updated_at: Date
}

export interface VaultGroupMemberTable {
  org_id: string
  vault_group_id: string
  vault_id: string
}

export interface VaultItemTable {
  org_id: string
  vault_id: string
  item_id: string
  item_version: number
  name: string
  website: string
  status: string
  field_count: number
  detail_hash: string
  detail: Json
  head_version: number
  changed_index: number
  created_at: Date
  updated_at: Date
}

export interface VaultItemAccessTable {
  org_id: string
  item_id: string
  principal: string
  role: string
}

export interface VaultItemFormerTable {
  org_id: string
  vault_id: string
  item_id: string
  item_version: number
  detail: Json
}

export interface VaultItemGoneTable {
  org_id: string
  vault_id: string
  item_id: string
  head_version: number
  changed_index: number
}

export interface VaultTurnTable {
  org_id: string
  vault_id: string
  turn_id: string
  ends_at: Date
}

export interface WebhookAttemptTable {
  org_id: string
  delivery_id: string
  attempt: number
  started_at: Date
  duration_ms: number | null
  url: string
  response_status: number | null
  error: string | null
  lookup_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  wait_ms: number | null
  signed_at: Date | null
  signature: string | null
}

export interface WebhookDeliveryTable {
  org_id: string
  delivery_id: string
  endpoint_id: string
  event_id: string
  type: string
  body: string | null
  synthetic: Generated<boolean>
  state: Generated<string>
  due_at: Date | null
  claims: Generated<number>
  step: Generated<number>
  created_at: Date
  finished_at: Date | null
}

export interface WebhookEndpointTable {
  org_id: string
  endpoint_id: string
  principal: string
  key_id: string | null
  tenant_id: string | null
  url: string
  description: string
  event_types: string[]
  signing: string
  secret: Buffer | null
  old_secret: Buffer | null
  old_secret_until: Date | null
  status: Generated<string>
  disabled_reason: string | null
  disabled_at: Date | null
  failing_since: Date | null
  throttled_until: Date | null
  created_at: Date
  older_secrets: Generated<Buffer[]>
  older_secrets_until: Generated<Date[]>
}

export interface WebhookFeedTable {
  org_id: string
  seq: number
}

export interface WebhookSigningKeyTable {
  org_id: string
  public_key: Buffer
  sealed: Buffer
  created_at: Date
}

export interface Tables {
  agent: AgentTable
  api_key: ApiKeyTable
  attachment: AttachmentTable
  attachment_upload: AttachmentUploadTable
  audit_event: AuditEventTable
  audit_head: AuditHeadTable
  audit_seal: AuditSealTable
  audit_unsealed: AuditUnsealedTable
  budget: BudgetTable
  budget_hold: BudgetHoldTable
  budget_refund: BudgetRefundTable
  budget_reservation: BudgetReservationTable
  budget_rule: BudgetRuleTable
  budget_threshold: BudgetThresholdTable
  budget_window: BudgetWindowTable
  catalogue_offer: CatalogueOfferTable
  chain_asset: ChainAssetTable
  chain_block: ChainBlockTable
  chain_cursor: ChainCursorTable
  charge_line: ChargeLineTable
  charge_month: ChargeMonthTable
  credit_told: CreditToldTable
  dns_record: DnsRecordTable
  domain: DomainTable
  feedback: FeedbackTable
  funding_deposit: FundingDepositTable
  funding_intent: FundingIntentTable
  funding_transition: FundingTransitionTable
  group_member: GroupMemberTable
  idempotency: IdempotencyTable
  invite: InviteTable
  ledger_account: LedgerAccountTable
  ledger_check: LedgerCheckTable
  ledger_transfer: LedgerTransferTable
  license_call: LicenseCallTable
  license_instance: LicenseInstanceTable
  license_period: LicensePeriodTable
  license_purchase: LicensePurchaseTable
  license_renewal: LicenseRenewalTable
  license_sealed: LicenseSealedTable
  license_termination: LicenseTerminationTable
  license_transition: LicenseTransitionTable
  log_checkpoint: LogCheckpointTable
  log_cosignature: LogCosignatureTable
  log_document: LogDocumentTable
  log_leaf: LogLeafTable
  log_node: LogNodeTable
  log_state: LogStateTable
  log_witness: LogWitnessTable
  login_attempt: LoginAttemptTable
  login_throttle: LoginThrottleTable
  map_node: MapNodeTable
  map_state: MapStateTable
  metric_minute: MetricMinuteTable
  object_orphan: ObjectOrphanTable
  org: OrgTable
  org_user: OrgUserTable
  outbox_event: OutboxEventTable
  outbox_head: OutboxHeadTable
  outbox_sequence: OutboxSequenceTable
  pending_key: PendingKeyTable
  project: ProjectTable
  project_access: ProjectAccessTable
  request_event: RequestEventTable
  security_group: SecurityGroupTable
  server_secret: ServerSecretTable
  session: SessionTable
  setup_token: SetupTokenTable
  shared_item: SharedItemTable
  tenant: TenantTable
  tenant_role: TenantRoleTable
  user_secret: UserSecretTable
  vault: VaultTable
  vault_access: VaultAccessTable
  vault_activity_event: VaultActivityEventTable
  vault_asset: VaultAssetTable
  vault_field: VaultFieldTable
  vault_field_former: VaultFieldFormerTable
  vault_group: VaultGroupTable
  vault_group_member: VaultGroupMemberTable
  vault_item: VaultItemTable
  vault_item_access: VaultItemAccessTable
  vault_item_former: VaultItemFormerTable
  vault_item_gone: VaultItemGoneTable
  vault_turn: VaultTurnTable
  webhook_attempt: WebhookAttemptTable
  webhook_delivery: WebhookDeliveryTable
  webhook_endpoint: WebhookEndpointTable
  webhook_feed: WebhookFeedTable
  webhook_signing_key: WebhookSigningKeyTable
}
