import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { Attachment } from '@strongroom/sdk'
import { type Cli, confirm, ensureNotAgent } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { explainingKeys } from '../errors/wrapped-key.ts'
import { dataOf, filePlace, filesOf, findFile, shownPlace, sizeOf, wholePlace } from '../files/place.ts'
import { arg, command, flag, type Group, type Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { typedPlace } from '../place/reference.ts'
import { withProgress } from '../prompt/progress.ts'

const shapes = () => import('../schemas/file.ts')
const FILE = arg.one('vault/item/name, or an id in place of the name', { completes: 'item' })

const put = command({
  summary: 'encrypt a file here and attach it to an item',
  about:
    'The file is encrypted as it is read, in parts of 8 MiB; memory does not grow with it. If it is cut off, the same command goes on where it was, for a day. The name is sealed too.',
  args: {
    from: arg.one('the file, - for standard input', { completes: 'file' }),
    to: arg.one('vault/item, or vault/item/name for another name', { completes: 'item' }),
  },
  flags: {
    type: flag.text('its media type, such as application/pdf', 'TYPE'),
    replace: flag.on('make it the next version of the file of this name'),
  },
  examples: [
    { run: 'strongroom file put server.pem prod/tls', does: 'as prod/tls/server.pem' },
    { run: 'pg_dump shop | strongroom file put - prod/backups/shop.sql', does: 'from another program' },
  ],
  next: 'strongroom file list vault/item',
  output: async () => (await shapes()).sentShape,
  run: async (cli, { args, flags }) => {
    const { sendFile } = await import('../files/send.ts')
    const place = filePlace(args.to, 'strongroom file put FROM TO   the file of this machine first, then vault/item')
    const sent = await sendFile(cli, { from: args.from, place, mediaType: flags.type, replace: flags.replace })
    const { assetId, itemId, size, version, name, resumed, receipt } = sent
    const where = shownPlace({ ...place, name })
    return {
      data: { assetId, itemId, name, size, version, resumed, treeSize: receipt.checkpoint.treeSize },
      text: [
        `${cli.style.good('✓')} ${safeText(where)}   version ${version}, ${sizeOf(size)}${resumed ? ', where it was cut off' : ''}`,
        '  encrypted here; the server stored bytes it cannot read',
      ].join('\n'),
      next: shellLine`strongroom file get ${typedPlace(place.vault, place.item, name)}`,
    }
  },
})

/** A name that others chose is no path: what would lead elsewhere has to be given by hand. */
function targetOf({ io }: Cli, { name }: Attachment, out: string | undefined): string {
  if (out !== undefined) return resolve(io.cwd, out)
  const isPlain = !/[\\/\p{Cc}]/u.test(name) && !name.startsWith('.') && name.length <= 255
  if (isPlain) return join(io.cwd, name)
  throw new CliError('usage', 'the name of this file is no name to save it under', { fix: 'give --out FILE' })
}

async function saved(cli: Cli, place: { vault: string }, file: Attachment, to: string): Promise<Result> {
  const strongroom = await cli.strongroom()
  const download = await explainingKeys(cli, place.vault, () =>
    strongroom.attachments.download(place.vault, file.assetId, { signal: cli.signal }),
  )
  const data = { ...dataOf(download), treeSize: download.receipt.checkpoint.treeSize }
  if (to === '-') {
    for await (const chunk of download.stream) await cli.data(chunk)
    return { data: undefined }
  }
  await withProgress(cli, `fetching ${file.name}, ${sizeOf(file.size)}`, () => download.saveTo(to))
  return { data: { ...data, file: to }, text: `${cli.style.good('✓')} ${to}   ${sizeOf(file.size)}, verified` }
}

const get = command({
  summary: 'fetch a file and decrypt it here',
  about:
    'It appears under its name when all of it was verified, or not at all; nothing is written over without --force. To standard output each part is verified before it is written, and an exit code other than 0 says that the end is missing. A coding agent gets no content.',
  args: { file: FILE },
  flags: {
    out: flag.text('where to; - for standard output, its own name here if not given', 'FILE', { completes: 'file' }),
    force: flag.on('write over a file that is there'),
  },
  examples: [
    { run: 'strongroom file get prod/tls/server.pem', does: 'as ./server.pem, mode 0600' },
    { run: 'strongroom file get prod/backups/shop.sql --out - | psql shop', does: 'into another program' },
  ],
  next: 'strongroom file list vault/item',
  output: async () => (await shapes()).savedShape,
  run: async (cli, { args, flags }) => {
    ensureNotAgent(cli)
    if (flags.out === '-' && cli.isJson)
      throw new CliError('usage', '--json and --out - both want standard output', { fix: 'give --out FILE' })
    if (flags.out !== '-') ensureFolderFor(cli, flags.out)
    const place = wholePlace(args.file)
    const file = await findFile(cli, place)
    const to = flags.out === '-' ? '-' : targetOf(cli, file, flags.out)
    if (to !== '-' && !flags.force && existsSync(to))
      throw new CliError('file_unwritable', `${to} is there already`, { fix: 'give --force, or --out FILE' })
    return saved(cli, place, file, to)
  },
})

const list = command({
  summary: 'the files of an item',
  args: { item: arg.one('an item, as vault/item', { completes: 'item' }) },
  flags: {},
  examples: [{ run: 'strongroom file list prod/tls', does: 'names, sizes, versions' }],
  next: 'strongroom file get vault/item/name',
  output: async () => (await shapes()).filesShape,
  run: async (cli, { args }) => {
    const files = await filesOf(cli, filePlace(args.item))
    if (files.length === 0) cli.say('no files')
    const text = table(
      files,
      [
        { title: 'NAME', of: ({ name }) => name },
        { title: 'SIZE', of: ({ size }) => sizeOf(size), right: true },
        { title: 'VERSION', of: ({ version }) => version, right: true },
        { title: 'TYPE', of: ({ mediaType }) => mediaType },
        { title: 'ID', of: ({ assetId }) => assetId },
      ],
      cli.style,
    )
    return { data: files.map(dataOf), meta: { total: files.length }, ...(files.length > 0 && { text }) }
  },
})

const rm = command({
  summary: 'take a file off its item',
  args: { file: FILE },
  flags: {},
  examples: [{ run: 'strongroom file rm prod/tls/old.pem', does: 'asks first' }],
  next: 'strongroom file list vault/item',
  output: async () => (await shapes()).removedShape,
  run: async (cli, { args }) => {
    const place = wholePlace(args.file)
    const file = await findFile(cli, place)
    await confirm(cli, `Remove ${shownPlace({ ...place, name: file.name })}?`)
    const strongroom = await cli.strongroom()
    await strongroom.attachments.remove(place.vault, file.assetId, { signal: cli.signal })
    return { data: { removed: file.assetId }, text: `${cli.style.good('✓')} ${safeText(file.name)} is off the item` }
  },
})

const move = command({
  summary: 'give a file another name, or another item',
  about:
    'Another name is one signed change. Another item means that the content is fetched, verified, encrypted anew for it and only then taken off the old one.',
  args: { file: FILE, to: arg.one('vault/item/name, or vault/item to keep the name', { completes: 'item' }) },
  flags: {},
  examples: [{ run: 'strongroom file move prod/tls/server.pem prod/tls/old.pem', does: 'another name' }],
  next: 'strongroom file list vault/item',
  output: async () => (await shapes()).movedShape,
  run: async (cli, { args }) =>
    (await import('../files/move.ts')).moveFile(cli, wholePlace(args.file), filePlace(args.to)),
})

export const file: Group = {
  summary: 'files of items: encrypted here, of any size',
  verbs: { put, get, list, move, rm },
}
