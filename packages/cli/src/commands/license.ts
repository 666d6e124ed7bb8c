import { shellLine } from '@strongroom/contract'
import type { Strongroom } from '@strongroom/sdk'
import { type Cli, ensureNotAgent } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group } from '../model/command.ts'
import { shownMoney } from '../output/money.ts'
import { table } from '../output/table.ts'
import { buy, handoff, priceText, resume, status, terminate } from './license-buy.ts'
import { ownLicenses, waitsForHandOff } from './license-find.ts'

const shapes = () => import('../schemas/license.ts')

const search = command({
  summary: 'licences that you may buy, with prices',
  args: { text: arg.rest('what to look for') },
  flags: {},
  examples: [{ run: 'strongroom license search sandbox', does: 'by name, best first' }],
  next: 'strongroom license buy LICENCE --vault new:NAME',
  output: async () => (await shapes()).offersShape,
  run: async (cli, { args }) => {
    const text = args.text.join(' ')
    if (text === '')
      throw new CliError('usage', 'TEXT is missing: what to look for', { fix: 'strongroom license search sandbox' })
    const data = await (await cli.strongroom()).licenses.search(text, { signal: cli.signal })
    if (data.length === 0) cli.say('nothing found')
    const shown = table(
      data,
      [
        { title: 'LICENCE', of: ({ licenseId }) => licenseId },
        { title: 'PRICE', of: (one) => priceText(one), right: true },
        { title: 'BRINGS', of: ({ schema }) => schema.map(({ label }) => label).join(', ') },
        { title: 'NAME', of: ({ name }) => name },
      ],
      cli.style,
    )
    const [first] = data
    return {
      data,
      meta: { total: data.length },
      ...(first && { text: shown, next: shellLine`strongroom license buy ${first.licenseId} --vault new:NAME` }),
    }
  },
})

/** For who may not list vaults their ids have to do. */
async function vaultNames({ signal }: Cli, { vaults }: Strongroom): Promise<ReadonlyMap<string, string>> {
  const listed = await vaults.list({ signal }).catch((error: { readonly code?: unknown }) => {
    if (error.code === 'machine_permission_denied') return []
    throw error
  })
  return new Map(listed.map(({ vaultId, name }) => [vaultId, name]))
}

const list = command({
  summary: 'licences you have bought; for who manages the money, all of them',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom license list', does: 'what runs, until when, and its vault' }],
  next: 'strongroom run --license LICENCE -- COMMAND',
  output: async () => (await shapes()).licensesShape,
  run: async (cli) => {
    const strongroom = await cli.strongroom()
    const data = await ownLicenses(cli, strongroom)
    const vaults = await vaultNames(cli, strongroom)
    const text = table(
      data,
      [
        { title: 'LICENCE', of: ({ licenseId }) => licenseId },
        { title: 'STATE', of: (one) => (waitsForHandOff(one) ? 'waits for its vault' : one.status) },
        { title: 'PRICE', of: (one) => priceText(one), right: true },
        { title: 'UNTIL', of: ({ periodEnd }) => periodEnd ?? undefined },
        { title: 'VAULT', of: ({ vaultId }) => (vaultId === null ? undefined : (vaults.get(vaultId) ?? vaultId)) },
        { title: 'ID', of: ({ licenseInstanceId }) => licenseInstanceId },
      ],
      cli.style,
    )
    const next = data.some(waitsForHandOff) ? 'strongroom license resume' : 'strongroom license search TEXT'
    return { data, meta: { total: data.length }, text, next }
  },
})

const FORMATS = ['dotenv', 'json', 'shell', 'docker', 'compose', 'systemd', 'github', 'yaml'] as const

const env = command({
  summary: 'print the variables of a licence',
  about: 'Prints values. A process is better served with strongroom run --license.',
  args: { license: arg.one('id of a licence, or its name if you have one of it') },
  flags: { format: flag.choice('for whom it is', FORMATS), names: flag.on('only the names, without values') },
  examples: [{ run: 'strongroom license env sandbox-monthly --names', does: 'which variables it brings' }],
  next: 'strongroom run --license LICENCE -- COMMAND',
  output: async () => (await import('../schemas/env.ts')).envShape,
  run: async (cli, { args, flags }) => {
    if (!flags.names) ensureNotAgent(cli)
    const bundle = await (await cli.strongroom()).licenses.env(args.license, { signal: cli.signal })
    const variables = bundle.names.map((name) => ({ name, from: args.license }))
    if (flags.names) return { data: { variables }, text: bundle.names.join('\n') }
    const { printEnvironment } = await import('../dotenv/print.ts')
    return printEnvironment(cli, flags.format, variables, Object.entries(bundle.toObject()))
  },
})

const enable = command({
  summary: 'let licences of this server be handed over in your organisation',
  about:
    'Signs the next policy of the organisation, which names the key that this server signs hand-offs with. Organisations made by init name it from the start. Whoever has that key can seal credentials to buyers, and nothing else.',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom license enable', does: 'once, by a directory administrator' }],
  next: 'strongroom license search TEXT',
  output: async () => (await shapes()).enabledShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).licenses.enable({ signal: cli.signal })
    const { isNew, provisioner } = data
    const text = isNew
      ? `${cli.style.good('✓')} the policy names ${provisioner}`
      : `the policy names ${provisioner} already`
    return { data, text, next: 'strongroom license search TEXT' }
  },
})

const testCredit = command({
  summary: 'credit to try the sandbox licences with; once for each organisation',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom license test-credit', does: '100 USD that buy nothing real' }],
  next: 'strongroom license search sandbox',
  output: async () => (await shapes()).creditShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).licenses.testCredit({ signal: cli.signal })
    const text = `${cli.style.good('✓')} ${shownMoney(data.granted)} of test credit; ${shownMoney(data.available)} to spend`
    return { data, text, next: 'strongroom license search sandbox' }
  },
})

export const license: Group = {
  summary: 'licences: bought within budgets, handed over sealed',
  verbs: { search, buy, status, resume, handoff, list, env, terminate, enable, 'test-credit': testCredit },
}
