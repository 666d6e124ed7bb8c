import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { withProgress } from '../prompt/progress.ts'
import { type FilePlace, filesOf, findFile, shownPlace, sizeOf } from './place.ts'

export async function moveFile(cli: Cli, from: FilePlace & { readonly name: string }, to: FilePlace): Promise<Result> {
  const file = await findFile(cli, from)
  const name = to.name ?? file.name
  const target = { ...to, name }
  const there = (await filesOf(cli, to)).find((one) => one.name === name)
  if (there)
    throw new CliError('file_name_taken', `${shownPlace(target)} is there already`, { fix: 'choose another name' })
  const strongroom = await cli.strongroom()
  const { signal } = cli
  const isSameItem = from.vault === to.vault && from.item === to.item
  const assetId = isSameItem ? file.assetId : await carry()
  if (isSameItem) await strongroom.attachments.rename(from.vault, file.assetId, { name }, { signal })
  return {
    data: { assetId, name, from: shownPlace(from), to: shownPlace(target) },
    text: `${cli.style.good('✓')} ${safeText(shownPlace({ ...from, name: file.name }))} → ${safeText(shownPlace(target))}`,
  }

  /** The old one goes last: whatever breaks, the file is in one of the two places. */
  async function carry(): Promise<string> {
    const download = await strongroom.attachments.download(from.vault, file.assetId, { signal })
    const doing = `moving ${file.name}, ${sizeOf(file.size)}`
    const sent = await withProgress(cli, doing, () =>
      strongroom.attachments.upload(to.vault, to.item, download.stream, {
        name,
        mediaType: file.mediaType,
        signal,
      }),
    )
    await strongroom.attachments.remove(from.vault, file.assetId, { signal })
    return sent.assetId
  }
}
