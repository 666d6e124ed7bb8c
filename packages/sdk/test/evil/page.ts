import type { TrustStore } from '@strongroom/protocol'
import type { Deed } from '../../evil-server/attack.ts'
import { indexedDbTrust, Strongroom } from '../../src/strongroom/browser.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { attempt, type Outcome, type Place } from './deeds.ts'
import type { Who } from './victim.ts'

// The victim in a browser: the client for browsers with its trust store in IndexedDB.

export interface PageJob {
  readonly who: Who
  readonly deed: Deed
  readonly place: Place
  /** The name of its trust store, and of one to begin like. */
  readonly store: string
  readonly like?: string
}

export interface PageDone extends Outcome {
  readonly before: TrustStore
  readonly after: TrustStore
  readonly evidence: readonly string[]
}

async function act({ who, deed, place, store, like }: PageJob): Promise<PageDone> {
  const trust = indexedDbTrust(store)
  if (like !== undefined) {
    const known = await indexedDbTrust(like).read()
    await trust.update(() => known)
  }
  const before = await trust.read()
  const evidence: string[] = []
  const { server, trustAnchor, apiKey, accessToken, principal, privateKey, verify } = who
  const agent = apiKey !== undefined && {
    apiKey,
    agentId: principal.slice('agent:'.length),
    dangerouslyAllowBrowserApiKey: true,
  }
  const options: StrongroomOptions = {
    server,
    trustAnchor,
    privateKey,
    ...agent,
    ...(accessToken !== undefined && { accessToken }),
    ...(verify && { verify }),
    trustStore: trust,
    maxRetries: 0,
    logger: console,
    logLevel: 'debug',
    onEvidence: (kept) => {
      evidence.push(JSON.stringify(kept))
      return `evidence ${evidence.length}`
    },
  }
  const outcome = await attempt(new Strongroom(options), deed, place)
  return { ...outcome, before, after: await trust.read(), evidence }
}

Object.assign(globalThis, { act })
