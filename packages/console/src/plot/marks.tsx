// How one series is told from another: by a colour and, for who does not see it, by a texture.

export type Colour = 'chart-1' | 'chart-2' | 'chart-3' | 'chart-4' | 'chart-5' | 'chart-6' | 'money'
export type Texture = 'solid' | 'hatch' | 'dots' | 'cross' | 'outline'

export interface Mark {
  readonly colour: Colour
  readonly texture: Texture
}

export const colourOf = ({ colour }: Mark): string => `var(--${colour})`

/** A broken line for each texture, so that lines differ as areas do. */
export const DASHES: Record<Texture, string | undefined> = {
  solid: undefined,
  hatch: '6 3',
  dots: '1.5 3',
  cross: '8 3 2 3',
  outline: '3 3',
}

const LINES: Record<Exclude<Texture, 'solid' | 'outline'>, string> = {
  hatch: 'M-1 5 L5 -1 M-1 9 L9 -1 M3 9 L9 3',
  dots: 'M2 2 h0.01 M6 6 h0.01',
  cross: 'M0 0 L8 8 M8 0 L0 8',
}

const idOf = (scope: string, at: number): string => `${scope}-texture-${at}`

/** What a shape of the series is filled with. `scope` is the id of the plot: two plots share one page. */
export function fillOf(scope: string, at: number, mark: Mark): string {
  if (mark.texture === 'solid') return colourOf(mark)
  return mark.texture === 'outline' ? 'transparent' : `url(#${idOf(scope, at)})`
}

export function Textures({ scope, marks }: { readonly scope: string; readonly marks: readonly Mark[] }) {
  return (
    <defs>
      {marks.map((mark, at) =>
        mark.texture === 'solid' || mark.texture === 'outline' ? null : (
          <pattern key={idOf(scope, at)} id={idOf(scope, at)} width="8" height="8" patternUnits="userSpaceOnUse">
            <rect width="8" height="8" fill={colourOf(mark)} fillOpacity="0.22" />
            <path
              d={LINES[mark.texture]}
              stroke={colourOf(mark)}
              strokeWidth={mark.texture === 'dots' ? 2.4 : 1.4}
              strokeLinecap="round"
              fill="none"
            />
          </pattern>
        ),
      )}
    </defs>
  )
}

interface Named {
  readonly label: string
  readonly mark: Mark
}

/** Which is which, in words beside a sample of each. */
export function Legend({ scope, of, asLines = false }: LegendMembers) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-label text-ink-2">
      {of.map(({ label, mark }, at) => (
        <li key={label} className="flex items-center gap-1.5">
          <svg aria-hidden="true" width="18" height="10" className="shrink-0">
            {asLines ? (
              <path d="M0 5 H18" stroke={colourOf(mark)} strokeWidth="1.6" strokeDasharray={DASHES[mark.texture]} />
            ) : (
              <rect x="0.5" y="0.5" width="17" height="9" fill={fillOf(scope, at, mark)} stroke={colourOf(mark)} />
            )}
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}

interface LegendMembers {
  readonly scope: string
  readonly of: readonly Named[]
  readonly asLines?: boolean
}
