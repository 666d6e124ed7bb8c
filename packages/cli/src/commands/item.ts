import { shellLine } from '@strongroom/contract'
import type { Item, ItemSummary } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { arg, command, flag, type Group, type Result } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { rememberNames } from '../place/name-index.ts'
import { itemPlace, typedPlace } from '../place/reference.ts'

const shapes = () => import('../schemas/item.ts')
const itemShape = async () => (await shapes()).itemShape
const ITEM = arg.one('an item, as vault/item', { completes: 'item' })

/** Labels and versions; never values. */
const dataOf = ({ itemId, vaultId, name, website, status, version, fields, receipt }: Item) => ({
  itemId,
  vaultId,
  name,
  website,
  status,
  version,
  fields: fields.map(({ fieldId, label, isEnvironmentVariable, secret }) => ({
    fieldId,
    label,
    isEnvironmentVariable,
    version: secret.version,
  })),
  receipt: {
    signerKeyId: receipt.signerKeyId,
    treeSize: receipt.checkpoint.treeSize,
    rootHash: receipt.checkpoint.rootHash,
  },
})

async function shown(cli: Cli, item: Item, next?: string): Promise<Result> {
  const data = dataOf(item)
  const { shownSigner } = await import('../place/principals.ts')
  const head = facts(
    [
      ['name', item.name],
      ['id', item.itemId],
      ['website', item.website],
      ['version', item.version],
      ['signed by', await shownSigner(cli, item.receipt.signerKeyId)],
      ['log', `${item.receipt.checkpoint.treeSize} ✓`],
    ],
    cli.style,
  )
  const fields = table(
    data.fields,
    [
      { title: 'FIELD', of: ({ label }) => label },
      { title: 'ENV', of: ({ isEnvironmentVariable }) => (isEnvironmentVariable ? 'yes' : 'no') },
      { title: 'VERSION', of: ({ version }) => version, right: true },
    ],
    cli.style,
  )
  return { data, text: `${head}\n\n${fields}`, ...(next !== undefined && { next }) }
}

const list = command({
  summary: 'the items of a vault, without values',
  args: { vault: arg.one('name or id of a vault', { completes: 'vault' }) },
  flags: { archived: flag.on('those that are archived, instead') },
  examples: [
    { run: 'strongroom item list prod', does: 'complete and verified' },
    { run: 'strongroom item list prod --archived', does: 'what can be restored' },
  ],
  next: 'strongroom item show VAULT/ITEM',
  output: async () => (await shapes()).itemListShape,
  run: async (cli, { args, flags }) => {
    const strongroom = await cli.strongroom()
    const status = flags.archived ? 'archived' : 'active'
    const items = await strongroom.items.list(args.vault, { status, signal: cli.signal })
    if (!flags.archived) await rememberItems(cli, args.vault, items)
    if (items.length === 0) cli.say(flags.archived ? 'nothing is archived' : `nothing in ${args.vault} yet`)
    return {
      data: items,
      meta: { total: items.length },
      ...(items.length > 0 && {
        text: table(
          items,
          [
            { title: 'NAME', of: ({ name }) => name },
            { title: 'ENVIRONMENT', of: ({ labels }) => labels.join(' ') || undefined },
            { title: 'WEBSITE', of: ({ website }) => website || undefined },
            { title: 'VERSION', of: ({ version }) => version, right: true },
            { title: 'ID', of: ({ itemId }) => itemId },
          ],
          cli.style,
        ),
      }),
      next: flags.archived
        ? shellLine`strongroom item restore ${typedPlace(args.vault, 'ITEM')}`
        : shellLine`strongroom set ${typedPlace(args.vault, 'ITEM', 'FIELD')}`,
    }
  },
})

