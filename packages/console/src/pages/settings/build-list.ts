/** What the hash of a build is over: every file that a browser gets, in the order of their paths, with its own hash. */
export const buildList = (files: Readonly<Record<string, string>>): string =>
  Object.keys(files)
    .sort()
    .map((path) => `${path} ${files[path]}\n`)
    .join('')
