import { keyWords } from '@strongroom/sdk'
import { scaleTime } from 'd3-scale'
import { useId } from 'react'
import { MARGIN, sayTime, TimeAxis } from '../../plot/axes.tsx'
import { useCrosshair } from '../../plot/crosshair.ts'
import { fillOf, Legend, type Mark, Textures } from '../../plot/marks.tsx'
import { PlotFrame } from '../../plot/plot-frame.tsx'
import { usePlotWidth } from '../../plot/plot-width.ts'
import { type Band, byPrincipal } from './continuity.ts'

const LANE = 34
const BAR = 16
const LABEL = 132

const MARKS: readonly { readonly label: string; readonly mark: Mark }[] = [
  { label: 'key in use', mark: { colour: 'chart-1', texture: 'solid' } },
  { label: 'key that has ended', mark: { colour: 'chart-6', texture: 'hatch' } },
  { label: 'break: nothing links it to the key before', mark: { colour: 'chart-5', texture: 'cross' } },
]

const LINKS: Record<Band['link'], string> = {
  first: 'their first key',
  rotated: 'signed by the key before',
  broken: 'nothing links it to the key before',
}

interface BandsMembers {
  readonly bands: readonly Band[]
  person(principal: string): string
}

const sayBand = (band: Band, person: BandsMembers['person']): string =>
  `${person(band.principal)}, ${keyWords(band.keyId)}: from ${sayTime(band.from.at)} ${band.until ? `to ${sayTime(band.until.at)}` : 'until now'}, ${LINKS[band.link]}`

/** One band for each key of everybody; an arrow where the one before signed it, a gap where it did not. */
export function ContinuityBands({ bands, person }: BandsMembers) {
  const scope = useId()
  const breaks = bands.filter(({ link }) => link === 'broken').length
  const summary = `${bands.length} keys of ${byPrincipal(bands).length} people and agents; ${breaks === 0 ? 'no break' : breaks === 1 ? 'one break' : `${breaks} breaks`}.`
  const twin = {
    columns: ['Key', 'Whose', 'From entry', 'Until entry', 'Link'],
    rows: bands.map(({ keyId, principal, from, until, link }) => [
      keyId,
      person(principal),
      from.index,
      until?.index ?? 'in use',
      LINKS[link],
    ]),
  }
  return (
    <PlotFrame
      name="Signer continuity"
      summary={summary}
      twin={twin}
      legend={<Legend scope={scope} of={breaks === 0 ? MARKS.slice(0, 2) : MARKS} />}
    >
      <Drawn bands={bands} person={person} scope={scope} />
    </PlotFrame>
  )
}

function Drawn({ bands, person, scope }: BandsMembers & { readonly scope: string }) {
  const [room, width] = usePlotWidth()
  const lanes = byPrincipal(bands)
  const height = lanes.length * LANE + MARGIN.bottom + 4
  const left = Math.min(LABEL, width / 3)
  const now = new Date()
  const begin = bands[0]?.from.at ?? now
  const x = scaleTime()
    .domain([begin, now])
    .range([left, Math.max(left + 1, width - MARGIN.right)])
  const cross = useCrosshair({
    name: 'Signer continuity',
    count: bands.length,
    say: (place) => (bands[place] ? sayBand(bands[place], person) : 'no keys'),
    placeAt: ({ clientY, currentTarget }) => {
      const lane = lanes[Math.floor((clientY - currentTarget.getBoundingClientRect().top) / LANE)]
      const last = lane?.[1].at(-1)
      return last ? bands.indexOf(last) : 0
    },
  })
  return (
    <div ref={room} className="min-w-0">
      <div {...cross.members}>
        <svg aria-hidden="true" width={width} height={height} className="block">
          <Textures scope={scope} marks={MARKS.map(({ mark }) => mark)} />
          {lanes.map(([principal, own], lane) => (
            <g key={principal} transform={`translate(0 ${lane * LANE})`}>
              <text x="0" y={LANE / 2 + 4} className="fill-ink text-[12px]">
                {person(principal).slice(0, Math.floor(left / 7))}
              </text>
              <line x1={left} x2={width - MARGIN.right} y1={LANE - 1} y2={LANE - 1} className="stroke-rule" />
              {own.map((band) => (
                <BandShape
                  key={band.keyId}
                  band={band}
                  scope={scope}
                  x={(at) => x(at)}
                  now={now}
                  isHere={band === bands[cross.place ?? -1]}
                />
              ))}
            </g>
          ))}
          <TimeAxis scale={x} width={width} height={height} left={left} />
        </svg>
      </div>
      <p className="min-h-4 text-label text-ink-2">{cross.words ?? ''}</p>
    </div>
  )
}

interface ShapeMembers {
  readonly band: Band
  readonly scope: string
  readonly now: Date
  readonly isHere: boolean
  x(at: Date): number
}

const marker = (at: number): Mark => MARKS[at]?.mark ?? { colour: 'chart-6', texture: 'solid' }

function BandShape({ band, scope, x, now, isHere }: ShapeMembers) {
  const [start, end] = [x(band.from.at), x(band.until?.at ?? now)]
  const kind = band.until ? 1 : 0
  const top = (LANE - BAR) / 2
  // A gap is drawn where the band would touch the one before.
  const gap = band.link === 'broken' ? 7 : 0
  return (
    <g>
      <rect
        x={start + gap}
        y={top}
        width={Math.max(2, end - start - gap - 1)}
        height={BAR}
        fill={fillOf(scope, kind, marker(kind))}
        className={isHere ? 'stroke-ink' : 'stroke-edge'}
        strokeWidth={isHere ? 2 : 0.8}
      />
      {band.link === 'rotated' && (
        <path
          d={`M${start - 9} ${LANE / 2} H${start + 3} m-4 -3.5 l4 3.5 l-4 3.5`}
          className="fill-none stroke-ink"
          strokeWidth="1.6"
        />
      )}
      {band.link === 'broken' && (
        <path
          d={`M${start + 1} ${top - 3} l4 5 l-4 6 l4 6 l-4 6`}
          className="fill-none stroke-danger"
          strokeWidth="1.8"
        />
      )}
    </g>
  )
}
