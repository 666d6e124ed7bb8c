import type { Attack } from '../attack.ts'
import { ATTACHMENT_ATTACKS } from './attachments.ts'
import { DIRECTORY_ATTACKS } from './directory.ts'
import { ENVELOPE_ATTACKS } from './envelope.ts'
import { HEAD_ATTACKS } from './heads.ts'
import { LOG_ATTACKS } from './log.ts'
import { METADATA_ATTACKS } from './metadata.ts'
import { PROTOCOL_ATTACKS } from './protocol.ts'
import { TRANSPORT_ATTACKS } from './transport.ts'
import { VERSION_ATTACKS } from './versions.ts'
import { WRAP_ATTACKS } from './wraps.ts'

export const ATTACKS: readonly Attack[] = [
  ...DIRECTORY_ATTACKS,
  ...WRAP_ATTACKS,
  ...ENVELOPE_ATTACKS,
  ...METADATA_ATTACKS,
  ...VERSION_ATTACKS,
  ...HEAD_ATTACKS,
  ...LOG_ATTACKS,
  ...ATTACHMENT_ATTACKS,
  ...TRANSPORT_ATTACKS,
  ...PROTOCOL_ATTACKS,
].sort((a, b) => placeOf(a) - placeOf(b))

function placeOf({ number }: Attack): number {
  return number.startsWith('P') ? 1000 + Number(number.slice(1)) : Number(number)
}

export const attackNamed = (name: string): Attack | undefined => ATTACKS.find((attack) => attack.name === name)
