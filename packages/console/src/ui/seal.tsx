// The seal: a ring whose notches are the first eight bytes of a root that this browser verified. Another log, another ring.

const RADIUS = 6
const ROUND = 2 * Math.PI * RADIUS

function bytesOf(root: string): number[] {
  const text = atob(root.replaceAll('-', '+').replaceAll('_', '/'))
  return Array.from(text.slice(0, 8), (char) => char.charCodeAt(0))
}

/** Eight arcs with a gap after each, as long as their bytes are large. */
function dashes(root: string): string {
  const bytes = bytesOf(root)
  const weights = bytes.map((byte) => 0.35 + byte / 255)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const gap = ROUND / 36
  return weights.map((weight) => `${((weight / total) * (ROUND - 8 * gap)).toFixed(2)} ${gap.toFixed(2)}`).join(' ')
}

interface SealMembers {
  /** Of the verified log, base64url. */
  readonly root: string
  /** What was checked. */
  readonly says: string
  readonly size?: number
}

export function Seal({ root, says, size = 18 }: SealMembers) {
  return (
    <svg
      key={root}
      role="img"
      aria-label={says}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      className="shrink-0 animate-[seal-tick_120ms_ease-out] text-seal"
    >
      <title>{says}</title>
      <circle
        cx="8"
        cy="8"
        r={RADIUS}
        fill="none"
        stroke="currentColor"
        strokeWidth="2.4"
        strokeDasharray={dashes(root)}
      />
      <circle cx="8" cy="8" r="2" fill="currentColor" />
    </svg>
  )
}
