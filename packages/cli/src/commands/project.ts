import { shellLine } from '@strongroom/contract'
import type { Project } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { arg, command, flag, type Group, type Result } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { rememberNames } from '../place/name-index.ts'
import { attest } from './project-attest.ts'

const shapes = () => import('../schemas/project.ts')
const projectShape = async () => (await shapes()).projectShape
const PROJECT = arg.one('slug or id of a project', { completes: 'project' })

async function vaultNames(cli: Cli): Promise<(id: string) => string> {
  const strongroom = await cli.strongroom()
  const names = new Map(
    (await strongroom.vaults.list({ signal: cli.signal })).map(({ vaultId, name }) => [vaultId, name]),
  )
  return (id) => names.get(id) ?? id
}

async function shown(cli: Cli, project: Project, next?: string): Promise<Result> {
  const nameOf = await vaultNames(cli)
  const text = facts(
    [
      ['name', project.name],
      ['slug', project.slug],
      ['id', project.id],
      ['status', project.status],
      ['vaults', project.vaultIds.map(nameOf).join(', ') || 'none'],
      ['version', project.version],
      ['verified', project.isVerified ? 'signed and logged ✓' : 'no: the word of the server alone'],
    ],
    cli.style,
  )
  return { data: project, text, ...(next !== undefined && { next }) }
}

const list = command({
  summary: 'the projects you can see',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom project list', does: 'slugs and their vaults' }],
  next: 'strongroom run --project SLUG -- COMMAND',
  output: async () => (await shapes()).projectListShape,
  run: async (cli) => {
    const strongroom = await cli.strongroom()
    const projects = await strongroom.projects.list({}, { signal: cli.signal }).all()
    await rememberNames(
      cli.paths,
      'project',
      projects.map(({ slug }) => slug),
    )
    const nameOf = await vaultNames(cli)
    if (projects.length === 0) cli.say('no projects yet')
    return {
      data: projects,
      meta: { total: projects.length },
      ...(projects.length > 0 && {
        text: table(
          projects,
          [
            { title: 'SLUG', of: ({ slug }) => slug },
            { title: 'NAME', of: ({ name }) => name },
            { title: 'VAULTS', of: ({ vaultIds }) => vaultIds.map(nameOf).join(', ') },
            { title: 'STATUS', of: ({ status }) => status },
          ],
          cli.style,
        ),
      }),
      next: 'strongroom project create NAME --vault VAULT',
    }
  },
})

const show = command({
  summary: 'one project, verified',
  args: { project: PROJECT },
  flags: {},
  examples: [{ run: 'strongroom project show storefront', does: 'which vaults make its environment' }],
  next: 'strongroom run --project SLUG -- COMMAND',
  output: projectShape,
  run: async (cli, { args }) =>
    shown(cli, await (await cli.strongroom()).projects.get(args.project, { signal: cli.signal })),
})

const create = command({
  summary: 'make a project of some vaults',
  args: { name: arg.one('its name; the server can read it') },
  flags: {
    slug: flag.text('short name for references', 'SLUG'),
    vault: flag.many('a vault of it, in order', 'NAME', { completes: 'vault' }),
  },
  examples: [{ run: 'strongroom project create Storefront --slug storefront --vault prod', does: 'signed by you' }],
  next: 'strongroom run --project SLUG -- COMMAND',
  output: projectShape,
  run: async (cli, { args, flags }) => {
    const strongroom = await cli.strongroom()
    const fresh = { name: args.name, vaults: flags.vault, ...(flags.slug !== undefined && { slug: flags.slug }) }
    const project = await strongroom.projects.create(fresh, { signal: cli.signal })
    return shown(cli, project, shellLine`strongroom run --project ${project.slug} -- COMMAND`)
  },
})

const link = command({
  summary: 'exactly these vaults from now on',
  args: { project: PROJECT, vaults: arg.rest('names or ids, in order', { completes: 'vault' }) },
  flags: {},
  examples: [{ run: 'strongroom project link storefront shared prod', does: 'of a name in both, the first counts' }],
  next: 'strongroom project show SLUG',
  output: projectShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    return shown(cli, await strongroom.projects.update(args.project, { vaults: args.vaults }, { signal: cli.signal }))
  },
})

const rename = command({
  summary: 'another name or slug',
  args: { project: PROJECT },
  flags: { name: flag.text('the new name', 'NAME'), slug: flag.text('the new slug', 'SLUG') },
  examples: [
    { run: 'strongroom project rename storefront --slug shop', does: 'references by the old slug stop working' },
  ],
  next: 'strongroom project show SLUG',
  output: projectShape,
  run: async (cli, { args, flags }) => {
    const strongroom = await cli.strongroom()
    const change = {
      ...(flags.name !== undefined && { name: flags.name }),
      ...(flags.slug !== undefined && { slug: flags.slug }),
    }
    return shown(cli, await strongroom.projects.update(args.project, change, { signal: cli.signal }))
  },
})

const archive = command({
  summary: 'archive a project; its vaults stay',
  args: { project: PROJECT },
  flags: {},
  examples: [{ run: 'strongroom project archive storefront', does: 'asks first' }],
  next: 'strongroom project list',
  output: async () => (await import('../schemas/vault.ts')).archivedShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const { id, name } = await strongroom.projects.get(args.project, { signal: cli.signal })
    await confirm(cli, `Archive project ${name}?`)
    await strongroom.projects.archive(id, { signal: cli.signal })
    return { data: { archived: id }, text: `${cli.style.good('✓')} ${name} is archived` }
  },
})

export const project: Group = {
  summary: 'projects: vaults that make one environment',
  verbs: { list, show, create, link, rename, archive, attest },
}
