import type { transparency } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { addCosignatures, setWitnesses, witnesses } from './cosignatures.ts'
import { checkpoint, document, entries, entriesTile, proof, state, tile } from './service.ts'

export const transparencyRoutes: Handlers<typeof transparency> = {
  addCosignatures,
  checkpoint,
  document,
  entries,
  entriesTile,
  proof,
  setWitnesses,
  state,
  tile,
  witnesses,
}
