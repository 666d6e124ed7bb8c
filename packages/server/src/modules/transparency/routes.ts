import type { transparency } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { checkpoint, document, entries, entriesTile, proof, state, tile } from './service.ts'

export const transparencyRoutes: Handlers<typeof transparency> = {
  checkpoint,
  document,
  entries,
  entriesTile,
  proof,
  state,
  tile,
}
