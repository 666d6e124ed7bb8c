import { isLicenseMark, licenseMark } from '../engine/hand-off.ts'
import { readLicenseEnvironment } from '../engine/license-environment.ts'
import type { Core, KeyedPlace } from './core.ts'
import { type EnvBundle, envBundle } from './env-bundle.ts'
import { ensureExportable } from './env-names.ts'
import { licenseIdOf } from './license-names.ts'
import { IntegrityError, NotCachedError } from './public-errors.ts'
import { secretsOf } from './read-secrets.ts'
import { receiptFrom } from './receipt.ts'
import type { EnvOptions } from './secrets.ts'
import { StrongroomError } from './strongroom-error.ts'

/** The item says under a signature which licence it is: by id always, and by slug where it was asked for by that. */
function ensureOf(mark: string, asked: string, licenseInstanceId: string, vault: string): void {
  const [, slug = '', id = ''] = /^license:([^/]+)\/(.+)$/.exec(mark) ?? []
  if (id === licenseInstanceId) {
    const isAsked = asked === licenseInstanceId || asked === slug || !/^[a-z0-9][a-z0-9-]{1,62}$/.test(asked)
    if (isAsked) return
    throw new IntegrityError('the server has given the item of another licence', {
      code: 'item_swap',
      stage: 'content',
      evidence: '',
      details: { expected: licenseMark(asked, licenseInstanceId), mark },
    })
  }
  throw new StrongroomError(
    `the item of this licence does not say that it is of ${isLicenseMark(mark) ? 'this one' : 'a licence'}`,
    {
      code: 'license_item_unmarked',
      hint: `It was not put there by this client, or was changed since. Read it from its vault: ${vault}.`,
    },
  )
}

export async function licenseEnv(
  { config }: Pick<Core, 'config'>,
  place: KeyedPlace,
  asked: string,
  { offline, allowNames }: EnvOptions = {},
): Promise<EnvBundle> {
  const { actor, session, options } = place
  // Answers about licences are not cached: whether one runs only the server can say.
  if (offline === true) throw new NotCachedError()
  const licenseInstanceId = await licenseIdOf(place.scope, asked)
  const read = await readLicenseEnvironment(actor, licenseInstanceId, options)
  const { meta } = read.head.payload
  ensureOf(read.mark, asked, licenseInstanceId, meta.name)
  const secrets = secretsOf({ session, actor, options, onReveal: config.hooks.onReveal }, read)
  ensureExportable(secrets.keys(), allowNames)
  return envBundle({ secrets, receipt: receiptFrom(read.receipt), vaultIds: [read.head.vault.vaultId] })
}
