import { type ApiPromise, apiPromise, type RequestOptions, runCall, type Scope } from './call.ts'
import type { Place } from './names.ts'
import type { Config } from './options.ts'
import type { Session } from './session.ts'

/** What every resource of a client is made of. */
export interface Core {
  readonly config: Config
  readonly session: Session
  /** Runs the work of one call. */
  run<T>(options: RequestOptions | undefined, work: (scope: Scope) => Promise<T>): ReturnType<typeof runCall<T>>
  call<T>(options: RequestOptions | undefined, work: (scope: Scope) => Promise<T>): ApiPromise<T>
  /** For calls that use the keys: with the actor and the names it knows. */
  keyed<T>(options: RequestOptions | undefined, work: (place: KeyedPlace) => Promise<T>): ApiPromise<T>
}

export interface KeyedPlace extends Place {
  readonly scope: Scope
  readonly options: Scope['options']
}

export function makeCore(config: Config, session: Session): Core {
  const run: Core['run'] = (options = {}, work) => runCall(config, session, options, work)
  const call: Core['call'] = (options, work) => apiPromise(() => run(options, work))
  return {
    config,
    session,
    run,
    call,
    keyed: (options, work) =>
      call(options, async (scope) => work({ scope, session, actor: await scope.actor(), options: scope.options })),
  }
}
