import { shellLine } from '@strongroom/contract'
import { HOST, OUT } from '../../admin/host-flags.ts'
import { ensureShowable, shownOnce } from '../../admin/shown-once.ts'
import type { Cli } from '../../cli.ts'
import { command, flag } from '../../model/command.ts'

/** The token of a server that `up` started on this data, while nobody has used it: `up` keeps it for its owner. */
async function keptToken({ io, paths }: Cli, data: string | undefined): Promise<string | undefined> {
  const { dataPath } = await import('../../up/data-directory.ts')
  const { localServers } = await import('../../up/local-server.ts')
  const path = dataPath(io, data)
  return (await localServers(paths)).find((server) => server.data === path)?.setupToken
}

async function newToken(cli: Cli, flags: { readonly data: string | undefined }): Promise<string> {
  const { operate } = await import('../../admin/operator.ts')
  const order = { act: 'setup-token' }
  return (await operate<{ setupToken: string }>(cli, flags, order, 'making a setup token')).setupToken
}

export const setupToken = command({
  summary: 'the one-time token that founds the organisation',
  about:
    'Shows the one of a server that `strongroom up` started here, or makes a new one: the server keeps only its hash, so an older one cannot be shown, and stops working. Refused once there is an organisation.',
  args: {},
  flags: { new: flag.on('make a new one in any case'), ...OUT, ...HOST },
  examples: [{ run: 'strongroom admin setup-token --out token.txt', does: 'for init --setup-token-file token.txt' }],
  next: 'strongroom init --setup-token-file FILE',
  output: async () => (await import('../../schemas/admin.ts')).setupTokenShape,
  run: async (cli, { flags }) => {
    ensureShowable(cli, flags.out)
    const kept = flags.new ? undefined : await keptToken(cli, flags.data)
    const secret = kept ?? (await newToken(cli, flags))
    const shown = await shownOnce(cli, { name: 'setupToken', secret, out: flags.out })
    const isNew = kept === undefined
    cli.say(
      isNew ? 'a new setup token; the one before stopped working' : 'the setup token of the server that runs here',
    )
    return {
      data: { isNew, ...shown },
      ...('setupToken' in shown && { text: shown.setupToken }),
      next: 'file' in shown ? shellLine`strongroom init --setup-token-file ${shown.file}` : 'strongroom init',
    }
  },
})
