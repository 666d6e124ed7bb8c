import { parseDotenv } from '../dotenv/parse.ts'
import { EMPTY, type Found } from './source.ts'

/** A file of variables becomes one item, each variable a field of the environment; of a name that comes twice the last counts. */
export function readDotenv(text: string, file: string, item?: string): Found {
  const values = new Map(parseDotenv(text, file).map(({ name, value }) => [name, value]))
  const empty = [...values].filter(([, value]) => value === '').map(([name]) => ({ name, reason: EMPTY }))
  const fields = [...values]
    .filter(([, value]) => value !== '')
    .map(([label, value]) => ({ label, value, isEnvironmentVariable: true }))
  const name = item ?? (file.replace(/^\.+/, '') || 'env')
  return { items: fields.length === 0 ? [] : [{ from: 'env', name, fields }], leftOut: empty }
}
