const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A size for people: three figures and a unit of a thousand. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.max(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 0), UNITS.length - 1)
  const amount = bytes / 1000 ** power
  return `${power === 0 ? amount : amount.toPrecision(3)} ${UNITS[power]}`
}
