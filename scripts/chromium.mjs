// Where the browser of the browser tests comes from: a Chromium the machine already has, never a download of our own.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// First the one without windows: the same engine, without what draws windows that nobody sees.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

// Without its sandbox because root cannot have one (tests load our own pages only); silent towards the network.
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a Chromium or Chrome: CHROMIUM_PATH if given, else the first on PATH or in /usr/bin. */
export function findChromium() {
  const given = process.env.CHROMIUM_PATH
  if (given) return isExecutable(given) ? given : undefined
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'].filter(Boolean)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}
