import { provideSetupToken } from '../modules/setup/token.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

/** Another setup token; the one before stops working. There is no organisation to record it for yet. */
export async function newSetupToken(deps: OperatorDeps): Promise<string> {
  const token = await provideSetupToken(deps)
  if (token === undefined)
    throw new OperatorError('already_set_up', 'this server has an organisation already', 'log in, or ask for an invite')
  return token
}
