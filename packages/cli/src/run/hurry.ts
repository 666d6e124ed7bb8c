// A start that asks nobody hurries (scripts/starter.cjs): V8 does nothing ahead, since such a start is over before that has paid.

const CALM = Symbol.for('strongroom.calm')

/** From here on V8 works as ever: a command may go on for long, and what is loaded now was kept compiled under its usual flags. */
export const endHurry = (): void => (process as unknown as Readonly<Record<symbol, (() => void) | undefined>>)[CALM]?.()
