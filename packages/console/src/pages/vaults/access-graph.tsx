import { Link } from '@tanstack/react-router'
import { type PointerEvent, type ReactNode, useId } from 'react'
import { useCrosshair } from '../../plot/crosshair.ts'
import { colourOf, DASHES, Legend, type Mark } from '../../plot/marks.tsx'
import { PlotFrame } from '../../plot/plot-frame.tsx'
import { usePlotWidth } from '../../plot/plot-width.ts'
import { byName } from '../../ui/name-order.ts'
import { counted } from '../agents/blast-radius.ts'
import { type AccessEdge, edgeWords } from './access-edges.ts'
import { isMismatch } from './access-rows.ts'

/** Few have more room between their lines. */
const ROW = { few: 44, many: 28 }
const FEW = 12
const DOT = 4
const BESIDE = 12
const LABEL = { most: 200, height: 24, letter: 7.5 }

const MARKS = {
  ADMIN: { label: 'admin', mark: { colour: 'chart-6', texture: 'solid' } },
  WRITE: { label: 'write', mark: { colour: 'chart-6', texture: 'hatch' } },
  READ: { label: 'read', mark: { colour: 'chart-6', texture: 'dots' } },
  none: { label: 'no role', mark: { colour: 'chart-5', texture: 'cross' } },
} as const satisfies Record<string, { readonly label: string; readonly mark: Mark }>

const sayEdge = (edge: AccessEdge): string => `${edge.name}, ${edge.vault}: ${edgeWords(edge)}`

/** People and agents on the left, vaults on the right: a line for each role, a dot for each key. */
export function AccessGraph({ edges }: { readonly edges: readonly AccessEdge[] }) {
  const scope = useId()
  const principals = new Set(edges.map(({ principal }) => principal)).size
  const vaults = new Set(edges.map(({ vaultId }) => vaultId)).size
  const wrong = edges.filter(isMismatch).length
  const agree =
    wrong === 0 ? 'lists and keys agree' : `${counted(wrong, 'role or key is', 'roles or keys are')} without the other`
  const twin = {
    columns: ['Who, and which vault', 'Kind', 'Role', 'Key'],
    rows: edges.map(({ name, vault, kind, role, keyIds }) => [
      `${name}, ${vault}`,
      kind,
      role?.toLowerCase() ?? 'none',
      keyIds.length > 0 ? 'yes' : 'no',
    ]),
  }
  return (
    <PlotFrame
      name="Who can decrypt what"
      summary={`${counted(principals, 'person or agent', 'people and agents')}, ${counted(vaults, 'vault')}; ${agree}.`}
      twin={twin}
      legend={
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          <Legend scope={scope} of={Object.values(MARKS)} asLines />
          <DotLegend />
        </div>
      }
    >
      <Drawn edges={edges} />
    </PlotFrame>
  )
}

const DotLegend = () => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 text-label text-ink-2">
    {[true, false].map((hasKey) => (
      <li key={String(hasKey)} className="flex items-center gap-1.5">
        <svg aria-hidden="true" width="10" height="10" className="shrink-0">
          <Dot x={5} y={5} hasKey={hasKey} />
        </svg>
        {hasKey ? 'has a key' : 'no key'}
      </li>
    ))}
  </ul>
)

const Dot = ({ x, y, hasKey }: { readonly x: number; readonly y: number; readonly hasKey: boolean }) => (
  <circle
    cx={x}
    cy={y}
    r={DOT}
    strokeWidth="1.6"
    className={hasKey ? 'fill-seal stroke-seal' : 'fill-bg stroke-warn'}
  />
)

interface Named {
  readonly id: string
  readonly name: string
}

/** One of each, in the order in which they come. */
const distinct = (all: readonly Named[]): readonly Named[] => [...new Map(all.map((one) => [one.id, one])).values()]

/** Where the lines of these begin or end: each in the middle of its share of the height. */
const placesOf = (all: readonly Named[], height: number): ReadonlyMap<string, number> =>
  new Map(all.map(({ id }, at) => [id, ((at + 0.5) * height) / all.length]))

