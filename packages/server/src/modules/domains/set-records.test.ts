import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, foundOrg, refusal } from '../../../test/people.ts'
import { type Door, startDoor } from '../../../test/power-dns/door.ts'
import { type PowerDnsServer, startPowerDns, whyNoPowerDns } from '../../../test/power-dns/power-dns.ts'
import { inOrg } from '../../context.ts'

// Catches: records in PowerDNS that are written before the idempotency key of the request is looked at. Seen red: a repeated request that
// writes over what others changed since, a key used for other records that has written them, a repeated request with a serial that is
// refused for its own change, two at once with one key that both write, a change that PowerDNS made without saying so and that cannot be
// sent again, a refusal that keeps its key.

const A = '93.184.216.1'
const B = '93.184.216.2'
const C = '93.184.216.3'

const reason = whyNoPowerDns()
if (reason) console.log(`skipped: records set once for a key: ${reason}`)

describe.skipIf(reason !== undefined)('records in PowerDNS, with an idempotency key', () => {
  let powerDns: PowerDnsServer
  let door: Door
  let h: Harness
  let alice: FirstPerson
  beforeAll(async () => {
    powerDns = await startPowerDns()
    door = await startDoor(powerDns.config)
    h = await startHarness({ powerDns: door.config })
    alice = await foundOrg(h)
    await powerDns.makeZone('acme.dev')
    await alice.client.domains.add({ body: { domain: 'acme.dev', managed: true } })
  })
  afterEach(() => door.keep())
  afterAll(async () => {
    await h.close()
    await door.close()
    await powerDns.stop()
  })

  const put = (content: string, idempotencyKey?: string, ifSerial?: number) => {
    const records = [{ name: 'acme.dev', type: 'A' as const, content }]
    const body = { records, ...(ifSerial !== undefined && { ifSerial }) }
    return alice.client.domains.setRecords(
      { params: { domain: 'acme.dev' }, body },
      idempotencyKey === undefined ? {} : { idempotencyKey },
    )
  }
  const served = () => powerDns.dig('acme.dev', 'A')
  const noted = async () =>
    (
      await inOrg(h.deps, alice.orgId, (db) =>
        db.selectFrom('audit_event').select('event_id').where('action', '=', 'domain.set-records').execute(),
      )
    ).length

  it('answers a repeated request as before, and writes nothing over what was changed since', async () => {
    const first = await put(A, 'again')
    await put(B)
    const before = await noted()
    expect(await put(A, 'again')).toEqual(first)
    expect(served()).toEqual([B])
    expect(await noted()).toBe(before)
  })

  it('answers a repeated request as before though its own change has moved the serial on', async () => {
    const { serial } = await put(A)
    const first = await put(B, 'serial', serial)
    expect(await put(B, 'serial', serial)).toEqual(first)
    expect(served()).toEqual([B])
  })

  it('refuses a key that was used for other records, and leaves the zone as it was', async () => {
    await put(A, 'reused')
    expect(await refusal(put(B, 'reused'))).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
    expect(served()).toEqual([A])
  })

  it('leaves a key free whose request was refused', async () => {
    const { serial } = await put(A)
    expect(await codeOf(put(B, 'refused', serial - 1))).toBe('records_changed')
    expect(served()).toEqual([A])
    expect((await put(B, 'refused', serial)).domain).toBe('acme.dev')
    expect(served()).toEqual([B])
  })

  /** The next change is made in PowerDNS, and said to be made when the test says so. */
  const holding = () => {
    let tell = (): void => undefined
    const told = new Promise<void>((resolve) => {
      tell = resolve
    })
    const done = new Promise<void>((resolve) => {
      door.keep(async (method, pass) => {
        const answer = await pass()
        if (method !== 'PATCH') return answer
        door.keep()
        resolve()
        await told
        return answer
      })
    })
    return { done, tell: () => tell() }
  }

  it('lets one of two at once write, and nobody with other records', async () => {
    await put(A)
    const { done, tell } = holding()
    const first = put(B, 'twins')
    await done
    await put(C)
    expect(await refusal(put(B, 'twins'))).toMatchObject({ status: 409, code: 'idempotency_in_progress' })
    expect(await codeOf(put(A, 'twins'))).toBe('idempotency_key_reused')
    expect(served()).toEqual([C])
    tell()
    const answer = await first
    expect(await put(B, 'twins')).toEqual(answer)
    expect(served()).toEqual([C])
  })

  it('is finished by a later request with the key where the first one never came back', async () => {
    const { serial } = await put(A)
    const { done, tell } = holding()
    const lost = put(B, 'lost', serial)
    await done
    h.advance(31_000)
    const before = await noted()
    const finished = await put(B, 'lost', serial)
    expect(await noted()).toBe(before + 1)
    expect(await put(B, 'lost', serial)).toEqual(finished)
    expect(served()).toEqual([B])
    tell()
    await lost
  })

  it('finds its own change when PowerDNS made it and did not say so, and never takes that of others for it', async () => {
    const { serial } = await put(A)
    const silent = () =>
      door.keep(async (method, pass) => {
        const answer = await pass()
        return method === 'PATCH' ? undefined : answer
      })
    silent()
    expect(await codeOf(put(B, 'unsaid', serial))).toBe('dns_unavailable')
    door.keep()
    const found = await put(B, 'unsaid', serial)
    expect(found.serial).toBeGreaterThan(serial)
    silent()
    expect(await codeOf(put(A, 'overtaken', found.serial))).toBe('dns_unavailable')
    door.keep()
    await put(B)
    expect(await codeOf(put(A, 'overtaken', found.serial))).toBe('records_changed')
    expect(served()).toEqual([B])
  })
})
