import { queryOptions } from '@tanstack/react-query'
import { buildList } from './build-list.ts'

export interface ServedBuild {
  /** The hash over the list, computed here. */
  readonly build: string
  readonly files: number
  /** The scripts that this page may load are those of the list. */
  readonly isThisPage: boolean
}

/** The hashes that the browser holds every script against. */
function scriptsOfThisPage(): Readonly<Record<string, string>> {
  const map = document.querySelector('script[type=importmap]')?.textContent ?? '{}'
  return (JSON.parse(map) as { integrity?: Record<string, string> }).integrity ?? {}
}

async function readBuild(): Promise<ServedBuild> {
  const response = await fetch('/build.json', { credentials: 'omit' })
  if (!response.ok) throw new Error('the server does not say which console it serves')
  const { files } = (await response.json()) as { files: Readonly<Record<string, string>> }
  const paths = Object.keys(files)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(buildList(files))))
  const here = scriptsOfThisPage()
  const scripts = paths.filter((path) => path.endsWith('.js'))
  const isThisPage =
    scripts.length === Object.keys(here).length && scripts.every((path) => here[`/${path}`] === files[path])
  const build = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return { build, files: paths.length, isThisPage }
}

export const buildQuery = queryOptions({ queryKey: ['settings', 'build'], queryFn: readBuild })
