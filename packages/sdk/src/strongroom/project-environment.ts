import { ensureProjectVaults, type OpenedEnvironment } from '@strongroom/protocol'
import { listOf, membersOf } from '../engine/answers.ts'
import { cacheKey, putAnswer } from '../engine/cache.ts'
import { inOneForm, openAnswer } from '../engine/environment-answer.ts'
import { receiptOf } from '../engine/receipt.ts'
import { roundOf } from '../engine/verified.ts'
import type { EnvParts } from './env-bundle.ts'
import { keepProject, merged } from './project-offline.ts'
import { readProject } from './project-read.ts'
import { type Reader, secretsOf } from './read-secrets.ts'

/** The environment of a project, of exactly the vaults its admins signed for; whole or not at all. */
export async function readProjectVariables(reader: Reader, asked: string): Promise<EnvParts> {
  const { actor, options } = reader
  const { rest, answer } = await readProject(
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
        const rest: { opened: OpenedEnvironment; answer: unknown; transparency: unknown }[] = []
        for (const one of answers) {
          const vaultId = String(one.vaultId)
          const answer = inOneForm(one)
          const opened = await openAnswer(actor, vaultId, answer, pins.vault(vaultId))
          rest.push({ opened, answer, transparency: membersOf(one.signed, 'signed').transparency })
        }
        return { rounds: rest.map(({ opened }) => roundOf(opened.head)), rest }
      },
    },
    options,
  )
  const fetchedAt = actor.now()
  for (const { opened, answer } of rest ?? [])
    await putAnswer(actor.cache, cacheKey(actor.org, opened.head.vault.vaultId, actor.identity.kid), {
      fetchedAt,
      answer,
    })
  await keepProject(actor, asked, { fetchedAt, answer: membersOf(answer, 'answer').signed })
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
        receipt: receiptOf(head, transparency, { source: 'network', fetchedAt }),
      }),
    })),
  )
}