/** For completion: items, and references to their fields. */
async function rememberItems({ paths }: Cli, vault: string, items: readonly ItemSummary[]): Promise<void> {
  const within = `${vault}/`
  const names = items.map(({ name }) => `${within}${name}`)
  const refs = items.flatMap(({ name, labels }) => labels.map((label) => `${within}${name}/${label}`))
  await rememberNames(paths, 'item', names, within)
  await rememberNames(paths, 'ref', refs, within)
}

const show = command({
  summary: 'one item: fields and versions, never values',
  args: { item: ITEM },
  flags: { version: flag.count('as it was in this version') },
  examples: [
    { run: 'strongroom item show prod/stripe', does: 'what is in it and who signed it' },
    { run: 'strongroom item show prod/stripe --version 3', does: 'what was in it then, proven back from now' },
  ],
  next: 'strongroom read VAULT/ITEM/FIELD',
  output: itemShape,
  run: async (cli, { args, flags: { version } }) => {
    const { vault, item } = itemPlace(args.item)
    const { items } = await cli.strongroom()
    const { signal } = cli
    return shown(
      cli,
      await (version === undefined
        ? items.get(vault, item, { signal })
        : items.version(vault, item, version, { signal })),
    )
  },
})

const history = command({
  summary: 'the versions of an item that are kept, and who wrote them',
  about:
    'Each version names the one before it, so all of them are proven by the current one. Up to fifty are kept beside it, until their key is retired.',
  args: { item: ITEM },
  flags: {},
  examples: [{ run: 'strongroom item history prod/stripe', does: 'newest first, without values' }],
  next: 'strongroom item show VAULT/ITEM --version N',
  output: async () => (await shapes()).itemHistoryShape,
  run: async (cli, { args }) => {
    const { vault, item } = itemPlace(args.item)
    const { items } = await cli.strongroom()
    const versions = await items.versions(vault, item, { signal: cli.signal })
    const first = versions.at(-1)?.version ?? 1
    const { namesOfKeys } = await import('../place/principals.ts')
    const nameOf = await namesOfKeys(cli)
    if (first > 1) cli.say(`version ${first} is the oldest that is kept`)
    return {
      data: versions.map(({ at, ...version }) => ({ ...version, at: at.toISOString() })),
      meta: { total: versions.length },
      text: table(
        versions,
        [
          { title: 'VERSION', of: ({ version }) => version, right: true },
          { title: 'WRITTEN', of: ({ at }) => shortTime(at) },
          { title: 'SIGNED BY', of: ({ signerKeyId }) => nameOf(signerKeyId) },
          { title: 'FIELDS', of: ({ labels }) => labels.join(' ') || undefined },
          { title: 'READABLE', of: ({ isReadable }) => (isReadable ? 'yes' : 'no: its key is compromised') },
        ],
        cli.style,
      ),
      next: shellLine`strongroom item show ${typedPlace(vault, item)} --version ${first}`,
    }
  },
})

const create = command({
  summary: 'make an empty item',
  args: { item: ITEM },
  flags: { website: flag.text('where it is used; the server can read it', 'URL') },
  examples: [{ run: 'strongroom item create prod/stripe --website https://stripe.com', does: 'then set its fields' }],
  next: 'strongroom set VAULT/ITEM/FIELD',
  output: itemShape,
  run: async (cli, { args, flags }) => {
    const { vault, item } = itemPlace(args.item)
    const strongroom = await cli.strongroom()
    const fresh = { name: item, fields: [], ...(flags.website !== undefined && { website: flags.website }) }
    return shown(
      cli,
      await strongroom.items.create(vault, fresh, { signal: cli.signal }),
      shellLine`strongroom set ${typedPlace(vault, item, 'FIELD')}`,
    )
  },
})

