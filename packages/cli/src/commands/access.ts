import { shellLine } from '@strongroom/contract'
import type { AccessEntry, AccessTarget } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { fieldOrItem, itemPlace } from '../place/reference.ts'

const ROLES = ['read', 'write', 'admin'] as const
const shapes = () => import('../schemas/access.ts')
const TARGET = {
  vault: flag.text('a vault', 'NAME', { completes: 'vault' }),
  project: flag.text('a project', 'NAME', { completes: 'project' }),
  item: flag.text('an item, as vault/item', 'REF', { completes: 'item' }),
} as const
const WHO = arg.one('name, email or id of a person or an agent', { completes: 'agent' })

interface TargetFlags {
  readonly vault: string | undefined
  readonly project: string | undefined
  readonly item: string | undefined
}

/** Exactly one of the three. */
async function targetOf(cli: Cli, { vault, project, item }: TargetFlags): Promise<AccessTarget> {
  const given = [vault, project, item].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw new CliError('usage', 'say on what: one of --vault, --project and --item', { fix: 'give --vault NAME' })
  if (vault !== undefined) return { vault }
  if (project !== undefined) return { project }
  const place = itemPlace(item ?? '')
  const strongroom = await cli.strongroom()
  return { item: (await strongroom.items.get(place.vault, place.item, { signal: cli.signal })).itemId }
}

const changes = () => import('../access/changes.ts')
const accessShape = async () => (await shapes()).accessShape

const list = command({
  summary: 'who has access',
  args: {},
  flags: TARGET,
  examples: [{ run: 'strongroom access list --vault prod', does: 'the signed list of a vault' }],
  next: 'strongroom access explain WHO VAULT',
  output: accessShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const entries = await strongroom.permissions.list(await targetOf(cli, flags), { signal: cli.signal })
    return (await changes()).accessResult(cli, entries)
  },
})

const grant = command({
  summary: 'one entry more; everybody else stays',
  args: { who: WHO, role: arg.one(ROLES.join(', '), { choices: ROLES }) },
  flags: TARGET,
  examples: [
    { run: 'strongroom access grant checkout-bot read --vault prod', does: 'the vault key is wrapped for it' },
  ],
  next: 'strongroom access list --vault VAULT',
  output: accessShape,
  run: async (cli, { args, flags }) =>
    (await changes()).grantTo(cli, await targetOf(cli, flags), args.who, args.role as (typeof ROLES)[number]),
})

const revoke = command({
  summary: 'one entry less; a vault gets a new key',
  args: { who: WHO },
  flags: {
    ...TARGET,
    defer: flag.on('without a new key for now; the log says that one is due'),
    'allow-self': flag.on('also where it is your own entry'),
  },
  examples: [{ run: 'strongroom access revoke checkout-bot --vault prod', does: 'everybody else stays' }],
  next: 'strongroom access who-can-decrypt VAULT',
  output: accessShape,
  run: async (cli, { args, flags }) =>
    (await changes()).revokeFrom(cli, await targetOf(cli, flags), args.who, {
      deferRotation: flags.defer,
      allowSelfRemoval: flags['allow-self'],
    }),
})

const replace = command({
  summary: 'exactly these entries',
  args: { entries: arg.rest('WHO:ROLE, one for each') },
  flags: { ...TARGET, 'allow-self': flag.on('also where you are not among them') },
  examples: [
    { run: 'strongroom access replace ada@acme.dev:admin checkout-bot:read --vault prod', does: 'nobody else' },
  ],
  next: 'strongroom access list --vault VAULT',
  output: accessShape,
  run: async (cli, { args, flags }) => {
    const { findPrincipal } = await import('../place/principals.ts')
    const entries: AccessEntry[] = []
    for (const text of args.entries) {
      const at = text.lastIndexOf(':')
      const role = ROLES.find((known) => known === text.slice(at + 1))
      if (at < 1 || !role)
        throw new CliError('usage', 'an entry is written WHO:ROLE', { fix: `roles: ${ROLES.join(', ')}` })
      const { id } = await findPrincipal(cli, text.slice(0, at))
      entries.push({ principal: id, role: role.toUpperCase() as AccessEntry['role'] })
    }
    await confirm(cli, `Replace the whole access list with these ${entries.length} entries?`)
    const strongroom = await cli.strongroom()
    const options = { signal: cli.signal, allowSelfRemoval: flags['allow-self'] }
    return (await changes()).accessResult(
      cli,
      await strongroom.permissions.replace(await targetOf(cli, flags), entries, options),
    )
  },
})

