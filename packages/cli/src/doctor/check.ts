import type { Cli } from '../cli.ts'
import { shownError } from '../errors/shown.ts'

// One thing that is looked at. A check never throws: what it met is its result.

export interface Checked {
  readonly name: string
  readonly state: 'ok' | 'failed' | 'skipped'
  readonly detail: string
  readonly code?: string
  readonly fix?: string
}

export interface Check {
  readonly name: string
  /** The detail of a success; throws what is wrong. */
  look(cli: Cli): Promise<string | Checked | readonly Checked[]>
}

export const skipped = (name: string, detail: string): Checked => ({ name, state: 'skipped', detail })

export function failedWith(name: string, error: unknown): Checked {
  const { code, message, hint } = shownError(error)
  return { name, state: 'failed', detail: message, code, ...(hint !== undefined && { fix: hint }) }
}

export async function look(cli: Cli, { name, look: work }: Check): Promise<readonly Checked[]> {
  try {
    const found = await work(cli)
    if (typeof found === 'string') return [{ name, state: 'ok', detail: found }]
    return Array.isArray(found) ? (found as readonly Checked[]) : [found as Checked]
  } catch (error) {
    return [failedWith(name, error)]
  }
}
