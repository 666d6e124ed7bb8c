import type { Attachment } from '@strongroom/sdk'
import { exact } from '../../ui/when.tsx'
import { formatBytes } from './file-size.ts'

// An item may have two files of one name. Then what else is known of each tells them apart, and on the command line its id does.

const hasTwin = ({ assetId, itemId, name }: Attachment, all: readonly Attachment[]): boolean =>
  all.some((other) => other.name === name && other.itemId === itemId && other.assetId !== assetId)

/** What it is called where it is spoken of alone. */
export const callName = (file: Attachment, all: readonly Attachment[]): string =>
  hasTwin(file, all) ? `${file.name}, ${formatBytes(file.size)}, signed ${exact.format(file.signedAt)}` : file.name

/** Its last part as the command line takes it. */
export const commandName = (file: Attachment, all: readonly Attachment[]): string =>
  hasTwin(file, all) ? file.assetId : file.name
