import { memoryTrust } from '../engine/trust.ts'
import type { Platform } from './options.ts'

const scope = globalThis as { process?: { env?: Record<string, string | undefined> }; document?: unknown }

/** Wherever there are fetch and WebCrypto: remembers as long as the process lives. */
export const anyPlatform: Platform = {
  isBrowser: scope.document !== undefined,
  env: () => scope.process?.env ?? {},
  trustStore: () => memoryTrust(),
}
