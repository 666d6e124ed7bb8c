import { createHash, hash } from 'node:crypto'
import {
  auditChainStart,
  type ChainedEvent,
  canonicalAuditEvent,
  type WrittenEvent,
  writtenEvent,
} from '@strongroom/contract'

// What is hashed is in the contract, for everybody who verifies; here it is hashed as a server does, which seals many thousands a minute.

export const startOfChain = (orgId: string): Buffer => createHash('sha256').update(auditChainStart(orgId)).digest()

/** Throws for what has no canonical form; `record` writes no such event. */
export const nextHash = (previous: Buffer, orgId: string, event: ChainedEvent): Buffer =>
  nextHashOf(previous, orgId, writtenEvent(event))

export const nextHashOf = (previous: Buffer, orgId: string, event: WrittenEvent): Buffer =>
  hash('sha256', Buffer.concat([previous, Buffer.from(canonicalAuditEvent(orgId, event))]), 'buffer')
