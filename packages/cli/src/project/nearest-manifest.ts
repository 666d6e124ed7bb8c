import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const MANIFEST_NAME = 'strongroom.toml'

/** The strongroom.toml of this folder, or of the nearest one above it. */
export function nearestManifest(folder: string): string | undefined {
  const path = join(folder, MANIFEST_NAME)
  if (existsSync(path)) return path
  const above = dirname(folder)
  return above === folder ? undefined : nearestManifest(above)
}
