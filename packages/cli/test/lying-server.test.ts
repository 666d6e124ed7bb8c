import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Machine, startWorld, type World } from './world.ts'

// A server that lies, as a person at the command line meets it. Catches: a value printed in spite of a failed verification, an
// exit code other than 9, an alarm without evidence, a missing vault key without the command that helps.

const REF = 'prod/stripe/STRIPE_SECRET_KEY'

type Lie = (path: string, body: string) => string

let world: World
let machine: Machine
let liar: Server
let url: string
let lie: Lie = (_, body) => body

beforeAll(async () => {
  world = await startWorld()
  liar = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const answer = await fetch(`${world.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { ...(headers as Record<string, string>), 'accept-encoding': 'identity' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const body = lie(request.url ?? '', await answer.text())
    const passed = ['content-type', 'x-request-id', 'etag'].flatMap((name) => {
      const value = answer.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    response.writeHead(answer.status, Object.fromEntries(passed)).end(body)
  })
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
  machine = await world.founderMachine()
  await machine.call(['set', REF, '--create-vault'], { input: 'sk_test_4242' })
})
beforeEach(() => {
  lie = (_, body) => body
})
afterAll(async () => {
  await new Promise((resolve) => liar.close(resolve))
  await world.close()
})

/** Other letters in the middle of every long text under these names. */
const altering =
  (...names: readonly string[]): Lie =>
  (_, body) => {
    const isWanted = new RegExp(`"(${names.join('|')})":"([^"]{40,})"`, 'g')
    return body.replace(isWanted, (_whole, name: string, text: string) => {
      const at = Math.floor(text.length / 2)
      return `"${name}":"${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}"`
    })
  }

const read = (more: readonly string[] = []) => machine.call(['read', REF, '--server', url, ...more])
const evidenceFiles = (): string[] => {
  const folder = join(machine.home, '.local/state/strongroom/evidence')
  return existsSync(folder) ? readdirSync(folder) : []
}

it('reads through the same way where nobody lies', async () => {
  expect(await read()).toMatchObject({ code: 0, stdout: 'sk_test_4242', stderr: '' })
})

it('prints nothing, ends with 9 and leaves evidence, whatever was altered', async () => {
  for (const names of [['value', 'ct'], ['payload'], ['sig'], ['checkpoint'], ['leaf']]) {
    lie = altering(...names)
    const before = evidenceFiles().length
    const refused = await read(['--json'])
    expect(refused, names.join()).toMatchObject({ code: 9, stdout: '' })
    const { exitCode, evidence, code } = refused.error()
    expect(exitCode).toBe(9)
    expect((await machine.call(['explain', code])).code).toBe(0)
    expect(evidenceFiles().length, names.join()).toBeGreaterThan(before)
    expect(evidence, names.join()).toContain(join(machine.home, '.local/state/strongroom/evidence'))
    expect(readFileSync(evidence ?? '', 'utf8')).not.toContain('sk_test')
    const shown = await read()
    expect(shown.stdout).toBe('')
    expect(shown.stderr).toMatch(/✗ \w+ .*\n(.*\n)*? +evidence +\S+\.json/)
  }
  lie = (_, body) => body
  expect((await read()).stdout).toBe('sk_test_4242')
})

it('notices a server that goes back in its history, in every command that reads', async () => {
  const memory = new Map<string, string>()
  const placeOf = (path: string): string => path.split('?')[0] ?? ''
  lie = (path, body) => {
    memory.set(placeOf(path), body)
    return body
  }
  const own = await world.founderMachine()
  const at = (args: readonly string[]) => own.call([...args, '--server', url, '--json'])
  expect((await at(['read', REF])).code).toBe(0)
  expect((await at(['doctor'])).code).toBe(0)
  lie = (_, body) => body
  await at(['set', 'prod/other/KEY', '--generate', '20'])
  lie = (path, body) => memory.get(placeOf(path)) ?? body
  const refused = await at(['read', REF])
  expect(refused).toMatchObject({ code: 9, stdout: '' })
  const doctor = await at(['doctor'])
  expect(doctor.code).toBe(12)
  const { checks } = doctor.json().data as { checks: { name: string; state: string }[] }
  expect(checks.find(({ name }) => name === 'log')).toMatchObject({ state: 'failed' })
})

it('names who can share a vault key that is missing, with the command, and exit code 4', async () => {
  await machine.call(['agent', 'create', 'checkout-bot', '--vault', 'prod'])
  lie = (_, body) => JSON.stringify(JSON.parse(body, (name, value) => (name === 'wrappedKeys' ? [] : value)))
  const refused = await machine.call(['read', REF, '--server', url, '--profile', 'checkout-bot', '--json'])
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.error()).toMatchObject({ code: 'no_wrapped_key', exitCode: 4 })
  expect(refused.error().message).toContain('"prod"')
  expect(refused.error().hint).toContain('strongroom vault share prod --with checkout-bot')
})
