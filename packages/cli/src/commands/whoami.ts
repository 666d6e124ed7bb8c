import { command } from '../model/command.ts'
import { facts } from '../output/table.ts'

export const whoami = command({
  summary: 'who this machine acts as',
  args: {},
  flags: {},
  examples: [
    { run: 'strongroom whoami', does: 'the profile, the principal and what it may do' },
    { run: 'strongroom whoami --json --pick data.id', does: 'only the id' },
  ],
  next: 'strongroom vault list',
  output: async () => (await import('../schemas/machine.ts')).whoamiShape,
  run: async (cli) => {
    const { source, profileName } = await cli.credential()
    const strongroom = await cli.strongroom()
    const me = await strongroom.me({ signal: cli.signal })
    const { server } = strongroom.toJSON()
    const data = { ...me, server, source, ...(profileName !== undefined && { profile: profileName }) }
    const text = facts(
      [
        ['name', me.name],
        ['id', me.id],
        ['profile', profileName ?? source],
        ['server', server],
        ['roles', me.orgRoles.join(', ')],
        ['may', me.permissions.join(', ')],
        ...me.warnings.map((warning) => ['warning', warning] as const),
      ],
      cli.style,
    )
    return { data, text }
  },
})
