import { CLI_CODES, type CodeEntry, EXIT } from './codes.ts'
import { SDK_CODES } from './sdk-codes.ts'
import { exitOfStatus } from './shown.ts'

// Every code that can be met: of this program, of the API, of the protocol.

export interface Explained {
  readonly code: string
  readonly from: readonly ('program' | 'api' | 'protocol')[]
  readonly meaning: string
  readonly next?: string
  readonly status?: number
  readonly exitCode: number
}

export async function everyCode(): Promise<ReadonlyMap<string, Explained>> {
  const { ERRORS } = await import('@strongroom/contract')
  const { PROTOCOL_ERRORS } = await import('@strongroom/protocol')
  const found = new Map<string, Explained>()
  const add = (one: Explained): void => {
    const before = found.get(one.code)
    found.set(one.code, before ? { ...one, ...before, from: [...before.from, ...one.from] } : one)
  }
  for (const [code, { exitCode, about }] of Object.entries({ ...SDK_CODES, ...CLI_CODES } as Record<string, CodeEntry>))
    add({ code, from: ['program'], meaning: about, exitCode })
  for (const [code, { status, message, hint }] of Object.entries(ERRORS))
    add({ code, from: ['api'], meaning: message, next: hint, status, exitCode: exitOfStatus(status) })
  for (const [code, [group, meaning, next]] of Object.entries(PROTOCOL_ERRORS))
    add({ code, from: ['protocol'], meaning, next, exitCode: group === 'form' ? EXIT.invalid : EXIT.unverified })
  return found
}
