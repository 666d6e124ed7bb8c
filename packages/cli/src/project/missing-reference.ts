import { shellLine } from '@strongroom/contract'
import type { EnvBundle, EnvSource, NotFoundError, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { type Freshness, readPart } from './freshness.ts'
import type { Part } from './read-sources.ts'

// Of many variables one leads nowhere: which one it is, and on which line, is what somebody has to know to mend it.

type ReadAlone = (source: EnvSource) => Promise<unknown>

const isAbsent = (error: unknown): error is NotFoundError =>
  (error as { name?: unknown } | undefined)?.name === 'NotFoundError'

/** Where several could be meant they are read one by one, in the order in which the first of them was refused. */
async function culpritIn({ source }: Part, { message, code }: NotFoundError, readAlone: ReadAlone) {
  const refs = Object.entries('refs' in source ? source.refs : {})
  const isNamed = (ref: string): boolean =>
    ref.split('/').some((part) => message.includes(JSON.stringify(decodeURIComponent(part))))
  const [first, ...others] = refs.filter(([, ref]) => isNamed(ref))
  if (first === undefined || others.length === 0) return first
  for (const [name, ref] of [first, ...others]) {
    const refused: unknown = await readAlone({ refs: { [name]: ref } }).then(
      () => undefined,
      (error) => error,
    )
    if (isAbsent(refused) && refused.code === code) return [name, ref] as const
  }
  return undefined
}

async function nextStep({ code, hint }: NotFoundError, ref: string): Promise<string | undefined> {
  if (hint?.startsWith('Did you mean')) return hint
  const { fieldPlace, typedPlace } = await import('../place/reference.ts')
  const { vault, item } = fieldPlace(ref)
  if (code === 'field_not_found') return shellLine`strongroom item show ${typedPlace(vault, item)}`
  return code === 'vault_item_not_found' ? shellLine`strongroom item list ${vault}` : hint
}

/** The same refusal, with the command that shows what is there instead; any other as it was. */
export async function withNextStep(error: unknown, ref: string, what = ''): Promise<unknown> {
  if (!isAbsent(error)) return error
  const { NotFoundError } = await import('@strongroom/sdk')
  const { code, status, suggestions, requestId } = error
  const hint = await nextStep(error, ref)
  const body = {
    code,
    message: `${what}${error.message}`,
    ...(hint !== undefined && { hint }),
    ...(requestId !== undefined && { requestId }),
  }
  return new NotFoundError(body, status, undefined, { cause: error }, suggestions)
}

/** The same refusal, which says of which variable it is; any other as it was. */
export async function namingVariable(error: unknown, part: Part, readAlone: ReadAlone): Promise<unknown> {
  if (!isAbsent(error)) return error
  const culprit = await culpritIn(part, error, readAlone)
  if (!culprit) return error
  const [name, ref] = culprit
  const where = part.where?.(name)
  const what = `${name === ref ? ref : `${name} = ${ref}`}${where === undefined ? '' : ` (${where})`}`
  return withNextStep(error, ref, `${what}: `)
}

export async function readNamedPart(
  cli: Cli,
  strongroom: Strongroom,
  part: Part,
  freshness: Freshness,
): Promise<EnvBundle | undefined> {
  const read = (wanted: Part): Promise<EnvBundle | undefined> => readPart(cli, strongroom, wanted, freshness)
  return read(part).catch(async (error: unknown) => {
    throw await namingVariable(error, part, (source) => read({ ...part, source }))
  })
}
