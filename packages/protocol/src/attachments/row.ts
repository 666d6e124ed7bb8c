import { hash, integer, literal, type Of, record } from '../encoding/shape.ts'
import { id } from '../identity/identifiers.ts'

/** The value under `asset/<assetId>` in the assets map of a vault head. Every reader of a vault needs it, most nothing else of attachments. */
export const assetRow = record({
  assetId: id,
  assetVersion: integer(1),
  docHash: hash,
  itemId: id,
  status: literal('active', 'archived'),
})
export type AssetRow = Of<typeof assetRow>
