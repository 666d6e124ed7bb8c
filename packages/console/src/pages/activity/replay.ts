import { shellLine } from '@strongroom/contract'
import type { RequestEvent } from '@strongroom/sdk'
import type { Subject } from './rows.ts'

// The same request from a terminal. Credentials are named, never shown, and bodies are not kept by anybody.

/** `:vaultId` is the vault that the audit names for this request; what nobody knows stays a word in capitals. */
function filled(template: string, subjects: readonly Subject[]): string {
  const left = [...subjects]
  return template.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => {
    const type = name === 'id' ? undefined : name.replace(/Id$/, '')
    const at = left.findIndex((subject) => type === undefined || subject.type.replace(/^.*_/, '') === type)
    const [found] = at < 0 ? [] : left.splice(at, 1)
    return found ? found.id.replace(/^(?:user|agent):/, '') : name.replace(/([A-Z])/g, '_$1').toUpperCase()
  })
}

const hasBody = ({ method, bytesIn }: RequestEvent): boolean => method !== 'GET' && bytesIn > 0

export function asCurl(request: RequestEvent, subjects: readonly Subject[], origin: string): string {
  const credential =
    request.principal.type === 'agent'
      ? `-H "x-api-key: $STRONGROOM_API_KEY"`
      : `-H "authorization: Bearer $STRONGROOM_ACCESS_TOKEN"`
  return [
    'curl -sS',
    ...(request.method === 'GET' ? [] : [`-X ${request.method}`]),
    credential,
    ...(hasBody(request) ? [`-H 'content-type: application/json' --data @body.json`] : []),
    shellLine`${`${origin}${filled(request.routeTemplate, subjects)}`}`,
  ].join(' ')
}

/** Only the routes for machines are there for the command line. */
export function asCli(request: RequestEvent, subjects: readonly Subject[]): string | undefined {
  const machine = '/api/v1/machine'
  if (!request.routeTemplate.startsWith(`${machine}/`)) return undefined
  const path = filled(request.routeTemplate.slice(machine.length), subjects)
  return shellLine`strongroom api ${request.method} ${path} ${hasBody(request) ? ['--input', 'body.json'] : []}`
}
