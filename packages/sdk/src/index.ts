export { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts'
export { type DotenvEntry, DotenvError, parseDotenv } from './dotenv.ts'
export { ApiError, TransportError } from './errors.ts'
export { keyWords } from './key-words.ts'
export {
  type LicenseClaims,
  type LicenseProblem,
  LicenseVerificationError,
  type VerifyLicenseOptions,
  verifyLicense,
} from './license-key.ts'
export {
  type Codes,
  connect,
  type FirstPerson,
  type LoginOptions,
  login,
  type Person,
  type Server,
  type SetUpOptions,
  type SigningPerson,
  setUp,
} from './people.ts'
export {
  type Accepted,
  type AcceptOptions,
  acceptInvite,
  endorseInvite,
  type InviteOptions,
  makeUserInvite,
  removeUser,
  type UserInvite,
  type VerifyingClient,
} from './people-invites.ts'
export {
  changePassphrase,
  type OwnSecrets,
  type PreparedRotation,
  prepareRotation,
  type RecoverOptions,
  type Rotation,
  recover,
  renewRecoveryCode,
  rotateUserKey,
} from './people-keys.ts'
export {
  countersignRecovery,
  makeRecoveryStatement,
  type RecoveryTerms,
  type RestoredLog,
  restoredLog,
  sendRecovery,
} from './people-recovery.ts'
export type { IssuerKey } from './provisioner.ts'
export { AnyStrongroom as Strongroom } from './strongroom/strongroom-any.ts'
export * from './strongroom/surface.ts'
export { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts'
