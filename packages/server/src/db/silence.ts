import { Socket } from 'node:net'
import type pg from 'pg'

// PostgreSQL itself ends a statement that takes too long. One that hangs on its disk, or whose network is gone, cannot: it says nothing
// at all. Whoever waits for it would wait for ever, be it a request or background work that never takes another turn.

/** Breaks a connection on which something was asked and nothing has come for so long: what waits on it fails, and the pool makes another. */
export function breakWhenSilent({ connection }: pg.PoolClient, silenceMs: number): void {
  const { stream } = connection
  if (!(stream instanceof Socket)) return
  let answered = stream.bytesWritten
  // Before the client hears it, which may send the next statement at once.
  connection.prependListener('readyForQuery', () => {
    answered = stream.bytesWritten
  })
  stream.setTimeout(silenceMs, () => {
    if (stream.bytesWritten > answered) stream.destroy(new Error('Connection terminated: the database says nothing'))
  })
}
