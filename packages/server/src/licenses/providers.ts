import type { Deps } from '../context.ts'
import { sendOut } from '../outside/egress.ts'
import { httpProvider } from './http-provider.ts'
import { builtInIssuer } from './issuer.ts'
import { type Providers, registerProviders } from './provider.ts'
import { makeSealer } from './sealer.ts'
import type { Outbound } from './signed-http.ts'

type Needs = Pick<Deps, 'config' | 'database' | 'rootKey' | 'now'>

/** Guarded: an address that a catalogue names is looked at like any other that somebody has written. */
const guarded =
  ({ config }: Pick<Deps, 'config'>): Outbound =>
  (outgoing) =>
    sendOut(outgoing, config.egress)

/** Everybody the catalogue buys from, and the issuer of this server itself. */
export function makeProviders(deps: Needs, outbound: Outbound = guarded(deps)): Providers {
  const { catalogue, hosts, host } = deps.config
  const seal = makeSealer(deps)
  const https = [...catalogue.providers].map(([id, settings]) =>
    httpProvider({ outbound, seal, now: deps.now }, id, settings),
  )
  return registerProviders([builtInIssuer(deps, seal, hosts[0] ?? host), ...https])
}
