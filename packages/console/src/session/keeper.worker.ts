import { makeKeeper, type ToKeeper } from './keeper.ts'

const keeper = makeKeeper()

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (!port) return
  port.onmessage = ({ data }: MessageEvent<ToKeeper>) => {
    if (data.kind !== 'hello') return keeper.hear(port, data)
    // A tab that crashed says nothing, but the browser gives its lock away.
    void navigator.locks.request(data.tabLock, () => keeper.hear(port, { kind: 'gone' }))
  }
})
