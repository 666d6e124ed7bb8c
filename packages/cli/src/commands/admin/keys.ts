import { HOST, ORG, OUT } from '../../admin/host-flags.ts'
import { ensureShowable, shownOnce } from '../../admin/shown-once.ts'
import { type Cli, confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../../model/command.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'

interface Org {
  readonly orgId: string
  readonly name: string
}
interface KeyFlags {
  readonly org: string | undefined
  readonly out: string | undefined
  readonly key: string | undefined
  readonly data: string | undefined
}

const ordering = async () => (await import('../../admin/operator.ts')).operate
const inOrg = (act: string, { org }: KeyFlags) => ({ act, ...(org !== undefined && { org }) })

async function create(cli: Cli, flags: KeyFlags): Promise<Result> {
  ensureShowable(cli, flags.out)
  const operate = await ordering()
  const made = await operate<{ org: Org; keyId: string; accessKey: string; apiKey: string }>(
    cli,
    flags,
    inOrg('create-key', flags),
    'making the key',
  )
  const { org, keyId, accessKey, apiKey } = made
  const shown = await shownOnce(cli, { name: 'apiKey', secret: apiKey, out: flags.out })
  cli.say(`a key for everything in ${org.name} that needs no private key; it is shown once`)
  return {
    data: { org, keyId, accessKey, ...shown },
    ...('apiKey' in shown ? { text: shown.apiKey } : { text: `${accessKey} → ${shown.file}` }),
    next: 'strongroom admin global-admin-key revoke   when you are done',
  }
}

async function list(cli: Cli, flags: KeyFlags): Promise<Result> {
  const operate = await ordering()
  const { org, keys } = await operate<{ org: Org; keys: { keyId: string; accessKey: string; createdAt: string }[] }>(
    cli,
    flags,
    inOrg('list-keys', flags),
    'looking',
  )
  if (keys.length === 0) cli.say(`no global-admin key works in ${org.name}`)
  const text = table(
    keys,
    [
      { title: 'ACCESS KEY', of: ({ accessKey }) => accessKey },
      { title: 'MADE', of: ({ createdAt }) => shortTime(createdAt) },
      { title: 'ID', of: ({ keyId }) => keyId },
    ],
    cli.style,
  )
  return { data: { org, keys }, ...(keys.length > 0 && { text }) }
}

async function revoke(cli: Cli, flags: KeyFlags): Promise<Result> {
  const operate = await ordering()
  const which = flags.key === undefined ? 'every global-admin key of the organisation' : `the key ${flags.key}`
  await confirm(cli, `End ${which}, in every process at once?`)
  const order = { ...inOrg('revoke-keys', flags), ...(flags.key !== undefined && { accessKey: flags.key }) }
  const { org, revoked } = await operate<{ org: Org; revoked: number }>(cli, flags, order, 'ending keys')
  if (revoked === 0 && flags.key !== undefined)
    throw new CliError('global_admin_key_not_found', `no key ${flags.key} works in ${org.name}`, {
      fix: 'strongroom admin global-admin-key list',
    })
  return {
    data: { org, revoked },
    text: `${cli.style.good('✓')} ${revoked} global-admin ${revoked === 1 ? 'key' : 'keys'} of ${org.name} ended`,
  }
}

const ACTIONS = { create, list, revoke } as const
const NAMES = ['create', 'list', 'revoke'] as const

export const globalAdminKey = command({
  summary: 'API keys of the operator: create, list, revoke',
  about:
    'Such a key holds every machine permission in one organisation and belongs to nobody in it. It has no private key: it decrypts nothing and signs nothing. Every one is in the audit trail of the organisation.',
  args: { action: arg.one(NAMES.join(', '), { choices: NAMES }) },
  flags: { key: flag.text('with revoke: only the key with this access key', 'ACCESS_KEY'), ...ORG, ...OUT, ...HOST },
  examples: [
    { run: 'strongroom admin global-admin-key create --out key.txt', does: 'shown once, into a file' },
    { run: 'strongroom admin global-admin-key revoke --yes', does: 'all of them' },
  ],
  next: 'strongroom admin global-admin-key list',
  output: async () => (await import('../../schemas/admin.ts')).globalAdminKeyShape,
  run: async (cli, { args, flags }) => {
    const action = NAMES.find((name) => name === args.action)
    if (!action) throw new CliError('usage', `say what to do: ${NAMES.join(', ')}`)
    return ACTIONS[action](cli, flags)
  },
})

export const orgs = command({
  summary: 'the organisations of this server',
  args: {},
  flags: HOST,
  examples: [{ run: 'strongroom admin orgs', does: 'names and ids' }],
  next: 'strongroom admin global-admin-key create --org ORG --out FILE',
  output: async () => (await import('../../schemas/admin.ts')).orgsShape,
  run: async (cli, { flags }) => {
    const operate = await ordering()
    const found = await operate<{ orgs: (Org & { createdAt: string })[] }>(cli, flags, { act: 'orgs' }, 'looking')
    if (found.orgs.length === 0) cli.say('no organisation yet')
    const text = table(
      found.orgs,
      [
        { title: 'NAME', of: ({ name }) => name },
        { title: 'MADE', of: ({ createdAt }) => shortTime(createdAt) },
        { title: 'ID', of: ({ orgId }) => orgId },
      ],
      cli.style,
    )
    return { data: found.orgs, ...(found.orgs.length > 0 && { text }) }
  },
})
