import { type Static, Type } from 'typebox'
import { closed } from './shapes.ts'

// Money is whole micro-units in a decimal string: no number of JSON ever holds an amount.

export const CURRENCY = 'USD'
export const SCALE = 6

const unit = { currency: Type.Literal(CURRENCY), scale: Type.Literal(SCALE) }

/** An amount that is asked for: not negative. */
export const Amount = closed({ amount: Type.String({ pattern: '^(?:0|[1-9][0-9]{0,23})$' }), ...unit })
/** An amount that is shown: may be negative. */
export const Money = closed({ amount: Type.String({ pattern: '^-?[0-9]{1,38}$' }), ...unit })
export type Money = Static<typeof Money>

export const money = (amount: bigint | string): Money => ({ amount: String(amount), currency: CURRENCY, scale: SCALE })
