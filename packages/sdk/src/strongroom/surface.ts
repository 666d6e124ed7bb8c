// What every entry point of the package shows, beside its own `Strongroom`.

export type { OnRecovery, RecoveredLog, UnlinkedSigner, Verification } from '../engine/actor.ts'
export type { CacheStore } from '../engine/cache.ts'
export { memoryCache } from '../engine/cache.ts'
export { fieldNow } from '../engine/field-now.ts'
export { memoryTrust, type TrustKeeper } from '../engine/trust.ts'
export { TrustStoreError } from '../engine/trust-failed.ts'
export type {
  Agent,
  Agents,
  CreatedAgent,
  EnrolledAgent,
  MachinePermission,
  NewAgent,
  PendingKey,
  RevokedKey,
  RoleEntry,
  RuntimeKeyRotation,
  SimulatedCall,
  Simulation,
} from './agents.ts'
export type {
  Attachment,
  AttachmentSource,
  Attachments,
  Download,
  UploadedAttachment,
  UploadOptions,
} from './attachments.ts'
export type {
  Balance,
  Billing,
  BudgetChange,
  Budgets,
  CreditTransaction,
  DnsCheck,
  DnsRecords,
  Domains,
  NewBudget,
  Readiness,
} from './billing.ts'
export { type Bundle, formatBundle, parseBundle } from './bundle.ts'
export type { ApiPromise, RequestOptions } from './call.ts'
export type { ChargedMonth, ChargeFilter, Charges, LicenseCharges } from './charges.ts'
export type { EnvBundle } from './env-bundle.ts'
export { nameProblem } from './env-names.ts'
export type { VaultEvent } from './events.ts'
export type { Feedback, FeedbackMessage } from './feedback.ts'
export type { Funding, FundingIntent, FundingWait, NewFunding } from './funding.ts'
export type { PrincipalInfo, TenantContext } from './identity.ts'
export type { Item, ItemChange, ItemSummary, Items, ItemVersion, NewField, NewItem } from './items.ts'
export type {
  Ending,
  LicenseDestination,
  LicenseInstance,
  LicenseOrder,
  Licenses,
  LongRunning,
  Offer,
  Purchase,
  PurchaseState,
  TerminateOptions,
  Termination,
  TerminationState,
  WaitOptions,
} from './licenses.ts'
export type { ActivityEvent, AuditEvent, MetricStats, Monitoring, RequestEvent } from './monitoring.ts'
export type {
  Attempt,
  Files,
  Hooks,
  KeyProvider,
  Logger,
  LogLevel,
  StrongroomOptions,
  VerifyPolicy,
} from './options.ts'
export type { ListParams, Page, PageMeta, PagePromise } from './pages.ts'
export type { AccessEntry, AccessOptions, AccessTarget, Permissions } from './permissions.ts'
export type { Project, ProjectChange, Projects, UnsoundProject } from './projects.ts'
export {
  AbortedError,
  AmbiguousReferenceError,
  AuthenticationError,
  BudgetExceededError,
  ConfigError,
  ConflictError,
  ConnectionError,
  CryptoError,
  DecryptionError,
  IntegrityError,
  type Issue,
  NotCachedError,
  NotFoundError,
  NoWrappedKeyError,
  OutcomeUnknownError,
  PermissionDeniedError,
  ProofInvalidError,
  type RateLimit,
  RateLimitError,
  RollbackError,
  SelfLockoutError,
  ServerError,
  SignatureInvalidError,
  SignerUntrustedError,
  TimeoutError,
  ValidationError,
  VerificationError,
  type VerificationStage,
} from './public-errors.ts'
export type { Receipt } from './receipt.ts'
export { formsOf, makeRedactor, type Redactor, type RedactorOptions } from './redactor.ts'
export { formatRef, type ParsedRef, parseRef } from './refs.ts'
export type { RawRequest } from './request.ts'
export type { RetryPolicy } from './retry.ts'
export { generateRuntimeKey, type RuntimeKey, type RuntimeKeyOptions } from './runtime-keys.ts'
export type { Search, SearchHit, SearchParams } from './search.ts'
export { Secret, type SecretRef } from './secret.ts'
export type { EnvOptions, EnvSource, Secrets, TryResult } from './secrets.ts'
export { StrongroomError } from './strongroom-error.ts'
export type {
  CapsStatement,
  Checkpoint,
  ExposedGrant,
  ExposedItem,
  ExposedKey,
  ExposedVault,
  Exposure,
  KeyCaps,
  LogEntry,
  LoggedQuorums,
  LogMoment,
  NamedConsole,
  PinnedSigner,
  QuorumStatement,
  Quorums,
  SignerChange,
  Transparency,
  VerifyOptions,
  VerifyReport,
  VerifyStep,
} from './transparency.ts'
export type { ResponseMeta } from './transport.ts'
export type {
  AccessRole,
  Classification,
  KeyHolder,
  NewVault,
  RotateVaultKey,
  SyncedVault,
  SyncPayload,
  Unsound,
  Vault,
  Vaults,
} from './vaults.ts'
export type { EnvChange, WatchOptions } from './watch.ts'
export type {
  CreatedWebhook,
  ListenOptions,
  NewWebhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
  WebhookEventType,
  WebhookMessage,
  Webhooks,
} from './webhooks.ts'
export type { Witnesses } from './witness-option.ts'
export type { SetOptions, SetResult } from './write-secret.ts'
