import { confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag } from '../../model/command.ts'
import { table } from '../../output/table.ts'
import { fieldOrItem, isField } from '../../place/reference.ts'
import { forgetProfile } from '../../place/sign-in.ts'
import { findAgent, heldAgent } from './find.ts'
import { CHANGED_LIMIT_FLAGS, limitChanges } from './limits.ts'
import { AGENT, dataOf } from './look.ts'

const shapes = () => import('../../schemas/agent.ts')

export const update = command({
  summary: 'change its name, description, permissions or limits',
  args: { agent: AGENT },
  flags: {
    name: flag.text('another name', 'NAME'),
    description: flag.text('another description', 'TEXT'),
    permission: flag.many('a machine permission; those given replace all it has', 'NAME'),
    ...CHANGED_LIMIT_FLAGS,
  },
  examples: [
    { run: 'strongroom agent update checkout-bot --description "Charges cards"', does: 'what is not named stays' },
    { run: 'strongroom agent update checkout-bot --expires 90d --network 10.1.0.0/16', does: 'limits of all its keys' },
    { run: 'strongroom agent update checkout-bot --expires never --network any', does: 'no limits' },
  ],
  next: 'strongroom agent show NAME',
  output: async () => (await shapes()).agentShape,
  run: async (cli, { args, flags }) => {
    const { name, description, permission } = flags
    const change = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(permission.length > 0 && { permissions: permission }),
      ...(await limitChanges(flags)),
    }
    if (Object.keys(change).length === 0)
      throw new CliError('usage', 'nothing is to be changed', {
        fix: 'give --name, --description, --permission, --expires or --network',
      })
    const { agentId } = await findAgent(cli, args.agent)
    const strongroom = await cli.strongroom()
    const agent = await strongroom.agents.update(agentId, change, { signal: cli.signal })
    return { data: dataOf(agent), text: `${cli.style.good('✓')} ${agent.name}   ${agent.permissions.join(', ')}` }
  },
})

export const roles = command({
  summary: 'its roles in tenants, and from which group it has them',
  args: { agent: AGENT },
  flags: {
    set: flag.many('a direct role; those given replace all direct ones', 'TENANT:ROLE'),
    none: flag.on('take all direct roles away'),
  },
  examples: [
    { run: 'strongroom agent roles checkout-bot', does: 'direct ones and inherited ones' },
    { run: 'strongroom agent roles master --set main:TENANT_AGENT_MANAGER', does: 'it may manage agents' },
  ],
  next: 'strongroom agent show NAME',
  output: async () => (await shapes()).agentRolesShape,
  run: async (cli, { args, flags }) => {
    const { agentId } = await findAgent(cli, args.agent)
    const strongroom = await cli.strongroom()
    if (flags.set.length > 0 || flags.none) {
      const { tenantRolesIn } = await import('../../people/roles.ts')
      await strongroom.agents.setRoles(agentId, await tenantRolesIn(cli, flags.set), { signal: cli.signal })
    }
    const { direct, inherited } = await strongroom.agents.roles(agentId, { signal: cli.signal })
    const rows = [
      ...direct.map((one) => ({ ...one, from: 'direct' })),
      ...inherited.map((one) => ({ ...one, from: 'a group' })),
    ]
    if (rows.length === 0) cli.say('no roles in any tenant')
    const nameOf = cli.isJson ? (id: string) => id : await (await import('../../people/tenants.ts')).tenantNames(cli)
    const text = table(
      rows,
      [
        { title: 'TENANT', of: ({ tenantId }) => nameOf(tenantId) },
        { title: 'ROLE', of: ({ role }) => role },
        { title: 'FROM', of: ({ from }) => from },
      ],
      cli.style,
    )
    return { data: { direct, inherited }, ...(rows.length > 0 && { text }) }
  },
})

export const archive = command({
  summary: 'end an agent for good',
  about: 'Its API key is dead from the next request on. It does not come back; what it could decrypt it may have kept.',
  args: { agent: AGENT },
  flags: {},
  examples: [{ run: 'strongroom agent archive checkout-bot', does: 'asks first' }],
  next: 'strongroom agent list',
  output: async () => (await shapes()).agentArchivedShape,
  run: async (cli, { args }) => {
    const { agentId, name } = await findAgent(cli, args.agent)
    const held = await heldAgent(cli, args.agent, agentId).catch(() => undefined)
    await confirm(cli, `Archive ${name} for good?`)
    await (await cli.strongroom()).agents.archive(agentId, { signal: cli.signal })
    if (held) await forgetProfile(cli, held.name)
    return {
      data: { agentId, profileRemoved: held !== undefined },
      text: `${cli.style.good('✓')} ${name} is archived${held ? `, and profile "${held.name}" is gone` : ''}`,
    }
  },
})

export const linkItem = command({
  summary: 'note which vault item keeps the API key of an agent',
  args: { agent: AGENT, item: arg.maybe('the item, as vault/item; none to take the note away', { completes: 'item' }) },
  flags: {},
  examples: [
    { run: 'strongroom agent link-item checkout-bot ops/checkout-bot', does: 'people find it from the agent' },
  ],
  next: 'strongroom agent show NAME',
  output: async () => (await shapes()).agentLinkShape,
  run: async (cli, { args }) => {
    const { agentId, name } = await findAgent(cli, args.agent)
    const strongroom = await cli.strongroom()
    let vaultItem: { readonly vaultId: string; readonly itemId: string } | null = null
    if (args.item !== undefined) {
      const place = fieldOrItem(args.item)
      if (isField(place)) throw new CliError('usage', 'an item is written vault/item')
      const { vaultId, itemId } = await strongroom.items.get(place.vault, place.item, { signal: cli.signal })
      vaultItem = { vaultId, itemId }
    }
    const body = vaultItem ?? { vaultId: null, itemId: null }
    await strongroom.request({ method: 'PATCH', path: `/agent/${agentId}/vault-item`, body }, { signal: cli.signal })
    const text = vaultItem ? `${name} → ${args.item}` : `${name} has no item`
    return { data: { agentId, vaultItem }, text: `${cli.style.good('✓')} ${text}` }
  },
})
