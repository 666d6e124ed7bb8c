import type { Envelope, EnvRow, ItemRow, JsonObject } from '@strongroom/protocol'

// Answers as the attacker sees them: JSON, to be changed in place. The shapes are those of docs/reference/protocol.md 4.5 and 5.4.

export interface Proven {
  name: string
  state: JsonObject | null
  siblings: string[]
  terminal: [string, string] | null
}

export interface Transparency {
  checkpoint: string
  consistency?: { from: number; hashes: string[] }
  tip: { leaf: string; hashes: string[] }
  map: Proven[]
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] }
/** A signed document whose members may be changed. */
export interface Document {
  payload: string
  payloadType: string
  signatures: { keyid: string; sig: string }[]
}
export const asEnvelope = (document: Document): Envelope => document
export const asDocument = (envelope: Envelope): Document => structuredClone(envelope) as Document

/** What every answer brings that leads from the pinned organisation to a signer. */
export interface Directory {
  genesis: Document
  policies: Document[]
  records: Document[]
  capSets: Document[]
  transparency: Transparency
}

export interface Signed extends Directory {
  vaultId: string
  create: Document
  adminsChain: Document[]
  acl: Document
  head: Document
}

export interface EnvironmentBody {
  data: { row: Writable<EnvRow>; value: string }[]
  headVersion: number
  headHash: string
  signed: Signed
  wrappedKeys: Document[]
}

export interface ItemsBody {
  data: Writable<ItemRow>[]
  environment: Writable<EnvRow>[]
  assets: JsonObject[]
  signed: Signed
}

export interface ItemBody {
  row: Writable<ItemRow>
  proof: { siblings: string[]; terminal: [string, string] | null }
  detail: Document
  values: Record<string, string>
  signed: Signed
}

/** The item with what it was, the newest first. */
export interface VersionBody extends ItemBody {
  former: Document[]
}

export interface DirectoryBody extends Directory {
  kids: string[]
}

export interface ProjectEnvironmentBody {
  signed: Directory & { projectId: string; create: Document; adminsChain: Document[]; set: Document }
  vaults: (EnvironmentBody & { vaultId: string })[]
}

/** The state of a name as the answer proves it. */
export const stateIn = (transparency: Transparency, name: string): JsonObject | undefined =>
  transparency.map.find((one) => one.name === name)?.state ?? undefined

export const sizeOf = (note: string): number => Number(note.split('\n')[1])
export const originOf = (note: string): string => note.split('\n')[0] ?? ''