const explain = command({
  summary: 'what somebody may do with a vault, and why',
  args: { who: WHO, vault: arg.one('name or id of a vault', { completes: 'vault' }) },
  flags: {},
  examples: [{ run: 'strongroom access explain checkout-bot prod', does: 'entry, role, keys, and what follows' }],
  next: 'strongroom access list --vault VAULT',
  output: async () => (await shapes()).explainShape,
  run: async (cli, { args }) => {
    const { findPrincipal } = await import('../place/principals.ts')
    const { id, name } = await findPrincipal(cli, args.who)
    const strongroom = await cli.strongroom()
    const holders = await strongroom.vaults.holders(args.vault, { signal: cli.signal })
    const entry = holders.find(({ principal }) => principal === id)
    const reads = entry !== undefined && entry.keyIds.length > 0
    const data = {
      principal: id,
      name,
      vault: args.vault,
      role: entry?.role ?? null,
      keyIds: entry?.keyIds ?? [],
      canDecrypt: reads,
      canWrite: entry !== undefined && entry.role !== 'READ',
      canShare: entry?.role === 'ADMIN',
    }
    const why = entry
      ? reads
        ? `on the signed access list, with the vault key wrapped for ${entry.keyIds.length} of its keys`
        : 'on the signed access list, but nobody has wrapped the vault key for it yet'
      : 'not on the signed access list'
    const yes = (claim: boolean): string => (claim ? 'yes' : 'no')
    const rows = [
      ['who', `${name} (${id})`],
      ['decrypt', yes(data.canDecrypt)],
      ['write', yes(data.canWrite)],
      ['share', yes(data.canShare)],
      ['because', why],
    ] as const
    return {
      data,
      text: facts(rows, cli.style),
      ...(!entry && { next: shellLine`strongroom vault share ${args.vault} --with ${args.who}` }),
    }
  },
})

const whoCanDecrypt = command({
  summary: 'who holds the key of a vault',
  args: { vault: arg.one('a vault, or a reference into it', { completes: 'ref' }) },
  flags: {},
  examples: [
    { run: 'strongroom access who-can-decrypt prod/stripe/secret_key', does: 'wrapped keys, not list entries' },
  ],
  next: 'strongroom access explain WHO VAULT',
  output: async () => (await import('../schemas/vault.ts')).holdersShape,
  run: async (cli, { args }) => {
    const name = args.vault.includes('/') ? fieldOrItem(args.vault).vault : args.vault
    const strongroom = await cli.strongroom()
    const all = await strongroom.vaults.holders(name, { signal: cli.signal })
    const able = all.filter(({ keyIds }) => keyIds.length > 0)
    return {
      data: able,
      text: table(
        able,
        [
          { title: 'WHO', of: (holder) => holder.name || holder.principal },
          { title: 'ROLE', of: ({ role }) => role.toLowerCase() },
          { title: 'KEY', of: ({ keyIds }) => keyIds.map((kid) => kid.slice(kid.lastIndexOf(':') + 1)).join(' ') },
        ],
        cli.style,
      ),
    }
  },
})

const exposure = command({
  summary: 'what an agent or a person could ever have decrypted',
  about:
    'From the log alone: every vault key that was ever wrapped for one of its keys, from when to when, and what is under those keys now. For after a key was lost. What no log can say is listed with it.',
  args: { who: arg.one('name, email or id of an agent or a person, or a key id', { completes: 'agent' }) },
  flags: {},
  examples: [{ run: 'strongroom access exposure checkout-bot', does: 'vaults, and how many values to write anew' }],
  next: 'strongroom access revoke NAME --vault VAULT',
  output: async () => (await shapes()).exposureShape,
  run: async (cli, { args }) => (await import('../access/exposure.ts')).showExposure(cli, args.who),
})

export const access: Group = {
  summary: 'access lists: who may read, write and share',
  verbs: { list, grant, revoke, replace, explain, 'who-can-decrypt': whoCanDecrypt, exposure },
}
