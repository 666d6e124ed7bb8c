// Names in the order people look for them in: capitals beside small letters, accents beside their letter, 2 before 10.
const collator = new Intl.Collator(undefined, { numeric: true })

export const compareNames = (a: string, b: string): number => collator.compare(a, b)

interface Named {
  readonly name: string
}
export const byName = (a: Named, b: Named): number => compareNames(a.name, b.name)

export const sortedNames = (names: Iterable<string>): readonly string[] => [...names].sort(compareNames)
