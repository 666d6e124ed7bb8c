import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, type Group } from '../model/command.ts'
import { nearest } from '../model/nearest.ts'
import { facts, table } from '../output/table.ts'
import { type ConfigFile, type Profile, readConfigFile, writeConfigFile } from '../place/config-file.ts'

// What this machine is told about itself. Nothing here is secret, and what is verified cannot be set by hand.

const shapes = () => import('../schemas/config.ts')
const SETTABLE = ['server', 'vault'] as const
type Settable = (typeof SETTABLE)[number]
const KEY = arg.one('default, server, vault, or profiles.NAME.server, profiles.NAME.vault')

const rowOf = (config: ConfigFile, name: string, { kind, server, org, email, agent }: Profile) => {
  const who = email ?? (agent === undefined ? undefined : `agent:${agent}`)
  return { name, kind, server, org, ...(who !== undefined && { who }), isDefault: config.default === name }
}

const rowsOf = (config: ConfigFile) =>
  Object.entries(config.profiles).map(([name, profile]) => rowOf(config, name, profile))

function profileIn(config: ConfigFile, name: string): Profile {
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined
  if (profile) return profile
  const near = nearest(name, Object.keys(config.profiles))
  throw new CliError('profile_not_found', `there is no profile ${name}`, {
    fix: near ? `did you mean ${near}?` : 'strongroom config profiles',
  })
}

interface Target {
  readonly name: string
  readonly member: Settable
}

/** `vault` of the profile in use, or `profiles.NAME.vault`. */
function targetOf({ globals, io }: Cli, config: ConfigFile, key: string): Target {
  const [, named, member = key] = /^profiles\.(.+)\.([a-z_]+)$/.exec(key) ?? []
  const settable = SETTABLE.find((one) => one === member)
  if (!settable)
    throw new CliError('usage', `${key} cannot be set by hand`, {
      fix: `use default, ${SETTABLE.join(', ')} or profiles.NAME.vault; strongroom login writes the rest`,
    })
  const name = named ?? globals.profile ?? (io.env.STRONGROOM_PROFILE || config.default)
  if (name === undefined)
    throw new CliError('profile_not_found', 'there is no profile yet', { fix: 'strongroom login' })
  return { name, member: settable }
}

const get = command({
  summary: 'one setting',
  args: { key: KEY },
  flags: {},
  examples: [{ run: 'strongroom config get default', does: 'the profile that commands use' }],
  next: 'strongroom config list',
  output: async () => (await shapes()).configValueShape,
  run: async (cli, { args }) => {
    const config = await readConfigFile(cli.paths.config)
    const { name, member } = args.key === 'default' ? { name: '', member: undefined } : targetOf(cli, config, args.key)
    const value = (member === undefined ? config.default : profileIn(config, name)[member]) ?? null
    return { data: { key: args.key, value }, ...(value !== null && { text: value }) }
  },
})

const set = command({
  summary: 'change one setting',
  args: { key: KEY, value: arg.one('the value') },
  flags: {},
  examples: [{ run: 'strongroom config set vault prod', does: 'what run and env use where no vault is named' }],
  next: 'strongroom config list',
  output: async () => (await shapes()).configValueShape,
  run: async (cli, { args }) => {
    const config = await readConfigFile(cli.paths.config)
    const { key, value } = args
    if (key === 'default') return useProfile(cli, config, value)
    const { name, member } = targetOf(cli, config, key)
    if (member === 'server' && !/^https?:\/\/[^/?#@\s]+$/.test(value))
      throw new CliError('usage', 'the address of a server is written https://host')
    const profile = { ...profileIn(config, name), [member]: value }
    await writeConfigFile(cli.paths.config, { ...config, profiles: { ...config.profiles, [name]: profile } })
    return { data: { key, value }, text: `${cli.style.good('✓')} ${name}: ${member} is ${value}` }
  },
})

async function useProfile(cli: Cli, config: ConfigFile, name: string) {
  profileIn(config, name)
  await writeConfigFile(cli.paths.config, { ...config, default: name })
  return { data: { key: 'default', value: name }, text: `${cli.style.good('✓')} commands use profile "${name}"` }
}

const use = command({
  summary: 'choose the profile that commands use',
  args: { profile: arg.one('name of a profile', { completes: 'profile' }) },
  flags: {},
  examples: [{ run: 'strongroom config use default', does: 'until another one is chosen, or --profile is given' }],
  next: 'strongroom whoami',
  output: async () => (await shapes()).configValueShape,
  run: async (cli, { args }) => useProfile(cli, await readConfigFile(cli.paths.config), args.profile),
})

const profileTable = (cli: Cli, config: ConfigFile): string =>
  table(
    rowsOf(config),
    [
      { title: '', of: ({ isDefault }) => (isDefault ? '●' : ' ') },
      { title: 'PROFILE', of: ({ name }) => name },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'WHO', of: ({ who }) => who },
      { title: 'ORGANISATION', of: ({ org }) => org },
      { title: 'SERVER', of: ({ server }) => server },
    ],
    cli.style,
  )

const profiles = command({
  summary: 'who this machine can be',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom config profiles', does: 'a line for each; the dot marks the one in use' }],
  next: 'strongroom config use NAME',
  output: async () => (await shapes()).configProfilesShape,
  run: async (cli) => {
    const config = await readConfigFile(cli.paths.config)
    const rows = rowsOf(config)
    if (rows.length === 0) cli.say('no profiles yet: strongroom init, or strongroom login')
    return { data: rows, meta: { total: rows.length }, ...(rows.length > 0 && { text: profileTable(cli, config) }) }
  },
})

const list = command({
  summary: 'all settings',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom config list', does: 'the default profile and all profiles' }],
  next: 'strongroom config set KEY VALUE',
  output: async () => (await shapes()).configListShape,
  run: async (cli) => {
    const config = await readConfigFile(cli.paths.config)
    const data = { ...(config.default !== undefined && { default: config.default }), profiles: rowsOf(config) }
    if (data.profiles.length === 0) cli.say('no settings yet: strongroom init, or strongroom login')
    return { data, ...(data.profiles.length > 0 && { text: profileTable(cli, config) }) }
  },
})

const path = command({
  summary: 'where everything is on this machine',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom config path --pick data.config', does: 'only the configuration file' }],
  next: 'strongroom doctor',
  output: async () => (await shapes()).configPathShape,
  run: async (cli) => {
    const { runtime, ...rest } = cli.paths
    const data = { ...rest, ...(runtime !== undefined && { runtime }) }
    return { data, text: facts(Object.entries(data), cli.style) }
  },
})

export const config: Group = {
  summary: 'profiles and settings of this machine',
  verbs: { list, get, set, path, profiles, use },
}
