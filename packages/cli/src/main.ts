import { processIo } from './place/io.ts'
import { runCli } from './run-cli.ts'

// Whoever reads our output may stop reading (`strongroom vault list | head -1`): that is no error of ours.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })

process.exitCode = await runCli(processIo())
