import { list, literal, type Of, type Shape } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import type { Envelope } from '../identity/document.ts'
import { type ReaderTrust, vaultAnswerShape, verifyEnvironmentAnswer, verifyVaultAnswer } from '../vault/answer.ts'
import { verifyContent } from '../vault/content.ts'
import { verifyItem, verifyItemRow } from '../vault/rows.ts'

// Section 9.3: which answer an evidence file shows, and how it is verified again. `other` is kept for people to look at.

export const evidenceForm = literal('environment', 'items', 'item', 'other')
export type EvidenceForm = Of<typeof evidenceForm>

const untouched: Shape<unknown> = (value) => value
const MAX_ROWS = 100_000
const rows = list(untouched, MAX_ROWS)

/** Answers have members that prove nothing, and their values are not part of evidence: only what is verified is looked at. */
function membersOf(answer: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  ensure(isObject, 'malformed', 'answer is not an object')
  return answer as Readonly<Record<string, unknown>>
}

type Verify = (answer: unknown, vaultId: string, trust: ReaderTrust) => Promise<unknown>

const FORMS: Readonly<Record<Exclude<EvidenceForm, 'other'>, Verify>> = {
  environment: verifyEnvironmentAnswer,
  items: async (answer, vaultId, trust) => {
    const { data, environment, assets, signed } = membersOf(answer)
    const head = await verifyVaultAnswer(vaultAnswerShape(signed, 'signed'), vaultId, trust)
    const lists = { items: rows(data, 'data'), env: rows(environment, 'environment'), assets: rows(assets, 'assets') }
    return verifyContent(head, lists)
  },
  item: async (answer, vaultId, trust) => {
    const { row, proof, detail, signed } = membersOf(answer)
    const head = await verifyVaultAnswer(vaultAnswerShape(signed, 'signed'), vaultId, trust)
    return verifyItem(head, verifyItemRow(head, row, proof), detail as Envelope)
  },
}

/** Verifies an answer of this form as its reader did, without keys. */
export const verifyForm = (form: Exclude<EvidenceForm, 'other'>): Verify => FORMS[form]
