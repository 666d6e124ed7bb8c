import type { FromKeeper, ToKeeper, Who } from './keeper.ts'
import keeperUrl from './keeper.worker.ts?sharedworker&url'
import type { OpenedPerson } from './key-questions.ts'
import { workerAddress } from './worker-url.ts'

// This tab and the others of the browser. A worker they share keeps who is open; where browsers have none, a lock still reaches every
// tab, but each asks for the passphrase: what is broadcast cannot be addressed, so no key ever is.

type Notice = Exclude<FromKeeper, { kind: 'given' }>

export interface Sharing {
  say(message: ToKeeper): void
  /** Whoever is open in another tab, if it is them this browser remembers. */
  ask(who: Who): Promise<OpenedPerson | undefined>
}

const PATIENCE_MS = 2000

/** Held until this tab is gone, however it goes. */
function holdTabLock(): Promise<string> {
  const name = `tab ${crypto.randomUUID()}`
  return new Promise((resolve) => {
    void navigator.locks.request(name, () => {
      resolve(name)
      return new Promise<void>(() => undefined)
    })
  })
}

function throughWorker(hear: (notice: Notice) => void): Sharing {
  const worker = new SharedWorker(workerAddress(keeperUrl), { type: 'module', name: 'strongroom-keeper' })
  const { port } = worker
  const say = (message: ToKeeper): void => port.postMessage(message)
  let answer: ((person: OpenedPerson | undefined) => void) | undefined
  port.onmessage = ({ data }: MessageEvent<FromKeeper>) => {
    if (data.kind !== 'given') hear(data)
    else if (answer) answer(data.person)
    // Late, after this tab has asked for the passphrase already.
    else if (data.person) hear({ kind: 'kept', person: data.person })
  }
  void holdTabLock().then((tabLock) => say({ kind: 'hello', tabLock }))
  addEventListener('pagehide', () => say({ kind: 'gone' }))
  const ask = (who: Who): Promise<OpenedPerson | undefined> =>
    new Promise((resolve) => {
      const done = (person: OpenedPerson | undefined): void => {
        if (answer === done) answer = undefined
        resolve(person)
      }
      answer = done
      worker.onerror = () => done(undefined)
      setTimeout(() => done(undefined), PATIENCE_MS)
      say({ kind: 'ask', who })
    })
  return { say, ask }
}

function throughChannel(hear: (notice: Notice) => void): Sharing {
  const channel = new BroadcastChannel('strongroom')
  channel.onmessage = ({ data }: MessageEvent<Notice>) => hear(data)
  const say = (message: ToKeeper): void => {
    if (message.kind === 'lock') channel.postMessage({ kind: 'locked', because: message.because } satisfies Notice)
  }
  return { say, ask: async () => undefined }
}

export function startSharing(hear: (notice: Notice) => void): Sharing {
  // A page that comes back from the browser's memory was counted as gone: it does not hear the others any more.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload()
  })
  return 'SharedWorker' in globalThis ? throughWorker(hear) : throughChannel(hear)
}
