import type { License } from '@strongroom/contract'
import type { Purchase, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

// Licences and what is under way, by what people have at hand: an id, the slug, or the name.

export const isPurchase = (asked: string): boolean => asked.startsWith('pur_')
export const isTermination = (asked: string): boolean => asked.startsWith('ter_')

export const ownLicenses = ({ signal }: Cli, strongroom: Strongroom): Promise<License[]> =>
  strongroom.licenses.list({}, { signal }).all()

/** Bought, paid for, and not in a vault yet. */
export const waitsForHandOff = ({ status, itemId }: License): boolean => status === 'active' && itemId === null

/** A purchase by its id, or that of a licence; of several of one name the one that still waits. */
export async function findPurchase(cli: Cli, strongroom: Strongroom, asked: string): Promise<Purchase> {
  const { signal } = cli
  if (isPurchase(asked)) return strongroom.licenses.purchase(asked, { signal })
  const named = (await ownLicenses(cli, strongroom)).filter(
    ({ licenseInstanceId, licenseId, name }) => licenseInstanceId === asked || licenseId === asked || name === asked,
  )
  const waiting = named.filter(waitsForHandOff)
  const found = waiting.length > 0 ? waiting : named
  const [only] = found
  if (!only)
    throw new CliError('license_not_yours', `you have bought no licence ${asked}`, { fix: 'strongroom license list' })
  if (found.length > 1) {
    const candidates = found.map(({ licenseInstanceId }) => licenseInstanceId)
    throw new CliError('ambiguous_name', `you have ${found.length} licences called ${asked}`, {
      fix: `use an id: ${candidates.join(', ')}`,
      details: { candidates },
    })
  }
  return strongroom.licenses.purchase(only.purchaseId, { signal })
}
