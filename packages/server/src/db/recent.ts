/** What was used lately, up to a size. */
export interface Recent<V> {
  get(name: string): V | undefined
  set(name: string, value: V): void
}

/**
 * Two generations: what is used moves to the younger one, and when that holds half, the older one goes as a whole. Moving every
 * entry at every use would keep a better order and cost several times the look-up.
 */
export function makeRecent<V>(max: number, sizeOf: (value: V) => number = () => 1): Recent<V> {
  let young = new Map<string, V>()
  let old = new Map<string, V>()
  let size = 0
  const set = (name: string, value: V): void => {
    young.set(name, value)
    size += sizeOf(value)
    if (size <= max / 2) return
    old = young
    young = new Map()
    size = 0
  }
  return {
    set,
    get: (name) => {
      const known = young.get(name)
      if (known !== undefined) return known
      const older = old.get(name)
      if (older !== undefined) set(name, older)
      return older
    },
  }
}
