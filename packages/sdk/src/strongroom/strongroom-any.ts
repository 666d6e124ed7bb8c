import { optionsFromEnv } from './environment-variables.ts'
import type { Platform, StrongroomOptions } from './options.ts'
import { anyPlatform } from './platform-any.ts'
import { Strongroom } from './strongroom.ts'

/** The client for any platform with fetch and WebCrypto: what it has verified is kept while the process lives. */
export class AnyStrongroom extends Strongroom {
  /** From `STRONGROOM_BUNDLE`, or its parts. Refuses with a ConfigError that names what is missing. */
  static fromEnv(overrides: StrongroomOptions = {}, platform: Platform = anyPlatform): AnyStrongroom {
    return new AnyStrongroom(optionsFromEnv(overrides, platform), platform)
  }
}
