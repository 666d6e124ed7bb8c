// Catches: evidence that a third party cannot check, that says something else than the answer shows, or that carries secrets.
// Seen red: values left in the file, also as a name or with something around them; the pins of then not used, also those of the vault; the claimed code returned as the found one; a message that the
// file’s own shape refuses.
import { beforeEach, describe, expect, it } from 'vitest'
import { orgGenesis } from '../../src/directory/documents.ts'
import { ProtocolError, type ProtocolErrorCode } from '../../src/errors.ts'
import { type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { checkEvidence, type Evidence } from '../../src/trust/check-evidence.ts'
import { makeEvidence } from '../../src/trust/evidence.ts'
import { remember } from '../../src/trust/remember.ts'
import type { TrustStore } from '../../src/trust/store.ts'
import { type EnvironmentAnswer, openEnvironment, type ReaderTrust } from '../../src/vault/answer.ts'
import { alterState } from '../attacks/powers.ts'
import { refusal } from '../log/refusal.ts'
import { nextHead } from '../transition/desk.ts'
import { MINUTE, ORG, openWorld, type World } from '../world/world.ts'
import { trustOf } from './desk.ts'

type Answer = { -readonly [K in keyof EnvironmentAnswer]: EnvironmentAnswer[K] }
const MAX_STALE_MS = 60 * MINUTE

let world: World
let store: TrustStore
beforeEach(async () => {
  world = await openWorld()
  const { deploy } = world.actors
  const { head } = await openEnvironment(
    await world.answer(world.prod, deploy),
    world.prod,
    trust(world.fresh()),
    deploy,
  )
  store = remember(world.fresh(), { directory: head.vault.directory, heads: [head], now: world.now }).store
  await world.host.append([await nextHead(world, {}, world.actors.bob)], world.now)
})
const trust = (from: TrustStore): ReaderTrust => world.trust(from, world.prod)
const honest = async (): Promise<Answer> => {
  const have = trust(store).log.seen?.size as number
  return structuredClone(await world.answer(world.prod, world.actors.deploy, { have }))
}

/** Reads as the client does, is refused, and writes the file it would write. */
async function evidenceOf(answer: unknown, now = world.now): Promise<Evidence> {
  const { deploy } = world.actors
  const held = { ...trust(store), freshness: { now, maxStaleMs: MAX_STALE_MS } }
  try {
    await openEnvironment(answer, world.prod, held, deploy)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const refused = { error, org: ORG, vaultId: world.prod, trust: trustOf(store), answer, now }
    return JSON.parse(JSON.stringify(makeEvidence({ ...refused, maxStaleMs: MAX_STALE_MS })))
  }
  throw new Error('the answer was accepted')
}

interface Lie {
  readonly code: ProtocolErrorCode
  tell(answer: Answer): void | Promise<void>
}
const LIES: Readonly<Record<string, Lie>> = {
  'a field left out': {
    code: 'env_mismatch',
    tell: (answer) => {
      answer.fields = answer.fields.slice(1)
    },
  },
  'a head of which a byte was changed': {
    code: 'bad_signature',
    tell: (answer) => {
      const [signature] = answer.head.signatures as [Envelope['signatures'][number]]
      const sig = `${signature.sig.startsWith('A') ? 'B' : 'A'}${signature.sig.slice(1)}`
      answer.head = { ...answer.head, signatures: [{ ...signature, sig }] }
    },
  },
  'another genesis': {
    code: 'genesis_mismatch',
    tell: async (answer) => {
      const { alice } = world.actors
      const { v: _v, t: _t, by: _by, ...members } = peekDocument(orgGenesis, answer.genesis).payload
      answer.genesis = await makeDocument(orgGenesis, { ...members, at: 1 }, [alice])
    },
  },
  'an access list in the place of the head': {
    code: 'wrong_type',
    tell: (answer) => {
      answer.head = answer.acl
    },
  },
  'no proof that the log only grew': {
    code: 'missing_consistency',
    tell: (answer) => {
      const { consistency: _gone, ...rest } = answer.transparency as { consistency?: unknown }
      answer.transparency = rest
    },
  },
  'a checkpoint of another time': {
    code: 'stale_view',
    tell: async (answer) => {
      const note = await world.host.checkpoint({ at: world.now - 2 * MAX_STALE_MS })
      answer.transparency = { ...(answer.transparency as object), checkpoint: note }
    },
  },
  'one member too many': {
    code: 'malformed',
    tell: (answer) => {
      Object.assign(answer, { note: 'hello' })
    },
  },
}

describe('the file of a refusal', () => {
  it.each(Object.entries(LIES))('for %s lets anybody see the same refusal, offline', async (_, { code, tell }) => {
    const answer = await honest()
    await tell(answer)
    const file = await evidenceOf(answer)
    expect(file.code).toBe(code)
    expect(await checkEvidence(file)).toMatchObject({ claimed: code, found: code, reproduced: true })
  })

  it('for a fork holds both checkpoints', async () => {
    // Another log of the size that the client remembers.
    const other = await openWorld()
    expect(other.host.leaves).toHaveLength(trust(store).log.seen?.size as number)
    const transparency = await other.host.transparency([], { at: world.now })
    const file = await evidenceOf({ ...(await honest()), transparency })
    expect(file.code).toBe('log_fork')
    const verdict = await checkEvidence(file)
    expect(verdict).toMatchObject({ found: 'log_fork', reproduced: true })
    const [seen, shown] = verdict.checkpoints
    expect(verdict.checkpoints).toHaveLength(2)
    expect(seen?.size).toBe(shown?.size)
    expect(seen?.root).not.toBe(shown?.root)
  })

  it('is checked at the time of the refusal, with the pins of then', async () => {
    const answer = await honest()
    await LIES['a checkpoint of another time']?.tell(answer)
    const file = await evidenceOf(answer)
    expect((await checkEvidence({ ...file, at: file.at - 2 * MAX_STALE_MS })).found).toBeNull()
    expect((await checkEvidence({ ...file, maxStaleMs: 4 * MAX_STALE_MS })).reproduced).toBe(false)
    expect((await checkEvidence({ ...file, pins: { ...file.pins, vault: null } })).reproduced).toBe(true)
  })

  it('for a vault that went back is borne out by what the client remembered of that vault', async () => {
    alterState<VaultState>(world, vaultName(world.prod), { headVersion: 1 })
    const file = await evidenceOf(await honest())
    expect(file.code).toBe('vault_rollback')
    expect(await checkEvidence(file)).toMatchObject({ found: 'vault_rollback', reproduced: true })
    expect((await checkEvidence({ ...file, pins: { ...file.pins, vault: null } })).found).toBe('head_mismatch')
  })

  it('for what only a key holder can see claims what it cannot show', async () => {
    const answer = await honest()
    const [first, second] = answer.fields as [{ row: unknown; value: string }, { row: unknown; value: string }]
    answer.fields = [{ ...first, value: second.value }, ...answer.fields.slice(1)]
    const file = await evidenceOf(answer)
    expect(file.code).toBe('field_swap')
    expect(await checkEvidence(file)).toMatchObject({ claimed: 'field_swap', found: null, reproduced: false })
  })
})

describe('a file that was tampered with', () => {
  let file: Evidence
  beforeEach(async () => {
    const answer = await honest()
    await LIES['a field left out']?.tell(answer)
    file = await evidenceOf(answer)
  })

  it('does not bear out another accusation', async () => {
    expect(await checkEvidence({ ...file, code: 'log_fork' })).toMatchObject({
      found: 'env_mismatch',
      reproduced: false,
    })
  })

  it('with an honest answer shows that nothing is wrong', async () => {
    const answer = await honest()
    const fields = answer.fields.map((field) => ({ ...field, value: '' }))
    expect(await checkEvidence({ ...file, answer: { ...answer, fields } })).toMatchObject({
      found: null,
      reproduced: false,
    })
  })

  it('with pins of somebody else shows something else', async () => {
    const other = { ...file.pins, logVkeys: [world.host.witnesses[0]?.vkey as string] }
    expect((await checkEvidence({ ...file, pins: other })).reproduced).toBe(false)
    const genesis = file.pins.vault?.headHash as string
    expect((await checkEvidence({ ...file, pins: { ...file.pins, genesis } })).found).toBe('genesis_mismatch')
    const note = await world.host.checkpoint({ size: 3, at: world.now })
    expect((await checkEvidence({ ...file, pins: { ...file.pins, checkpoint: note } })).found).toBe(
      'missing_consistency',
    )
  })

  it('that is no evidence file is refused', async () => {
    for (const broken of [null, {}, { ...file, version: 2 }, { ...file, code: 'no_such_code' }, { ...file, more: 1 }])
      expect(await refusal(() => checkEvidence(broken))).toBe('malformed')
    const pins = { ...file.pins, vault: { headVersion: 'many' } }
    expect(await refusal(() => checkEvidence({ ...file, pins }))).toBe('malformed')
    expect(await refusal(() => checkEvidence({ ...file, pins: { ...file.pins, checkpoint: 'no note' } }))).toBe(
      'malformed',
    )
  })
})

describe('what a file holds', () => {
  it('is no value and no ciphertext of one, wherever a broken answer put it', async () => {
    const answer = await honest()
    const values = answer.fields.map(({ value }) => value)
    expect(values).toHaveLength(3)
    const around = { [`${values[0]}`]: `${values[1]}\n ${values[2]}` }
    const copy = { deep: [values[0], { value: values[1] }], around }
    const odd = { ...answer, copy, fields: [...answer.fields, values[2]] }
    const text = JSON.stringify(await evidenceOf(odd))
    for (const value of values) expect(text).not.toContain(value)
    for (const secret of ['postgres://', 'sk_live']) expect(text).not.toContain(secret)
    // What it is about stays readable.
    expect(text).toContain('DATABASE_URL')
    expect(text).toContain(world.prod)
  })

  it('is bounded where the answer is not', async () => {
    let deep: unknown = 'end'
    for (let i = 0; i < 10_000; i++) deep = { deep }
    const error = new ProtocolError('malformed', `${'x'.repeat(999)}\u{1f600}${'x'.repeat(5000)}`)
    const input = { error, org: ORG, vaultId: world.prod, trust: trustOf(store), now: world.now, maxStaleMs: 1 }
    const file = makeEvidence({ ...input, answer: { deep } })
    expect(file.message).toHaveLength(1000)
    expect((await checkEvidence(JSON.parse(JSON.stringify(file)))).found).toBe('malformed')
    for (const answer of [null, 'text', 7, []]) expect(makeEvidence({ ...input, answer }).answer).toEqual(answer)
  })
})
