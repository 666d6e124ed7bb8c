import { ProtocolError } from '../../src/errors.ts'

/** The code with which `run` refuses; `accepted` if it does not. Any other error flies on and fails the test. */
export async function refusal(run: () => unknown): Promise<string> {
  try {
    await run()
    return 'accepted'
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
}
