import { command } from '../model/command.ts'

export const VERSION = '0.1.0'

export const version = command({
  summary: 'versions of this program and of Node',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom version', does: 'what is installed' }],
  next: 'strongroom doctor',
  output: async () => (await import('../schemas/machine.ts')).versionShape,
  run: async () => ({
    data: { strongroom: VERSION, node: process.versions.node, platform: `${process.platform}-${process.arch}` },
    text: `strongroom ${VERSION}   node ${process.versions.node}   ${process.platform}-${process.arch}`,
  }),
})
