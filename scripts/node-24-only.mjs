// Preloaded by the commands that run TypeScript sources, so that an older Node gets a sentence and not a syntax error.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`this command needs Node 24 and runs on ${process.version}; \`npm test\` brings the pinned one`)
  process.exit(1)
}
