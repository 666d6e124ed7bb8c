import { type ERRORS, errorsOf, type Routes } from '@strongroom/contract'

/** The refusals of the API. Where the command line is documented too, its index has these and its own. */
export function errorsMarkdown(errors: typeof ERRORS, api: Readonly<Record<string, Routes>>): string {
  const answered = new Set(Object.values(api).flatMap((routes) => Object.values(routes).flatMap(errorsOf)))
  const entries = Object.entries(errors).map(([code, { status, message, hint }]) =>
    [`## ${code}`, '', message, '', `*Do:* ${hint}`, '', `Status ${status}.`].join('\n'),
  )
  return [
    '# Error index',
    '',
    `A code never changes its meaning. The routes of \`/docs/api\` name ${answered.size} of these; the others can come from any.`,
    '',
    ...entries.flatMap((entry) => [entry, '']),
  ].join('\n')
}
