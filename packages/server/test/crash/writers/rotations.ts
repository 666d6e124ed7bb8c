import { documentHash, type Identity, makeKeys, openKeys, rotateKey } from '@strongroom/protocol'
import { type Kind, lost, type Writer } from './writer.ts'

// Somebody who changes keys again and again: a `key.rotate` in the log and the sealed keys beside it, both or neither.

const REST_MS = 2500

export const rotations: Kind = {
  name: 'rotations',
  clients: 1,
  open: async ({ journal: { submit }, member, joining, loggedDocuments }): Promise<Writer> => {
    const { orgId, userId, client } = member
    const { privateBundle } = joining.secrets
    let current: Identity = member.identity
    let { bundleVersion } = member
    return {
      round: async () => {
        // Making RSA keys takes a processor for a while, and the server needs one too.
        await new Promise((resolve) => setTimeout(resolve, REST_MS))
        const next = await openKeys(`user:${userId}`, await makeKeys())
        const { event } = await rotateKey({ org: orgId, at: Date.now(), held: [] }, current, next)
        const body = {
          event: { ...event, signatures: [...event.signatures] },
          replacements: [],
          bundleVersion: bundleVersion + 1,
          privateBundle,
        }
        const answer = await submit({
          action: 'directory.key.rotate',
          send: (options) => client.userKeys.rotate({ body }, options),
          target: () => `user:${userId}`,
        })
        current = next
        bundleVersion = answer.bundleVersion
        loggedDocuments.add(documentHash(event))
      },
      check: async () => {
        const { kid, bundleVersion: version } = await client.userKeys.get()
        const isLast = kid === current.kid && version === bundleVersion
        return isLast ? [] : [lost(`the keys of ${userId} are version ${version}, acknowledged was ${bundleVersion}`)]
      },
    }
  },
}
