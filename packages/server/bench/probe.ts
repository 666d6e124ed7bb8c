// Preloaded into each measured server: says over IPC what the process has used so far. It asks nothing of the server itself,
// so the server runs exactly as without it.

export interface Usage {
  readonly cpuMicroseconds: number
  readonly rssBytes: number
}

process.on('message', (message) => {
  if (message !== 'usage') return
  const { user, system } = process.cpuUsage()
  const usage: Usage = { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() }
  process.send?.(usage)
})
process.channel?.unref()
