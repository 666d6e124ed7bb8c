import { CliError } from '../errors/cli-error.ts'

// A dot path on the JSON that is printed, so that nobody needs another program for it: `data[].name`, `data[0].vaultId`, `meta.total`.

type Step = { readonly member: string } | { readonly index: number } | 'each'

function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  const parts = /(?:^|\.)([^.[\]]+)|\[(\d*)\]/gy
  while (parts.lastIndex < path.length) {
    const match = parts.exec(path)
    if (!match)
      throw new CliError('usage', '--pick does not name a part of JSON', { fix: "write it like 'data[].name'" })
    const [, member, index] = match
    if (member !== undefined) steps.push({ member })
    else steps.push(index === '' || index === undefined ? 'each' : { index: Number(index) })
  }
  return steps
}

function walk(value: unknown, [step, ...rest]: readonly Step[]): unknown[] {
  if (step === undefined) return [value]
  if (step === 'each') return Array.isArray(value) ? value.flatMap((one) => walk(one, rest)) : []
  if ('index' in step) return Array.isArray(value) && step.index < value.length ? walk(value[step.index], rest) : []
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step.member)
  return isThere ? walk((value as Record<string, unknown>)[step.member], rest) : []
}

/** A line for each thing found: text bare, everything else as JSON. */
export function pick(document: unknown, path: string): string {
  const found = walk(document, stepsOf(path))
  if (found.length === 0 && !path.includes('[]'))
    throw new CliError('usage', `there is no ${path} in the answer`, { fix: 'look at it with --json' })
  return found.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
}
