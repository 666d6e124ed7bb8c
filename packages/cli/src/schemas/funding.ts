import { funding } from '@strongroom/contract'
import { Type } from 'typebox'

// What `billing fund`, `billing intent` and `billing intents` print. While it waits, `--json` prints a line whenever something changes.

export const intentShape = funding.getIntent.response
export const intentsShape = Type.Array(intentShape)
