import { parseRef } from '@strongroom/sdk'
import { parseDotenv } from '../dotenv/parse.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Variable } from './manifest.ts'

export const lineInDotenv = (text: string, file: string, name: string): number | undefined =>
  parseDotenv(text, file).find((entry) => entry.name === name)?.line

/** The variables of a dotenv file: values that begin with sr:// are references, everything else is text as it stands. */
export function variablesInDotenv(text: string, file: string): Readonly<Record<string, Variable>> {
  const variables: Record<string, Variable> = {}
  for (const { name, value, line } of parseDotenv(text, file)) {
    if (Object.hasOwn(variables, name))
      throw new CliError('env_conflict', `${file}, line ${line}: ${name} is there twice`, { fix: 'remove one of them' })
    if (value.startsWith('sr://') && parseRef(value) === null)
      throw new CliError('dotenv_invalid', `${file}, line ${line}: ${name} is no reference sr://vault/item/field`)
    variables[name] = value.startsWith('sr://')
      ? { kind: 'ref', ref: value, isRequired: true }
      : { kind: 'text', text: value }
  }
  return variables
}
