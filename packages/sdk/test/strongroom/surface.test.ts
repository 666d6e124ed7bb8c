import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

// An editor shows whoever writes a program against the package what stands above a name. Catches: a class or a function of the package, or
// a way to a secret, that says nothing of itself. Seen red: `AuthenticationError` and `secrets.get` without their sentences.

const read = (path: URL): string => readFileSync(path, 'utf8')
const src = new URL('../../src/', import.meta.url)

/** What is exported from there by name and is no type, with the file it comes from. */
const exported = (entry: string): readonly (readonly [name: string, file: URL])[] => {
  const at = new URL(entry, src)
  return [...read(at).matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => [name.split(' as ')[0] ?? name, new URL(from, at)] as const),
  )
}

it('says above every class and function of the package what it is for', () => {
  const all = [...exported('index.ts'), ...exported('strongroom/surface.ts')]
  const silent = all.filter(([name, file]) => {
    const declared = new RegExp(`(\\*/\\n)?export (?:const|(?:async )?function|(?:abstract )?class) ${name}\\b`).exec(
      read(file),
    )
    return declared !== null && declared[1] === undefined
  })
  expect(silent.map(([name]) => name)).toEqual([])
  expect(all.length).toBeGreaterThan(50)
})

it('says of every way to a secret what it does', () => {
  const [, members = ''] =
    /^export interface Secrets \{\n(.*?)^\}/ms.exec(read(new URL('strongroom/secrets.ts', src))) ?? []
  const methods = [...members.matchAll(/^( {2}\/\*\* .*\*\/\n)? {2}([a-zA-Z]+)[<(]/gm)]
  expect(methods.filter(([, sentence]) => sentence === undefined).map(([, , name]) => name)).toEqual([])
  expect(methods.map(([, , name]) => name)).toContain('get')
})
