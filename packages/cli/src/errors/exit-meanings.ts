import type { EXIT } from './codes.ts'

/** What each exit code says, for whoever writes a script. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  unexpected: 'a mistake in this program; look before you repeat it',
  usage: 'the command line was not understood',
  signIn: 'nobody is signed in, or the session or the keys are locked',
  denied: 'not permitted, or refused because a coding agent reads the output',
  notFound: 'there is no such thing, or several things have this name',
  invalid: 'the input is not right, or something changed in between',
  unavailable: 'no answer from the server, or the server cannot work',
  money: 'a budget or a balance does not suffice',
  unverified: '**verification failed; nothing was decrypted**',
  approval: 'somebody has to approve it first',
  rateLimited: 'too many requests, also after waiting',
  partly: 'partly done; the output says which part',
  failedPurchase: 'a purchase ended as failed',
  timeout: 'the time of `--timeout` was over',
  notStarted: '`run`: refused before the command was started; the code on standard error says why',
  notExecutable: '`run`: the command cannot be executed',
  commandNotFound: '`run`: there is no such command',
  interrupted: 'interrupted by Ctrl-C',
}
