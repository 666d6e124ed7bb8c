import { shellLine } from '@strongroom/contract'
import { formatRef } from '@strongroom/sdk'
import { useState } from 'react'
import { CommandWords, CopyButton, CopyLine } from '../../ui/copy.tsx'

// How a program is told that it is this agent, with the real names filled in. The bundle itself is in none of them.

export interface Place {
  readonly name: string
  /** A vault it can read, and a variable in it. */
  readonly vault: string
  readonly variable: string
  readonly item: string
}

const nameFor = (name: string): string => name.toLowerCase().replace(/[^a-z0-9-]+/g, '-')

/** A text as TypeScript reads it. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const logIn = ({ name }: Place): string => shellLine`strongroom login --bundle ${`${name}.bundle`} --profile ${name}`

const SNIPPETS = {
  CLI: (place: Place) =>
    `${logIn(place)}
${shellLine`strongroom run --profile ${place.name} --vault ${place.vault} -- node server.js`}`,
  TypeScript: ({ vault, item, variable, name }: Place) =>
    `// STRONGROOM_BUNDLE_FILE=${name}.bundle
import { Strongroom } from '@strongroom/sdk'

const strongroom = new Strongroom()
const secret = await strongroom.secrets.get(${quoted(formatRef({ vault, item, field: variable }))})
connect(secret.reveal())`,
  Docker: ({ name, vault }: Place) =>
    `# In the image: ENTRYPOINT ["strongroom", "run", "--vault", ${JSON.stringify(vault)}, "--"]
docker run \\
  --mount type=bind,source="$PWD"/${shellLine`${`${name}.bundle`}`},target=/run/secrets/bundle,readonly \\
  --env STRONGROOM_BUNDLE_FILE=/run/secrets/bundle \\
  your-image node server.js`,
  GitHub: ({ vault }: Place) =>
    `# The bundle is the secret STRONGROOM_BUNDLE of the repository.
- run: |
    ${shellLine`npx strongroom run --vault ${vault} -- ./deploy.sh`}
  env:
    STRONGROOM_BUNDLE: \${{ secrets.STRONGROOM_BUNDLE }}`,
  Kubernetes: ({ name, vault }: Place) =>
    `# ${shellLine`kubectl create secret generic ${nameFor(name)} --from-file=bundle=${`${name}.bundle`}`}
containers:
  - name: app
    image: your-image
    command: ["strongroom", "run", "--vault", ${JSON.stringify(vault)}, "--", "node", "server.js"]
    env:
      - { name: STRONGROOM_BUNDLE_FILE, value: /run/strongroom/bundle }
    volumeMounts:
      - { name: strongroom, mountPath: /run/strongroom, readOnly: true }
volumes:
  - name: strongroom
    secret: { secretName: ${nameFor(name)}, defaultMode: 0400 }`,
  MCP: ({ name }: Place) =>
    JSON.stringify(
      { mcpServers: { strongroom: { command: 'strongroom', args: ['mcp', '--profile', name] } } },
      null,
      2,
    ),
} as const
type Way = keyof typeof SNIPPETS
const WAYS = Object.keys(SNIPPETS) as Way[]

/** Of a coding agent: the file is for its program, and these are for a person. */
const McpSteps = ({ place }: { readonly place: Place }) => (
  <>
    <CopyLine label="Once, where the coding agent works" text={logIn(place)} />
    <CopyLine label="For each task of strongroom.toml that it may run" text="strongroom allow TASK" />
    <span className="text-label text-ink-3">.mcp.json, in the folder of the project</span>
  </>
)

export function ConnectSnippets({ place }: { readonly place: Place }) {
  const [way, setWay] = useState<Way>('CLI')
  const text = SNIPPETS[way](place)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Where it runs</legend>
        {WAYS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === way}
            onClick={() => setWay(one)}
            className="min-h-8 cursor-pointer rounded-control px-2.5 text-ink-2 hover:bg-raised aria-pressed:bg-raised aria-pressed:font-[550] aria-pressed:text-ink"
          >
            {one}
          </button>
        ))}
      </fieldset>
      {way === 'MCP' && <McpSteps place={place} />}
      <div className="flex items-start gap-1 rounded-control border border-rule bg-raised py-2 pr-1 pl-3">
        <pre className="min-w-0 flex-1 whitespace-pre-wrap">
          <CommandWords text={text} />
        </pre>
        <CopyButton text={text} label={`Copy the ${way} snippet`} />
      </div>
    </div>
  )
}
