import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { AttachmentSource, UploadedAttachment } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { explainingKeys } from '../errors/wrapped-key.ts'
import { ensurePiped } from '../place/standard-input.ts'
import { withProgress } from '../prompt/progress.ts'
import { type FilePlace, filesOf, shownPlace, sizeOf } from './place.ts'
import { NO_MEMORY, type UploadMemory, uploadMemory } from './upload-memory.ts'

// A file on its way up. What was cut off goes on when the same file is sent to the same place again.

interface Opened {
  readonly source: AttachmentSource
  readonly name: string
  readonly memory: UploadMemory
}

async function openSource(cli: Cli, from: string, place: FilePlace): Promise<Opened> {
  if (from === '-') {
    if (place.name === undefined)
      throw new CliError('usage', 'what is piped in has no name of its own', { fix: 'write vault/item/name' })
    ensurePiped(cli, 'a file')
    return { source: cli.io.stdin as AsyncIterable<Uint8Array>, name: place.name, memory: NO_MEMORY }
  }
  const path = resolve(cli.io.cwd, from)
  const found = await stat(path).catch((cause: unknown) => {
    throw new CliError('file_unreadable', `${path} cannot be read`, {
      fix: shellLine`look at it: ls -l ${path}`,
      cause,
    })
  })
  if (!found.isFile()) throw new CliError('file_unreadable', `${path} is no file`, { fix: 'send files one by one' })
  const { profile, profileName } = await cli.credential()
  const who = `${profile?.server ?? ''} ${profileName ?? ''}`
  const name = place.name ?? basename(path)
  const identity = { who, place: shownPlace({ ...place, name }), path, size: found.size, changedMs: found.mtimeMs }
  return { source: path, name, memory: uploadMemory(cli.paths, identity) }
}

export interface Sending {
  readonly from: string
  readonly place: FilePlace
  readonly mediaType: string | undefined
  readonly replace: boolean
}

export interface SentFile extends UploadedAttachment {
  readonly name: string
  readonly resumed: boolean
}

/** The file of this name that is there, which only `--replace` makes older. */
async function replacedBy(cli: Cli, place: FilePlace, name: string, replace: boolean): Promise<string | undefined> {
  const same = (await filesOf(cli, place)).filter((one) => one.name === name)
  if (same.length > 0 && !replace)
    throw new CliError('file_name_taken', `${shownPlace({ ...place, name })} is there already`, {
      fix: 'give --replace to make this its next version, or send it under another name',
    })
  return same[0]?.assetId
}

/** An upload that is over, or was of something else: it is begun anew. */
const isOver = (error: unknown): boolean =>
  ['NotFoundError', 'ValidationError', 'ConfigError', 'ConflictError', 'NoWrappedKeyError'].includes(
    (error as Error).name,
  )

export async function sendFile(cli: Cli, { from, place, mediaType, replace }: Sending): Promise<SentFile> {
  const { source, name, memory } = await openSource(cli, from, place)
  const strongroom = await cli.strongroom()
  const ticket = await memory.ticket()
  const send = (how: { resume: string } | { replaces?: string }): Promise<UploadedAttachment> =>
    withProgress(cli, `sending ${name}`, (progress) =>
      strongroom.attachments.upload(place.vault, place.item, source, {
        name,
        signal: cli.signal,
        ...(mediaType !== undefined && { mediaType }),
        ...(from !== '-' && { onStart: memory.keep }),
        onProgress: (sent, total) =>
          progress.update(`sending ${name}: ${sizeOf(sent)}${total === undefined ? '' : ` of ${sizeOf(total)}`}`),
        ...how,
      }),
    )
  const resumed = ticket === undefined ? undefined : await send({ resume: ticket }).catch(orAnew)
  const replaces = resumed ? undefined : await replacedBy(cli, place, name, replace)
  const anew = (): Promise<UploadedAttachment> => send(replaces === undefined ? {} : { replaces })
  const done = resumed ?? (await explainingKeys(cli, place.vault, anew))
  await memory.forget()
  return { ...done, name, resumed: resumed !== undefined }
}

const orAnew = (error: unknown): undefined => {
  if (!isOver(error)) throw error
  return undefined
}
