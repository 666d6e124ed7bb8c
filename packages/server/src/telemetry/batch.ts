/** Rows that wait to be written elsewhere. Adding never waits and never fails: when there is no room, the row is counted and gone. */
export interface Batch<T> {
  add(row: T): void
  take(max: number): T[]
  /** Counts rows that were taken and could not be written. */
  lose(rows: number): void
  /** Called when so many rows wait that writing should not wait for its turn. */
  onCrowd(listener: () => void): void
  readonly waiting: number
  readonly dropped: number
}

export function makeBatch<T>({ capacity, crowd }: { capacity: number; crowd: number }): Batch<T> {
  let rows: T[] = []
  let dropped = 0
  let announce: () => void = () => undefined
  return {
    add: (row) => {
      if (rows.length >= capacity) dropped++
      else if (rows.push(row) === crowd) announce()
    },
    take: (max) => {
      const taken = rows.slice(0, max)
      rows = rows.slice(max)
      return taken
    },
    lose: (count) => {
      dropped += count
    },
    onCrowd: (listener) => {
      announce = listener
    },
    get waiting() {
      return rows.length
    },
    get dropped() {
      return dropped
    },
  }
}
