import type {
  AcceptOptions,
  Codes,
  LoginOptions,
  OwnSecrets,
  RecoverOptions,
  Server,
  SetUpOptions,
} from '@strongroom/sdk'
import workerUrl from './keys.worker.ts?worker&url'
import { workerAddress } from './worker-url.ts'

/** Somebody whose keys are open, as plain data: the worker that opened them is gone. */
export interface OpenedPerson {
  readonly accessToken: string
  readonly expiresAt: string
  readonly orgId: string
  readonly userId: string
  readonly email: string
  /** PEM. Lives in the memory of the open tabs and of the keeper they share, until one of them is locked. */
  readonly privateKey: string
  readonly trustAnchor: string
  readonly kdf: string
}

/** Somebody who is signed in, and proves their passphrase once more. */
interface Proof {
  readonly person: OpenedPerson
  readonly server: Server
  readonly own: OwnSecrets
}

export type KeyQuestion =
  | { readonly kind: 'set-up'; readonly options: SetUpOptions }
  | { readonly kind: 'log-in'; readonly options: LoginOptions }
  | { readonly kind: 'recover'; readonly options: RecoverOptions }
  | { readonly kind: 'join'; readonly options: AcceptOptions }
  | { readonly kind: 'make-keys'; readonly bits?: 3072 | 4096 }
  | ({ readonly kind: 'change-passphrase'; readonly newPassphrase: string } & Proof)
  | ({ readonly kind: 'renew-recovery-code' } & Proof)
  | ({ readonly kind: 'prepare-rotation' } & Proof)

/** New keys of a person, sealed for the server and not yet sent: what comes with the signed change. */
export interface PreparedKeys {
  /** PEM. */
  readonly privateKey: string
  readonly recoveryCode: string
  readonly sealed: {
    readonly bundleVersion: number
    readonly privateBundle: string
    readonly recovery?: { readonly bundle: string; readonly token: string } | undefined
  }
}

export interface KeyAnswer {
  readonly person?: OpenedPerson
  readonly codes?: Codes
  readonly pem?: string
  readonly recoveryCode?: string
  readonly prepared?: PreparedKeys
  /** Accepted an invite; an administrator still has to confirm the key. */
  readonly joined?: { readonly email: string; readonly trustAnchor: string; readonly kid: string }
}

export interface Refusal {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** What the worker refused, with the code the server or the protocol gave. */
export class KeyError extends Error {
  readonly code: string
  readonly hint: string | undefined
  constructor({ code, message, hint }: Refusal) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** Asks a worker of its own, which is ended with the answer and its memory with it. */
export function askKeys(question: KeyQuestion): Promise<KeyAnswer> {
  const worker = new Worker(workerAddress(workerUrl), { type: 'module' })
  return new Promise<KeyAnswer>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<{ given?: KeyAnswer; refused?: Refusal }>) =>
      data.given ? resolve(data.given) : reject(new KeyError(data.refused as Refusal))
    worker.onerror = () =>
      reject(new KeyError({ code: 'worker_ended', message: 'the part of this page that makes keys was ended' }))
    worker.postMessage(question)
  }).finally(() => worker.terminate())
}
