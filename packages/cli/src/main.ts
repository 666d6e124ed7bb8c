import { processIo } from './place/io.ts'
import { runCli } from './run-cli.ts'

void runCli(processIo()).then((code) => {
  process.exitCode = code
})
