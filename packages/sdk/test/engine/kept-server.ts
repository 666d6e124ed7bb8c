import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePem, openKeys } from '@strongroom/protocol'
import { createClient } from '../../src/client.ts'
import { type FirstPerson, pemOf } from '../../src/people.ts'

// The data of a server that was set up once and stopped, to start copies of: fifty files of tests want the same first minute.

type KeptPerson = Omit<FirstPerson, 'client' | 'identity' | 'exportPem'> & { readonly pem: string }

interface Kept {
  readonly person: KeptPerson
  readonly rest: object
}

const fileOf = (data: string): string => join(data, 'kept.json')
const read = (data: string): Kept => JSON.parse(readFileSync(fileOf(data), 'utf8')) as Kept

export function keep(data: string, { client, identity, exportPem, ...person }: FirstPerson, rest: object): void {
  const kept: Kept = { person: { ...person, pem: exportPem().reveal() }, rest }
  writeFileSync(fileOf(data), JSON.stringify(kept))
}

/** What else was said of it. */
export const keptRest = <Rest>(data: string): Rest => read(data).rest as Rest

/** The same person with the same session, at the address of a copy. */
export async function keptPerson(data: string, url: string): Promise<FirstPerson> {
  const { pem, ...person } = read(data).person
  const material = decodePem(pem)
  return {
    ...person,
    client: createClient({ baseUrl: url, accessToken: person.accessToken }),
    identity: await openKeys(`user:${person.userId}`, material),
    exportPem: pemOf(person.userId, material),
  }
}

export const newData = (): string => mkdtempSync(join(process.env.STRONGROOM_TEST_DATA ?? tmpdir(), 'sr-sdk-'))

/** A data directory like another whose server does not run; its database is copied by `makeRunDatabase`. */
export function copyData(from: string): string {
  const data = newData()
  const { mode, uid, gid } = statSync(from)
  chmodSync(data, mode)
  chownSync(data, uid, gid)
  // Only `cp` keeps whose files they are.
  execFileSync('cp', ['-a', `${from}/.`, data])
  return data
}
