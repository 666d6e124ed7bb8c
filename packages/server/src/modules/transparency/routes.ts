import type { transparency } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { addCosignatures, setWitnesses, witnesses } from './cosignatures.ts'
import { recovery, recoveryStatement } from './recovery.ts'
import { checkpoint, document, entries, entriesTile, proof, state, tile } from './service.ts'

export const transparencyRoutes: Handlers<typeof transparency> = {
  addCosignatures,
  checkpoint,
  document,
  entries,
  entriesTile,
  proof,
  recovery,
  recoveryStatement,
  setWitnesses,
  state,
  tile,
  witnesses,
}
