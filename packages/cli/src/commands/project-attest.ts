import { confirm } from '../cli.ts'
import { arg, command } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { facts } from '../output/table.ts'

export const attest = command({
  summary: 'sign anew what a compromised key signed last',
  about:
    'A project that was last signed by a key which was found to be compromised is refused to everybody. This shows the project as it is and, once you have looked at it, signs it with your key. You have to be one of those who administer it.',
  args: { project: arg.one('slug or id of a project', { completes: 'project' }) },
  flags: {},
  examples: [{ run: 'strongroom project attest storefront', does: 'shows it, and asks before it signs' }],
  next: 'strongroom project show SLUG',
  output: async () => (await import('../schemas/project.ts')).attestedProjectShape,
  run: async (cli, { args }) => {
    const { projects, vaults } = await cli.strongroom()
    const { signal } = cli
    const found = await projects.review(args.project, { signal })
    const { project, content, admins } = found
    const by = content ?? admins
    const name = safeText(project.name)
    if (by === null) return { data: found, text: `${cli.style.good('✓')} nothing in ${name} has to be signed anew` }
    const { namesOf, namesOfKeys } = await import('../place/principals.ts')
    const [nameOf, ownerOf] = [await namesOf(cli), await namesOfKeys(cli)]
    const names = new Map((await vaults.list({ signal })).map((vault) => [vault.vaultId, vault.name]))
    const shown = facts(
      [
        ['name', project.name],
        ['slug', project.slug],
        ['vaults', project.vaultIds.map((id) => names.get(id) ?? id).join(', ') || 'none'],
        ['administered by', found.administrators.map(nameOf).join(', ')],
        ['last signed by', ownerOf(by)],
      ],
      cli.style,
    )
    for (const line of shown.split('\n')) cli.say(line)
    await confirm(cli, 'Sign this anew, as it is now?')
    await projects.attest(found, { signal })
    return { data: found, text: `${cli.style.good('✓')} ${name} is signed by you` }
  },
})
