// What an operator does beside a running server, for the tests of its clients.

export { LOG_KEY } from '../src/log/log-key.ts'
export { backup } from '../src/operator/backup.ts'
export { restore } from '../src/operator/restore.ts'
export { provideServerSecret } from '../src/secrets/server-secrets.ts'
