import { ensureProjectVaults, type OpenedEnvironment } from '@strongroom/protocol'
import { listOf, membersOf } from '../engine/answers.ts'
import { inOneForm, openAnswer } from '../engine/environment-answer.ts'
import { receiptOf } from '../engine/receipt.ts'
import { roundOf } from '../engine/verified.ts'
import type { EnvParts } from './env-bundle.ts'
import { readProject } from './project-read.ts'
import { type Reader, secretsOf } from './read-secrets.ts'
import type { Secret } from './secret.ts'

/** The environment of a project, of exactly the vaults its admins signed for; whole or not at all. */
export async function readProjectVariables(reader: Reader, asked: string): Promise<EnvParts> {
  const { actor, options } = reader
  const { rest } = await readProject(
    actor,
    asked,
    {
      ask: (call) => actor.client.projects.environment({ params: { projectId: asked } }, call),
      check: async (answer, { verified }, pins) => {
        const answers = listOf(membersOf(answer, 'answer').vaults, 'vaults').map((one) => membersOf(one, 'vault'))
        ensureProjectVaults(
          verified,
          answers.map(({ vaultId }) => String(vaultId)),
        )
        const rest: { opened: OpenedEnvironment; transparency: unknown }[] = []
        for (const one of answers) {
          const vaultId = String(one.vaultId)
          const opened = await openAnswer(actor, vaultId, inOneForm(one), pins.vault(vaultId))
          rest.push({ opened, transparency: membersOf(one.signed, 'signed').transparency })
        }
        return { rounds: rest.map(({ opened }) => roundOf(opened.head)), rest }
      },
    },
    options,
  )
  const inOrder = [...(rest ?? [])].sort((a, b) => (a.opened.head.vault.vaultId < b.opened.head.vault.vaultId ? -1 : 1))
  return merged(
    inOrder.map(({ opened: { head, fields }, transparency }) => ({
      vaultId: head.vault.vaultId,
      secrets: secretsOf(reader, {
        head,
        variables: fields.map(({ row: { label, fieldId, itemId, rev }, value }) => ({
          label,
          fieldId,
          itemId,
          rev,
          value,
        })),
        receipt: receiptOf(head, transparency, { source: 'network', fetchedAt: actor.now() }),
      }),
    })),
  )
}

/** In the order of their ids, which is that of the signed project: the first one counts. */
function merged(vaults: readonly { vaultId: string; secrets: ReadonlyMap<string, Secret> }[]): EnvParts {
  const secrets = new Map<string, Secret>()
  const duplicates = new Set<string>()
  for (const vault of vaults)
    for (const [name, secret] of vault.secrets) {
      if (secrets.has(name)) duplicates.add(name)
      else secrets.set(name, secret)
    }
  return { secrets, duplicates: [...duplicates], vaultIds: vaults.map(({ vaultId }) => vaultId) }
}
