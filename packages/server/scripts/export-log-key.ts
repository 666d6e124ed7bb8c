import { createPrivateKey } from 'node:crypto'
import { readConfig } from '../src/config.ts'
import { LOG_KEY } from '../src/log/log-key.ts'
import { readRootKey } from '../src/secrets/root-key.ts'
import { provideServerSecret } from '../src/secrets/server-secrets.ts'
import { provideDatabase } from '../src/start.ts'

// Prints the key that signs the logs of a test server, for `evil-server --log-key`. Takes the settings of the server, which must
// not be running on an embedded database. Whoever has this key can fork the logs of every organisation: never on a real server.

const config = readConfig(process.env, process.argv.slice(2))
const undo: (() => Promise<void>)[] = []
try {
  const { database } = await provideDatabase(config, () => undefined, undo)
  const { count } = await database.kysely
    .selectFrom('server_secret')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('name', '=', LOG_KEY)
    .executeTakeFirstOrThrow()
  if (Number(count) === 0) throw new Error('there is no log yet: set the server up first')
  const keeper = { database, rootKey: readRootKey(config), now: () => new Date() }
  const pkcs8 = await provideServerSecret(keeper, LOG_KEY, () => new Uint8Array(48))
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  process.stdout.write(key.export({ format: 'pem', type: 'pkcs8' }))
} finally {
  for (const step of undo.reverse()) await step()
}
