import { isUtf8 } from 'node:buffer'
import { shellLine } from '@strongroom/contract'
import type { Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { explainingKeys } from '../errors/wrapped-key.ts'
import { exportWish, generated, storeValue } from '../items/store-value.ts'
import { arg, command, flag, rare } from '../model/command.ts'
import { readGiven } from '../place/given-file.ts'
import { fieldPlace, isVariableName, referenceOf } from '../place/reference.ts'
import { readPiped } from '../place/standard-input.ts'

const MOST_BYTES = 65_536

interface Source {
  readonly file: string | undefined
  readonly generate: number | undefined
}

/** Piped in, without the one line end that `echo` adds. Nothing at all is no value. */
async function fromPipe(cli: Cli): Promise<Uint8Array> {
  const bytes = await readPiped(cli, MOST_BYTES + 2, '--file FILE or --generate 32')
  const end = bytes.at(-1) !== 10 ? bytes.length : bytes.at(-2) === 13 ? bytes.length - 2 : bytes.length - 1
  if (end > 0) return bytes.subarray(0, end)
  throw new CliError('input_required', 'there is no value, and nobody can be asked', {
    fix: 'pipe it in, or give --file FILE or --generate 32',
  })
}

/** Nothing where a person is asked, which is done when it is known where the value goes. */
async function givenValue(cli: Cli, { file, generate }: Source): Promise<string | Uint8Array | undefined> {
  if (file !== undefined && generate !== undefined) throw new CliError('usage', 'give --file or --generate, not both')
  if (generate !== undefined) return generated(generate)
  if (file !== undefined) return readGiven(cli, file, 'check the path given with --file')
  return cli.isInteractive ? undefined : fromPipe(cli)
}

/** What no environment can hold must not stop the processes that get the other variables of the vault. */
const isText = (value: string | Uint8Array): boolean =>
  typeof value === 'string' || (isUtf8(value) && !value.includes(0))

const isAbsentVault = (error: unknown): boolean => (error as { code?: unknown }).code === 'vault_not_found'

/** Whether the vault was made now. A person is asked before they type the value. */
async function provideVault(cli: Cli, strongroom: Strongroom, name: string, mayCreate: boolean): Promise<boolean> {
  try {
    await strongroom.vaults.get(name, { signal: cli.signal })
    return false
  } catch (error) {
    if (!isAbsentVault(error)) throw error
    const isWanted =
      mayCreate || (cli.isInteractive && (await cli.ask.yes(`Vault "${name}" does not exist. Create it?`)))
    if (!isWanted)
      throw new CliError('vault_not_found', `there is no vault "${name}"`, {
        fix: shellLine`give --create-vault, or: strongroom vault create ${name}`,
        cause: error,
      })
  }
  await strongroom.vaults.create({ name }, { signal: cli.signal })
  return true
}

export const set = command({
  summary: 'write one value: typed, piped in, from a file, or generated',
  about:
    'The value is encrypted on this machine. A process gets a field under the name of the field, so name it as the variable: prod/stripe/STRIPE_SECRET_KEY. A field whose name can be no variable is not exported unless --env is given, and neither is a value that is not text. Of what is piped in, the one line end that echo adds is dropped; a file is taken as it is.',
  args: { ref: arg.one('vault/item/FIELD', { completes: 'ref' }) },
  flags: {
    file: flag.text('take the value from a file', 'FILE', { completes: 'file' }),
    generate: flag.count('make a random value of this length; it is not shown', 'LENGTH'),
    env: flag.on('export it to processes'),
    'no-env': flag.on('keep it out of the environment of processes'),
    ...rare({
      'if-version': flag.count('write only if the field has this version; 0 if it must be new'),
      'create-vault': flag.on('make the vault if it is not there'),
    }),
  },
  examples: [
    { run: 'strongroom set prod/stripe/STRIPE_SECRET_KEY', does: 'asks for the value, which is not shown' },
    { run: 'strongroom set prod/app/SESSION_SECRET --generate 48', does: 'nobody ever sees it' },
    { run: 'strongroom set prod/tls/KEY --file key.pem --no-env', does: 'a file, not exported to processes' },
  ],
  next: 'strongroom agent create',
  output: async () => (await import('../schemas/secrets.ts')).setShape,
  run: async (cli, { args, flags }) => {
    if (flags.env && flags['no-env']) throw new CliError('usage', 'give --env or --no-env, not both')
    const place = fieldPlace(args.ref)
    const given = await givenValue(cli, flags)
    const strongroom = await cli.strongroom()
    const vaultCreated = await explainingKeys(cli, place.vault, () =>
      provideVault(cli, strongroom, place.vault, flags['create-vault']),
    )
    const value = given ?? (await cli.ask.secret('Value (hidden)', '--file FILE'))
    const isKept = flags['no-env'] || (!flags.env && !isText(value))
    const env = flags.env ? true : isKept ? false : await exportWish(cli, strongroom, place)
    const ifVersion = flags['if-version']
    const { version, created } = await storeValue(cli, strongroom, place, value, { env, ifVersion })
    const ref = referenceOf(place)
    const isSeen = env ?? isVariableName(place.field)
    return {
      data: { ref, version, created, vaultCreated, generated: flags.generate !== undefined },
      text: [
        ...(vaultCreated ? [`${cli.style.good('✓')} vault ${place.vault}   new, you are its administrator`] : []),
        `${cli.style.good('✓')} ${ref}   version ${version}`,
        '  encrypted here; the server keeps what it cannot read',
        isSeen
          ? `  processes see it as ${place.field}`
          : `  ${isText(value) ? '' : 'not text, so '}not exported to processes`,
      ].join('\n'),
      next: 'strongroom agent create',
    }
  },
})
