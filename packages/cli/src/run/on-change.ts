import { constants } from 'node:os'
import { CliError } from '../errors/cli-error.ts'

export type OnChange =
  | { readonly kind: 'restart' }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'exec'; readonly command: string }

export function onChangeOf(given: string | undefined): OnChange {
  if (given === undefined || given === 'restart') return { kind: 'restart' }
  if (given.startsWith('exec:') && given.length > 'exec:'.length) return { kind: 'exec', command: given.slice(5) }
  if (Object.hasOwn(constants.signals, given)) return { kind: 'signal', signal: given as NodeJS.Signals }
  throw new CliError('usage', '--on-change is not understood', { fix: 'write restart, SIGHUP or exec:COMMAND' })
}
