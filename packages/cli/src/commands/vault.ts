import { shellLine } from '@strongroom/contract'
import type { Vault } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { arg, command, flag, type Group, type Result } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { rememberNames } from '../place/name-index.ts'
import { typedPlace } from '../place/reference.ts'
import { withProgress } from '../prompt/progress.ts'
import { attest } from './vault-attest.ts'

const CLASSES = ['public', 'internal', 'confidential', 'restricted'] as const
const ROLES = ['read', 'write', 'admin'] as const
const shapes = () => import('../schemas/vault.ts')
const oneVault = async () => (await shapes()).vaultShape
const VAULT = arg.one('name or id of a vault', { completes: 'vault' })

const dataOf = ({ receipt: _, rotationDue, ...vault }: Vault): object => ({
  ...vault,
  rotationDue: rotationDue?.toISOString() ?? null,
})

async function shown(cli: Cli, vault: Vault, next?: string): Promise<Result> {
  const { shownSigner } = await import('../place/principals.ts')
  const text = facts(
    [
      ['name', vault.name],
      ['id', vault.vaultId],
      ['class', vault.classification],
      ['status', vault.status],
      ['your role', vault.role ?? 'none'],
      ['items', vault.itemCount],
      ['version', vault.headVersion],
      ['rotation', vault.rotationDue ? `due since ${vault.rotationDue.toISOString()}` : undefined],
      ['signed by', vault.receipt && (await shownSigner(cli, vault.receipt.signerKeyId))],
      ['log', vault.receipt && `${vault.receipt.checkpoint.treeSize} ✓`],
    ],
    cli.style,
  )
  return { data: dataOf(vault), text, ...(next !== undefined && { next }) }
}

const list = command({
  summary: 'the vaults you can see',
  args: {},
  flags: { archived: flag.on('archived ones too') },
  examples: [
    { run: 'strongroom vault list', does: 'names, your role, number of items' },
    { run: "strongroom vault list --pick 'data[].name'", does: 'names alone, a line each' },
  ],
  next: 'strongroom item list VAULT',
  output: async () => (await shapes()).vaultListShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const all = await strongroom.vaults.list({ signal: cli.signal })
    const vaults = all.filter(({ status }) => flags.archived || status === 'active')
    await rememberNames(
      cli.paths,
      'vault',
      vaults.map(({ name }) => name),
    )
    if (vaults.length === 0) cli.say('no vaults yet')
    return {
      data: vaults.map(dataOf),
      meta: { total: vaults.length },
      ...(vaults.length > 0 && {
        text: table(
          vaults,
          [
            { title: 'NAME', of: ({ name }) => name },
            { title: 'ROLE', of: ({ role }) => role?.toLowerCase() },
            { title: 'ITEMS', of: ({ itemCount }) => itemCount, right: true },
            { title: 'CLASS', of: ({ classification }) => classification },
            { title: 'STATUS', of: ({ status, rotationDue }) => (rotationDue ? 'rotation due' : status) },
            { title: 'ID', of: ({ vaultId }) => vaultId },
          ],
          cli.style,
        ),
      }),
      next: vaults[0] ? shellLine`strongroom item list ${vaults[0].name}` : 'strongroom vault create NAME',
    }
  },
})

const show = command({
  summary: 'one vault, verified',
  args: { vault: VAULT },
  flags: {},
  examples: [{ run: 'strongroom vault show prod', does: 'its signed state and where it is in the log' }],
  next: 'strongroom vault holders VAULT',
  output: oneVault,
  run: async (cli, { args }) =>
    shown(cli, await (await cli.strongroom()).vaults.get(args.vault, { signal: cli.signal })),
})

const create = command({
  summary: 'make a vault',
  about: 'Names are visible to the server; values never are.',
  args: { name: arg.one('its name; the server can read it') },
  flags: { class: flag.choice('how it is classified', CLASSES) },
  examples: [{ run: 'strongroom vault create prod --class restricted', does: 'a vault that only you can open' }],
  next: 'strongroom set VAULT/ITEM/FIELD',
  output: oneVault,
  run: async (cli, { args, flags }) => {
    const strongroom = await cli.strongroom()
    const vault = await strongroom.vaults.create(
      { name: args.name, ...(flags.class && { classification: flags.class }) },
      { signal: cli.signal },
    )
    return shown(cli, vault, shellLine`strongroom set ${typedPlace(vault.name, 'ITEM', 'FIELD')}`)
  },
})

const rename = command({
  summary: 'give a vault another name',
  args: { vault: VAULT, name: arg.one('the new name') },
  flags: {},
  examples: [{ run: 'strongroom vault rename prod production', does: 'references by the old name stop working' }],
  next: 'strongroom vault show VAULT',
  output: oneVault,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    return shown(cli, await strongroom.vaults.update(args.vault, { name: args.name }, { signal: cli.signal }))
  },
})

const classify = command({
  summary: 'classify a vault',
  args: { vault: VAULT, class: arg.one(CLASSES.join(', '), { choices: CLASSES }) },
  flags: {},
  examples: [{ run: 'strongroom vault classify prod restricted', does: 'says how it is to be treated' }],
  next: 'strongroom vault show VAULT',
  output: oneVault,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const classification = args.class as (typeof CLASSES)[number]
    return shown(cli, await strongroom.vaults.update(args.vault, { classification }, { signal: cli.signal }))
  },
})

