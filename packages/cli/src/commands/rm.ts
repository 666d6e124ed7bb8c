import { confirm } from '../cli.ts'
import { arg, command } from '../model/command.ts'
import { fieldOrItem, isField, referenceOf } from '../place/reference.ts'

export const rm = command({
  summary: 'remove a field, or archive an item',
  about:
    'What was there stays in the history of the vault: who could read it before still knows it. Change the secret where it is used.',
  args: { ref: arg.one('vault/item/FIELD, or vault/item', { completes: 'ref' }) },
  flags: {},
  examples: [
    { run: 'strongroom rm prod/stripe/STRIPE_SECRET_KEY', does: 'one field; asks first' },
    { run: 'strongroom rm prod/stripe --yes', does: 'the whole item, without asking' },
  ],
  next: 'strongroom item list VAULT',
  output: async () => (await import('../schemas/secrets.ts')).rmShape,
  run: async (cli, { args }) => {
    const place = fieldOrItem(args.ref)
    const strongroom = await cli.strongroom()
    if (isField(place)) {
      const ref = referenceOf(place)
      await confirm(cli, `Remove ${ref}?`)
      await strongroom.secrets.remove(ref, { signal: cli.signal })
      return { data: { removed: 'field', ref }, text: `${cli.style.good('✓')} ${ref}   removed` }
    }
    const { vault, item } = place
    const ref = `sr://${vault}/${item}`
    await confirm(cli, `Archive ${ref} with all its fields?`)
    await strongroom.items.archive(vault, item, { signal: cli.signal })
    return { data: { removed: 'item', ref }, text: `${cli.style.good('✓')} ${ref}   archived` }
  },
})
