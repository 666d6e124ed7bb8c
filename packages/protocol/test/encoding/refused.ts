import { ProtocolError } from '../../src/errors.ts'

/** The code with which `run` refuses at once; `accepted` if it does not. Any other error flies on and fails the test. */
export function codeOf(run: () => unknown): string {
  try {
    run()
    return 'accepted'
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
}