const edit = command({
  summary: 'another name, another website, other labels',
  args: { item: ITEM },
  flags: {
    name: flag.text('the new name', 'NAME'),
    website: flag.text('where it is used', 'URL'),
    'rename-field': flag.many('another label for a field', 'OLD=NEW'),
    env: flag.many('make this field an environment variable', 'FIELD'),
    'no-env': flag.many('this field is none any more', 'FIELD'),
  },
  examples: [
    {
      run: 'strongroom item edit prod/app --rename-field key=STRIPE_KEY --env STRIPE_KEY',
      does: 'a label is the name of the variable',
    },
  ],
  next: 'strongroom item show VAULT/ITEM',
  output: itemShape,
  run: async (cli, { args, flags }) => {
    const { vault, item } = itemPlace(args.item)
    const strongroom = await cli.strongroom()
    const before = await strongroom.items.get(vault, item, { signal: cli.signal })
    const { fieldEdits } = await import('../items/field-edits.ts')
    const change = {
      ...(flags.name !== undefined && { name: flags.name }),
      ...(flags.website !== undefined && { website: flags.website }),
      edit: fieldEdits(before, { renames: flags['rename-field'], env: flags.env, noEnv: flags['no-env'] }),
    }
    return shown(cli, await strongroom.items.update(vault, before.itemId, change, { signal: cli.signal }))
  },
})

const move = command({
  summary: 'move an item to another vault, encrypted anew',
  args: { item: ITEM, to: arg.one('name or id of the other vault', { completes: 'vault' }) },
  flags: {},
  examples: [{ run: 'strongroom item move staging/stripe prod', does: 'in one entry of the log' }],
  next: 'strongroom item list VAULT',
  output: itemShape,
  run: async (cli, { args }) => {
    const { vault, item } = itemPlace(args.item)
    const strongroom = await cli.strongroom()
    return shown(cli, await strongroom.items.move(vault, item, { vault: args.to }, { signal: cli.signal }))
  },
})

const archive = command({
  summary: 'put an item away until it is restored',
  args: { item: ITEM },
  flags: {},
  examples: [{ run: 'strongroom item archive prod/old', does: 'its values are in no environment any more' }],
  next: 'strongroom item restore VAULT/ITEM',
  output: async () => (await import('../schemas/vault.ts')).archivedShape,
  run: async (cli, { args }) => {
    const { vault, item } = itemPlace(args.item)
    const strongroom = await cli.strongroom()
    const { itemId, name, fields } = await strongroom.items.get(vault, item, { signal: cli.signal })
    await confirm(cli, `Archive ${vault}/${name} with ${fields.length} fields?`)
    await strongroom.items.archive(vault, itemId, { signal: cli.signal })
    return {
      data: { archived: itemId },
      text: `${cli.style.good('✓')} ${vault}/${name} is archived`,
      next: shellLine`strongroom item restore ${typedPlace(vault, name)}`,
    }
  },
})

const restore = command({
  summary: 'make an archived item active again, or write an earlier version of an item anew',
  args: { item: arg.one('an archived item, as vault/item; with --version one that is active') },
  flags: { version: flag.count('name, website and fields as they were in this version, as the next one') },
  examples: [
    { run: 'strongroom item list prod --archived', does: 'shows which there are' },
    { run: 'strongroom item restore prod/old', does: 'its values are in the environment again' },
    { run: 'strongroom item restore prod/stripe --version 3', does: 'what `item history` shows as 3' },
  ],
  next: 'strongroom item show VAULT/ITEM',
  output: itemShape,
  run: async (cli, { args, flags: { version } }) => {
    const { vault, item } = itemPlace(args.item)
    const { items } = await cli.strongroom()
    const { signal } = cli
    if (version === undefined) return shown(cli, await items.restore(vault, item, { signal }))
    const restored = await items.restoreVersion(vault, item, version, { signal })
    cli.say(
      shellLine`undo: strongroom item restore ${typedPlace(vault, restored.name)} --version ${restored.version - 1}`,
    )
    return shown(cli, restored)
  },
})

export const item: Group = {
  summary: 'items: named sets of fields in a vault',
  verbs: { list, show, history, create, edit, move, archive, restore },
}
