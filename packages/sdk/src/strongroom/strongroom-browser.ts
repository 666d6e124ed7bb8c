import type { Platform, StrongroomOptions } from './options.ts'
import { browserPlatform } from './platform-browser.ts'
import type { Session } from './session.ts'
import { Strongroom } from './strongroom.ts'

/** The client for browsers: what it has verified is kept in IndexedDB. API keys are refused unless allowed explicitly. */
export class BrowserStrongroom extends Strongroom {
  constructor(options: StrongroomOptions = {}, platform: Platform = browserPlatform, session?: Session) {
    super(options, platform, session)
  }
}
