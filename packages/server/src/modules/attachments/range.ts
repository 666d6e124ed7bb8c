export interface Range {
  readonly start: number
  /** The first byte after it. */
  readonly end: number
}

const RANGE = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/

/** One range of bytes, as `Range` asks for it. Undefined: all of it, since what is not understood is ignored. */
export function readRange(header: string | undefined, size: number): Range | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = RANGE.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
