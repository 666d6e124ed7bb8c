import { PermissionDeniedError } from '@strongroom/sdk'
import { subjectNames } from '../budgets/subject.ts'
import type { Cli } from '../cli.ts'

// What money moved for, by name: a licence, or whom a budget limits. Whatever is none of these, or is not shown to the caller, keeps its id.

const unlessRefused = async <T>(asked: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof PermissionDeniedError) return []
    throw error
  }
}

async function licenseNames(cli: Cli): Promise<readonly (readonly [string, string])[]> {
  const { licenses } = await cli.strongroom()
  const all = await unlessRefused(licenses.list({}, { signal: cli.signal }).all())
  return all.flatMap(({ licenseInstanceId, purchaseId, name }) => [
    [licenseInstanceId, name] as const,
    [purchaseId, name] as const,
  ])
}

async function budgetNames(cli: Cli): Promise<readonly (readonly [string, string])[]> {
  const { budgets } = await cli.strongroom()
  const all = await unlessRefused(budgets.list({}, { signal: cli.signal }).all())
  const { shown } = await subjectNames(cli, all)
  return all.map((budget) => [budget.budgetId, `budget of ${shown(budget)}`] as const)
}

/** For these ids; asks only for what there is among them. */
export async function commerceNames(cli: Cli, ids: readonly string[]): Promise<(id: string) => string> {
  const has = (...kinds: readonly string[]): boolean => ids.some((id) => kinds.some((kind) => id.startsWith(kind)))
  const names = new Map([
    ...(has('lic_', 'pur_') ? await licenseNames(cli) : []),
    ...(has('bud_') ? await budgetNames(cli) : []),
  ])
  return (id) => names.get(id) ?? id
}
