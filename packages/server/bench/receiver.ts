import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Takes what it is told and counts it.

let count = 0
const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => {
    count += 1
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('message', () => process.send?.(count))
