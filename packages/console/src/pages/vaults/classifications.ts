import type { Classification } from '@strongroom/sdk'

/** From the least careful to the most. */
export const CLASSIFICATIONS: readonly Classification[] = ['public', 'internal', 'confidential', 'restricted']