function layOut(edges: readonly AccessEdge[], width: number) {
  const left = distinct(edges.map(({ principal: id, name }) => ({ id, name })))
  const right = distinct(edges.map(({ vaultId: id, vault: name }) => ({ id, name }))).toSorted(byName)
  const most = Math.max(left.length, right.length, 1)
  const height = most * (most > FEW ? ROW.many : ROW.few)
  const roomFor = (all: readonly Named[]): number =>
    Math.min(LABEL.most, width / 3, Math.max(...all.map(({ name }) => name.length)) * LABEL.letter + 2 * BESIDE)
  const [before, behind] = [roomFor(left), roomFor(right)]
  const [from, to] = [placesOf(left, height), placesOf(right, height)]
  const [x1, x2] = [before, Math.max(before + 1, width - behind)]
  // Several lines end at one vault: their dots stand beside each other, each on its own line.
  const ended = new Map<string, number>()
  const lines = edges.map((edge) => {
    const place = (ended.get(edge.vaultId) ?? 0) + 1
    ended.set(edge.vaultId, place)
    const [y1, y2] = [from.get(edge.principal) ?? 0, to.get(edge.vaultId) ?? 0]
    const x = Math.max(x1 + DOT, x2 - place * BESIDE)
    return { edge, y1, y2, x, y: y1 + ((y2 - y1) * (x - x1)) / (x2 - x1) }
  })
  return { left, right, from, to, lines, height, x1, x2 }
}

function Drawn({ edges }: { readonly edges: readonly AccessEdge[] }) {
  const [room, width] = usePlotWidth()
  const { left, right, from, to, lines, height, x1, x2 } = layOut(edges, width)
  const placeAt = ({ clientX, clientY, currentTarget }: PointerEvent): number => {
    const { left: x, top } = currentTarget.getBoundingClientRect()
    const along = Math.min(1, Math.max(0, (clientX - x - x1) / (x2 - x1)))
    const away = lines.map(({ y1, y2 }) => Math.abs(y1 + (y2 - y1) * along - (clientY - top)))
    return away.indexOf(Math.min(...away))
  }
  const say = (place: number): string => (edges[place] ? sayEdge(edges[place]) : 'nobody')
  const cross = useCrosshair({ name: 'Who can decrypt what', count: edges.length, say, placeAt })
  return (
    <div ref={room} className="relative min-w-0">
      <div {...cross.members}>
        <svg aria-hidden="true" width={width} height={height} className="block">
          {lines.map(({ edge, y1, y2, x, y }, at) => {
            const { mark } = MARKS[edge.role ?? 'none']
            return (
              <g key={`${edge.principal} ${edge.vaultId}`}>
                <path
                  d={`M${x1} ${y1} L${x2} ${y2}`}
                  stroke={at === cross.place ? 'var(--ink)' : colourOf(mark)}
                  strokeWidth={at === cross.place ? 2.4 : 1.4}
                  strokeDasharray={DASHES[mark.texture]}
                  fill="none"
                />
                <Dot x={x} y={y} hasKey={edge.keyIds.length > 0} />
              </g>
            )
          })}
        </svg>
      </div>
      {left.map(({ id, name }) => (
        <Label key={id} name={name} at={from.get(id)} x={0} room={x1 - BESIDE}>
          <PrincipalLink principal={id} name={name} />
        </Label>
      ))}
      {right.map(({ id, name }) => (
        <Label key={id} name={name} at={to.get(id)} x={x2 + BESIDE} room={width - x2 - BESIDE}>
          <Link to="/vaults/$vaultId/access" params={{ vaultId: id }}>
            {name}
          </Link>
        </Label>
      ))}
      <p className="min-h-4 text-label text-ink-2">{cross.words ?? ''}</p>
    </div>
  )
}

interface LabelMembers {
  readonly name: string
  /** The middle of its line. */
  readonly at: number | undefined
  readonly x: number
  readonly room: number
  readonly children: ReactNode
}

/** A name beside the lines: what has no room is cut and shown on hover. All of its room leads there. */
const Label = ({ name, at = 0, x, room, children }: LabelMembers) => (
  <span
    title={name}
    className="absolute text-label leading-6 *:block *:truncate"
    style={{ top: at - LABEL.height / 2, left: x, width: room }}
  >
    {children}
  </span>
)

const PrincipalLink = ({ principal, name }: { readonly principal: string; readonly name: string }) => {
  const [kind, id = ''] = principal.split(':')
  return kind === 'agent' ? (
    <Link to="/agents/$agentId/access" params={{ agentId: id }}>
      {name}
    </Link>
  ) : (
    <Link to="/people">{name}</Link>
  )
}
