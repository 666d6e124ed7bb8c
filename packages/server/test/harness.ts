import type { DestinationStream } from 'pino'
import { inject } from 'vitest'
import type { Config } from '../src/config.ts'
import { type Harness, harnessOn } from './harness-on.ts'
import { copyDatabase } from './postgres.ts'

export type { Harness, TestAgent } from './harness-on.ts'

/** Sixteen callers of one lock are slow where the machine is: that is not what their test is about. */
const PATIENCE = 20

/** A whole server for a test file, on a database of its own. */
export const startHarness = async (overrides: Partial<Config> = {}, logTo?: DestinationStream): Promise<Harness> =>
  harnessOn(await copyDatabase(inject('postgres')), overrides, logTo, PATIENCE)
