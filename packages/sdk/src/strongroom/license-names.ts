import type { License } from '@strongroom/contract'
import type { Scope } from './call.ts'
import { AmbiguousReferenceError, NotFoundError } from './public-errors.ts'

const LICENSE_ID = /^lic_/
const LARGEST = 100

async function ownLicenses({ client, options }: Scope): Promise<readonly License[]> {
  const all: License[] = []
  for (let page = 1; ; page += 1) {
    const { data, meta } = await client.licenses.list({ query: { page, limit: LARGEST } }, options)
    all.push(...data)
    if (!meta || page >= meta.totalPages) return all
  }
}

const absent = (asked: string): NotFoundError =>
  new NotFoundError(
    {
      code: 'license_instance_not_found',
      message: `you have no licence ${JSON.stringify(asked)} that runs`,
      hint: 'List licences, and use the id of one.',
    },
    404,
  )

/**
 * The licence of this id, or the only one of the caller's that runs and has this slug or name. The list is the server's word: what is read
 * of a licence says itself which one it is.
 */
export async function licenseIdOf(scope: Scope, asked: string): Promise<string> {
  if (LICENSE_ID.test(asked)) return asked
  const named = (await ownLicenses(scope)).filter(
    ({ licenseId, name, status }) =>
      status !== 'terminated' && status !== 'expired' && (licenseId === asked || name === asked),
  )
  const [only] = named
  if (!only) throw absent(asked)
  if (named.length === 1) return only.licenseInstanceId
  throw new AmbiguousReferenceError(
    `several licences are called ${JSON.stringify(asked)}`,
    named.map(({ licenseInstanceId }) => licenseInstanceId),
  )
}
