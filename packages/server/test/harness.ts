import type { DestinationStream } from 'pino'
import { inject } from 'vitest'
import type { Config } from '../src/config.ts'
import { type Harness, harnessOn, PATIENCE } from './harness-on.ts'
import { copyDatabase } from './postgres.ts'

export type { Harness, TestAgent } from './harness-on.ts'

/** A whole server for a test file, on a database of its own. */
export const startHarness = async (overrides: Partial<Config> = {}, logTo?: DestinationStream): Promise<Harness> =>
  harnessOn(await copyDatabase(inject('postgres')), overrides, logTo, PATIENCE)
