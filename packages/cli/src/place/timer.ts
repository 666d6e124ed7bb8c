/** What Node's timers take, 24 days: one of a longer time would be over at once. */
export const LONGEST_TIMER_MS = 2_147_483_647
