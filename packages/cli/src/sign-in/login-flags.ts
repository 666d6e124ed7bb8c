export interface LoginFlags {
  readonly email: string | undefined
  readonly kit: string | undefined
  readonly 'passphrase-file': string | undefined
  readonly 'device-secret-file': string | undefined
  readonly recover: boolean
  readonly 'recovery-code-file': string | undefined
  readonly 'new-kit': string | undefined
  readonly bundle: string | undefined
}
