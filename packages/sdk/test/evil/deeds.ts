import { decodePem } from '@strongroom/protocol'
import type { Deed } from '../../evil-server/attack.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'

// What a victim does, in Node and in a browser alike, and what comes of it.

export interface Place {
  readonly vaultId: string
  /** By name. */
  readonly item: string
  readonly project: string
  /** Who shall be given access. */
  readonly newcomer: string
  readonly attachment: string
  /** Where there are files. */
  readonly saveTo?: string
  /** PEM with the keys that a rotation goes to. */
  readonly nextKeys: string
}

export interface Outcome {
  /** What was read, or undefined if it was refused. */
  readonly result?: Readonly<Record<string, string>>
  readonly error?: Refused
}

export interface Refused {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly stage: string | undefined
  readonly details: Readonly<Record<string, unknown>>
  readonly evidence: string | undefined
  /** Everything that printing the error would show. */
  readonly shown: string
}

async function perform(client: Strongroom, deed: Deed, place: Place): Promise<Readonly<Record<string, string>>> {
  const { vaultId } = place
  switch (deed) {
    case 'env':
    case 'fallback':
      return (await client.secrets.env({ vault: vaultId })).toObject()
    case 'project':
      return (await client.secrets.env({ project: place.project })).toObject()
    case 'item': {
      const { fields } = await client.items.get(vaultId, place.item)
      return Object.fromEntries(fields.map(({ label, secret }) => [label, secret.reveal()]))
    }
    case 'version': {
      const [, before] = await client.items.versions(vaultId, place.item)
      const { fields } = await client.items.version(vaultId, place.item, before?.version ?? 0)
      return Object.fromEntries(fields.map(({ label, secret }) => [label, secret.reveal()]))
    }
    case 'list': {
      const items = await client.items.list(vaultId)
      return Object.fromEntries(items.map(({ name, website, labels }) => [name, `${website} ${labels.join()}`]))
    }
    case 'share':
      await client.permissions.grant({ vault: vaultId }, { principal: place.newcomer, role: 'READ' })
      return { shared: place.newcomer }
    case 'rotate':
      await client.agents.rotateRuntimeKey({ save: () => undefined, keys: { material: decodePem(place.nextKeys) } })
      return { rotated: 'yes' }
    case 'me':
      return { id: (await client.me()).id }
    case 'download': {
      const download = await client.attachments.download(vaultId, place.attachment)
      if (place.saveTo !== undefined) await download.saveTo(place.saveTo)
      else await download.bytes()
      return { size: String(download.size), name: download.name }
    }
  }
}

/** Whatever the error holds, and what it holds in turn. */
function shownOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 4) return String(error)
  const { stack, cause } = error as { stack?: string; cause?: unknown }
  const members = Object.getOwnPropertyNames(error).map((name) => {
    const member = (error as Record<string, unknown>)[name]
    return typeof member === 'object' ? JSON.stringify(member) : String(member)
  })
  return [stack, JSON.stringify(error), ...members, cause === undefined ? '' : shownOf(cause, depth + 1)].join('\n')
}

export async function attempt(client: Strongroom, deed: Deed, place: Place): Promise<Outcome> {
  try {
    return { result: await perform(client, deed, place) }
  } catch (error) {
    const { name, code, message, stage, details, evidence } = error as Partial<Refused>
    return {
      error: {
        name: String(name),
        code: String(code),
        message: String(message),
        stage,
        details: details ?? {},
        evidence,
        shown: shownOf(error),
      },
    }
  }
}
