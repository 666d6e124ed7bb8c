const two = (part: number): string => String(part).padStart(2, '0')

/** `12:04:11` today, `14 Nov 12:04` before: in the time zone of whoever looks. */
export function shortTime(at: Date | string, now = new Date()): string {
  const time = new Date(at)
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  if (time.toDateString() === now.toDateString()) return `${clock}:${two(time.getSeconds())}`
  const month = time.toLocaleString('en', { month: 'short' })
  const year = time.getFullYear() === now.getFullYear() ? '' : ` ${time.getFullYear()}`
  return `${time.getDate()} ${month}${year} ${clock}`
}
