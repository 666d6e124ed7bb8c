import type { Item, ItemChange } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'

export interface FieldWishes {
  /** `OLD=NEW` */
  readonly renames: readonly string[]
  readonly env: readonly string[]
  readonly noEnv: readonly string[]
}

type Edit = NonNullable<ItemChange['edit']>[number]

/** One edit for each field that is to change; a field may be named by its old or its new label. */
export function fieldEdits({ fields }: Item, { renames, env, noEnv }: FieldWishes): readonly Edit[] {
  const edits = new Map<string, { fieldId: string; label?: string; isEnvironmentVariable?: boolean }>()
  const editOf = (label: string) => {
    const renamed = [...edits.values()].find((edit) => edit.label === label)
    const field = fields.find((one) => one.label === label)
    const fieldId = renamed?.fieldId ?? field?.fieldId
    if (fieldId === undefined)
      throw new CliError('field_not_found', `there is no field ${label}`, {
        fix: `fields: ${fields.map((one) => one.label).join(', ')}`,
      })
    const edit = edits.get(fieldId) ?? { fieldId }
    edits.set(fieldId, edit)
    return edit
  }
  for (const rename of renames) {
    const at = rename.indexOf('=')
    if (at < 1 || at === rename.length - 1) throw new CliError('usage', '--rename-field is written OLD=NEW')
    editOf(rename.slice(0, at)).label = rename.slice(at + 1)
  }
  for (const label of env) editOf(label).isEnvironmentVariable = true
  for (const label of noEnv) editOf(label).isEnvironmentVariable = false
  return [...edits.values()]
}
