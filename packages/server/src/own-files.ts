/** What this process makes is written by nobody else, whatever it was started with: there are programs among it, and it runs them. */
export function keepOthersFromWriting(): void {
  process.umask(process.umask(0o022) | 0o022)
}
