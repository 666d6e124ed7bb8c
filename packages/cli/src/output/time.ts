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

const SECONDS = { day: 86_400, hour: 3600, minute: 60 } as const

/** `40 s`, `5 min`, `3 h 20 min`, `2 d 4 h`: as much as somebody needs who decides whether it is long. */
export function shortDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000)
  const [days, hours, minutes] = [
    Math.floor(seconds / SECONDS.day),
    Math.floor(seconds / SECONDS.hour) % 24,
    Math.floor(seconds / SECONDS.minute) % 60,
  ]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${seconds} s`
}
