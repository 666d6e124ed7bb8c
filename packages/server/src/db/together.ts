import type pg from 'pg'

/** A statement of one parameter, the keys, that gives `key` and `row` for each key there is something for. */
export interface KeyedStatement {
  readonly name: string
  readonly text: string
  /** The parameter, where it is not the array of keys, each once. */
  parameterOf?(keys: readonly string[]): unknown
  /** What a row calls its key, where that is shorter than the key itself. */
  rowKey?(key: string): string
}

interface Question {
  readonly key: string
  answer(row: unknown): void
  fail(cause: unknown): void
}

const STATEMENTS_AT_ONCE = 4
const KEYS_PER_STATEMENT = 100

/**
 * Asks for what is wanted by many requests in as few statements: what comes in during one turn of the event loop, or while all
 * statements of this kind are under way, goes together. Nothing is remembered: a question is only ever answered by a statement
 * that was sent after it was asked.
 */
export function askTogether(
  pool: pg.Pool,
  { name, text, parameterOf = (keys) => [...new Set(keys)], rowKey = (key) => key }: KeyedStatement,
): <T>(key: string) => Promise<T | null> {
  let waiting: Question[] = []
  let running = 0
  let isScheduled = false

  const send = async (questions: readonly Question[]): Promise<void> => {
    try {
      const values = [parameterOf(questions.map(({ key }) => key))]
      const { rows } = await pool.query<{ key: string; row: unknown }>({ name, text, values })
      const found = new Map(rows.map(({ key, row }) => [key, row]))
      for (const { key, answer } of questions) answer(found.get(rowKey(key)) ?? null)
    } catch (cause) {
      for (const { fail } of questions) fail(cause)
    }
  }
  const sendWaiting = (): void => {
    isScheduled = false
    while (waiting.length > 0 && running < STATEMENTS_AT_ONCE) {
      const questions = waiting.slice(0, KEYS_PER_STATEMENT)
      waiting = waiting.slice(KEYS_PER_STATEMENT)
      running++
      void send(questions).finally(() => {
        running--
        sendWaiting()
      })
    }
  }
  return <T>(key: string) =>
    new Promise<T | null>((answer, fail) => {
      // The statement says what its rows are; whoever names it names their type.
      waiting.push({ key, answer: (row) => answer(row as T | null), fail })
      if (isScheduled || running >= STATEMENTS_AT_ONCE) return
      isScheduled = true
      setImmediate(sendWaiting)
    })
}
