import type { OpenedPerson } from './key-questions.ts'

// What the tabs of a browser share, in the memory of a worker that lives as long as one of them: whoever is open, for their own tabs
// only, and that it is over. Nothing is stored, and the worker's policy lets it reach no network.

/** Whom a tab may be opened for: the person this browser remembers, in the organisation that was pinned. */
export interface Who {
  readonly email: string
  readonly trustAnchor: string
}

export type ToKeeper =
  /** A tab began. Somebody else can have its lock only when the tab is gone. */
  | { readonly kind: 'hello'; readonly tabLock: string }
  | { readonly kind: 'ask'; readonly who: Who }
  | { readonly kind: 'keep'; readonly person: OpenedPerson }
  /** The tab is about to do something of its own, as somebody else for instance: it wants nobody's keys. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'lock'; readonly because: 'idle' | 'locked' }
  | { readonly kind: 'end'; readonly accessToken: string }
  | { readonly kind: 'gone' }

export type FromKeeper =
  | { readonly kind: 'given'; readonly person: OpenedPerson | undefined }
  | { readonly kind: 'kept'; readonly person: OpenedPerson }
  | { readonly kind: 'locked'; readonly because: 'idle' | 'locked' }
  | { readonly kind: 'ended'; readonly accessToken: string }

export interface Port {
  postMessage(message: FromKeeper): void
}

interface Tab {
  /** Whose tab it is, or waits to become. */
  isFor: string | undefined
  holds: boolean
}

const nameOf = ({ email, trustAnchor }: Who): string => `${email.toLowerCase()} ${trustAnchor}`

export interface Keeper {
  hear(port: Port, message: Exclude<ToKeeper, { kind: 'hello' }>): void
}

export function makeKeeper(): Keeper {
  const tabs = new Map<Port, Tab>()
  const kept = new Map<string, OpenedPerson>()
  const tabOf = (port: Port): Tab => {
    const tab = tabs.get(port) ?? { isFor: undefined, holds: false }
    tabs.set(port, tab)
    return tab
  }
  /** Keys that no tab has any more are nobody's. */
  const dropUnheld = (): void => {
    const held = new Set([...tabs.values()].flatMap(({ isFor, holds }) => (holds ? [isFor] : [])))
    for (const name of kept.keys()) if (!held.has(name)) kept.delete(name)
  }
  const tellOthers = (port: Port, message: FromKeeper, isTold: (tab: Tab) => boolean, holds: boolean): void => {
    for (const [other, tab] of tabs) {
      if (other === port || !isTold(tab)) continue
      tab.holds = holds
      other.postMessage(message)
    }
  }
  const keep = (port: Port, person: OpenedPerson): void => {
    const name = nameOf(person)
    Object.assign(tabOf(port), { isFor: name, holds: true })
    kept.set(name, person)
    tellOthers(port, { kind: 'kept', person }, ({ isFor }) => isFor === name, true)
    dropUnheld()
  }
  const end = (port: Port, accessToken: string): void => {
    tabOf(port).holds = false
    const ended = [...kept].flatMap(([name, person]) => (person.accessToken === accessToken ? [name] : []))
    for (const name of ended) {
      kept.delete(name)
      tellOthers(port, { kind: 'ended', accessToken }, ({ isFor }) => isFor === name, false)
    }
    dropUnheld()
  }
  const lock = (port: Port, because: 'idle' | 'locked'): void => {
    tabOf(port).holds = false
    kept.clear()
    tellOthers(port, { kind: 'locked', because }, () => true, false)
  }
  return {
    hear: (port, message) => {
      switch (message.kind) {
        case 'ask': {
          const name = nameOf(message.who)
          const person = kept.get(name)
          Object.assign(tabOf(port), { isFor: name, holds: person !== undefined })
          return port.postMessage({ kind: 'given', person })
        }
        case 'keep':
          return keep(port, message.person)
        case 'lock':
          return lock(port, message.because)
        case 'end':
          return end(port, message.accessToken)
        case 'leave':
          Object.assign(tabOf(port), { isFor: undefined, holds: false })
          return dropUnheld()
        case 'gone':
          tabs.delete(port)
          return dropUnheld()
      }
    },
  }
}
