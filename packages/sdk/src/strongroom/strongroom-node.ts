import { optionsFromEnv } from './environment-variables.ts'
import type { Platform, StrongroomOptions } from './options.ts'
import { nodePlatform } from './platform-node.ts'
import type { Session } from './session.ts'
import { Strongroom } from './strongroom.ts'

/** The client for Node: what it has verified is kept in a file, and ciphertexts for when the server cannot be reached. */
export class NodeStrongroom extends Strongroom {
  constructor(options: StrongroomOptions = {}, platform: Platform = nodePlatform, session?: Session) {
    super(options, platform, session)
  }

  /** From `STRONGROOM_BUNDLE`, or its parts. Refuses with a ConfigError that names what is missing. */
  static fromEnv(overrides: StrongroomOptions = {}, platform: Platform = nodePlatform): NodeStrongroom {
    return new NodeStrongroom(optionsFromEnv(overrides, platform), platform)
  }
}
