import { ConfigError } from './public-errors.ts'
import type { Receipt } from './receipt.ts'
import { makeRedactor, type Redactor, type RedactorOptions } from './redactor.ts'
import { DISPOSE, type Secret } from './secret.ts'

/** The environment of a vault or project: secrets by name. Prints its names only. */
export interface EnvBundle extends Disposable {
  readonly names: readonly string[]
  /** Of the first vault, in the order of a project; each secret has its own. Absent where there is no secret. */
  readonly receipt: Receipt | undefined
  /** Names that several vaults of a project have; the first vault's counts. */
  readonly duplicates: readonly string[]
  get(name: string): Secret | undefined
  /** The values, in the open. */
  toObject(): Record<string, string>
  /** Sets variables and says which; those that are set already stay unless `overwrite`. */
  applyTo(env: Record<string, string | undefined>, options?: { readonly overwrite?: boolean }): string[]
  /** Masks the values in a stream of text, such as a log. */
  redactor(options?: RedactorOptions): Redactor
}

export interface EnvParts {
  readonly secrets: ReadonlyMap<string, Secret>
  readonly receipt?: Receipt | undefined
  readonly duplicates?: readonly string[]
  /** Where they are from; those of the receipts if absent. */
  readonly vaultIds?: readonly string[]
}

const origins = new WeakMap<EnvBundle, readonly string[]>()
/** The vaults whose changes concern this environment. */
export const vaultIdsOf = (bundle: EnvBundle): readonly string[] => origins.get(bundle) ?? []

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

export function envBundle({ secrets, receipt, duplicates = [], vaultIds }: EnvParts): EnvBundle {
  const names = [...secrets.keys()]
  const shown = (): string => `EnvBundle(${names.join(', ')})`
  const hidden = Object.fromEntries(
    Object.entries({ toString: shown, toJSON: () => ({ names }) }).map(([name, value]) => [
      name,
      { value, enumerable: false },
    ]),
  )
  const bundle = {
    names,
    receipt: receipt ?? secrets.values().next().value?.receipt,
    duplicates,
    get: (name: string) => secrets.get(name),
    toObject: () => Object.fromEntries([...secrets].map(([name, secret]) => [name, secret.reveal()])),
    applyTo: (env: Record<string, string | undefined>, { overwrite = false } = {}) => {
      const set = [...secrets].filter(([name]) => overwrite || env[name] === undefined)
      const values = set.map(([name, secret]) => [name, secret.reveal()] as const)
      const [cut] = values.find(([, value]) => value.includes('\0')) ?? []
      // The system would take what stands before it for the whole.
      if (cut !== undefined)
        throw new ConfigError(`${cut} holds a NUL, which no environment can`, { code: 'value_not_expressible' })
      for (const [name, value] of values) env[name] = value
      return values.map(([name]) => name)
    },
    redactor: (options?: RedactorOptions) =>
      makeRedactor(
        [...secrets].map(([name, secret]) => [name, secret.bytes()] as const),
        options,
      ),
    [DISPOSE]: () => dispose(secrets),
  }
  Object.defineProperties(bundle, { ...hidden, [INSPECT]: { value: shown } })
  origins.set(bundle, vaultIds ?? [...secrets.values()].flatMap((secret) => secret.receipt?.vaultId ?? []))
  return bundle
}

function dispose(secrets: ReadonlyMap<string, Secret>): void {
  for (const secret of secrets.values()) secret[DISPOSE]()
}