const archive = command({
  summary: 'put a vault away: nobody is given it until it is restored',
  args: { vault: VAULT },
  flags: {},
  examples: [{ run: 'strongroom vault archive old --yes', does: 'without asking' }],
  next: 'strongroom vault restore VAULT',
  output: async () => (await shapes()).archivedShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const { name, vaultId, itemCount } = await strongroom.vaults.get(args.vault, { signal: cli.signal })
    await confirm(cli, `Archive vault ${name} with ${itemCount} items?`)
    await strongroom.vaults.archive(vaultId, { signal: cli.signal })
    return {
      data: { archived: vaultId },
      text: `${cli.style.good('✓')} ${name} is archived`,
      next: shellLine`strongroom vault restore ${name}`,
    }
  },
})

const restore = command({
  summary: 'make an archived vault active again, as it was',
  args: { vault: arg.one('name or id of an archived vault') },
  flags: {},
  examples: [
    { run: 'strongroom vault list --archived', does: 'shows which there are' },
    { run: 'strongroom vault restore old', does: 'whoever could read it can again' },
  ],
  next: 'strongroom vault holders VAULT',
  output: oneVault,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    return shown(cli, await strongroom.vaults.restore(args.vault, { signal: cli.signal }))
  },
})

const share = command({
  summary: 'give somebody a vault and its key',
  args: { vault: VAULT },
  flags: {
    with: flag.text('name, email or id of a person or an agent', 'WHO', { completes: 'agent' }),
    role: flag.choice('what they may do', ROLES),
  },
  examples: [{ run: 'strongroom vault share prod --with checkout-bot', does: 'it can read and decrypt prod' }],
  next: 'strongroom vault holders VAULT',
  output: async () => (await shapes()).accessShape,
  run: async (cli, { args, flags }) => {
    const { grantTo } = await import('../access/changes.ts')
    return grantTo(cli, { vault: args.vault }, flags.with, flags.role ?? 'read')
  },
})

const unshare = command({
  summary: 'take a vault back from somebody; it gets a new key',
  args: { vault: VAULT },
  flags: {
    with: flag.text('name, email or id of a person or an agent', 'WHO', { completes: 'agent' }),
    defer: flag.on('without a new key for now; the log says that one is due'),
  },
  examples: [
    { run: 'strongroom vault unshare prod --with checkout-bot', does: 'what is written from now on is closed to it' },
  ],
  next: 'strongroom vault holders VAULT',
  output: async () => (await shapes()).accessShape,
  run: async (cli, { args, flags }) => {
    const { revokeFrom } = await import('../access/changes.ts')
    return revokeFrom(cli, { vault: args.vault }, flags.with, { deferRotation: flags.defer })
  },
})

const rotate = command({
  summary: 'give a vault a new key and encrypt everything anew',
  args: { vault: VAULT },
  flags: {},
  examples: [{ run: 'strongroom vault rotate prod', does: 'after somebody left or a key leaked' }],
  next: 'strongroom vault holders VAULT',
  output: async () => (await shapes()).rotatedShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const done = await withProgress(cli, `encrypting ${args.vault} anew`, (progress) =>
      strongroom.vaults.rotateKey(args.vault, {
        signal: cli.signal,
        onProgress: (count, total) => progress.update(`encrypting ${args.vault} anew: ${count} of ${total} items`),
      }),
    )
    return {
      data: { vault: args.vault, ...done },
      text: `${cli.style.good('✓')} ${args.vault} has a new key; ${done.fields} values in ${done.items} items are encrypted anew`,
    }
  },
})

const signers = command({
  summary: 'whose signatures count in a vault, and why',
  args: { vault: VAULT },
  flags: {},
  examples: [{ run: 'strongroom vault signers prod', does: 'keys, and the log entry that brought each in' }],
  next: 'strongroom trust list',
  output: async () => (await shapes()).signersShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const found = await strongroom.vaults.signers(args.vault, { signal: cli.signal })
    const { namesOfKeys } = await import('../place/principals.ts')
    const nameOf = await namesOfKeys(cli)
    return {
      data: found.map(({ kid, ...signer }) => ({ keyId: kid, ...signer })),
      text: table(
        found,
        [
          { title: 'KEY', of: ({ kid }) => nameOf(kid) },
          { title: 'STATUS', of: ({ status }) => status },
          { title: 'BY', of: ({ via }) => via },
          { title: 'LOG ENTRY', of: ({ added }) => added, right: true },
        ],
        cli.style,
      ),
    }
  },
})

const holders = command({
  summary: 'who can decrypt a vault',
  about: 'From the signed access list, not from what the server says; only names are the server’s.',
  args: { vault: VAULT },
  flags: {},
  examples: [{ run: 'strongroom vault holders prod', does: 'everybody who holds its key' }],
  next: 'strongroom access explain WHO VAULT',
  output: async () => (await shapes()).holdersShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const found = await strongroom.vaults.holders(args.vault, { signal: cli.signal })
    return {
      data: found,
      text: table(
        found,
        [
          { title: 'WHO', of: ({ name, principal }) => name || principal },
          { title: 'KIND', of: ({ kind }) => kind },
          { title: 'ROLE', of: ({ role }) => role.toLowerCase() },
          { title: 'KEYS', of: ({ keyIds }) => keyIds.length, right: true },
          { title: 'ID', of: ({ principal }) => principal },
        ],
        cli.style,
      ),
    }
  },
})

export const vault: Group = {
  summary: 'vaults: what is in them is encrypted here',
  verbs: { list, show, create, rename, classify, archive, restore, share, unshare, rotate, attest, signers, holders },
}
