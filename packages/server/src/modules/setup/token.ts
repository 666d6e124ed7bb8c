import { randomBytes } from 'node:crypto'
import { type Deps, outsideOrgs } from '../../context.ts'
import { hashToken } from '../../secrets/credentials.ts'
import * as store from './store.ts'

const SETUP_TOKEN = /^srs_[A-Za-z0-9_-]{43}$/

/**
 * A new one-time setup token while there is no organisation; an older one stops working. Only its hash is kept, so it is to
 * be shown now or never. undefined once there is an organisation.
 */
export async function provideSetupToken(deps: Pick<Deps, 'database' | 'now'>): Promise<string | undefined> {
  return outsideOrgs(deps, async (db) => {
    if (await store.anyOrg(db)) return undefined
    const token = `srs_${randomBytes(32).toString('base64url')}`
    await store.replaceToken(db, hashToken(token), deps.now())
    return token
  })
}

/** undefined for anything that cannot be a setup token. */
export const hashSetupToken = (text: string | undefined): Buffer | undefined =>
  text !== undefined && SETUP_TOKEN.test(text) ? hashToken(text) : undefined
