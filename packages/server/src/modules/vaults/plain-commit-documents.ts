import { makeRecent } from '../../db/recent.ts'
import type { LoggedDocument } from './plain-store.ts'

// The documents of vaults that were written lately: a document has one content under its hash for ever. Which of them are current and
// who may see them is asked elsewhere, each time. As the same object, a document is also decoded only once.

const MAX_VAULTS = 2000
const MAX_DOCUMENTS = 5000

const ofVaults = makeRecent<readonly LoggedDocument[]>(MAX_VAULTS)
const documents = makeRecent<LoggedDocument>(MAX_DOCUMENTS)

export const knownDocuments = (orgId: string, vaultId: string): readonly LoggedDocument[] =>
  ofVaults.get(`${orgId} ${vaultId}`) ?? []

/** What the next commit of the vault will ask for. */
export const keepDocuments = (orgId: string, vaultId: string, current: readonly LoggedDocument[]): void =>
  ofVaults.set(
    `${orgId} ${vaultId}`,
    current.map((document) => sameOf(orgId, document)),
  )

function sameOf(orgId: string, document: LoggedDocument): LoggedDocument {
  const name = `${orgId} ${document.hash}`
  const known = documents.get(name)
  if (!known) documents.set(name, document)
  return known ?? document
}
