import type { AccessRole, KeyHolder } from '@strongroom/sdk'

/** What a role lets somebody do with a vault. */
export const ROLE_WORDS: Record<AccessRole, string> = {
  READ: 'reads and decrypts',
  WRITE: 'reads, decrypts and writes',
  ADMIN: 'reads, decrypts, writes, and decides who has access',
}
export const ROLES: readonly AccessRole[] = ['READ', 'WRITE', 'ADMIN']

export interface Explanation {
  readonly canDecrypt: boolean
  readonly canWrite: boolean
  readonly canShare: boolean
  readonly because: string
}

/** What follows for somebody from the signed list and the wrapped keys. */
export function explain(holder: Pick<KeyHolder, 'role' | 'keyIds'> | undefined): Explanation {
  if (!holder) return { canDecrypt: false, canWrite: false, canShare: false, because: 'Not on the signed access list.' }
  const { role, keyIds } = holder
  const keys = keyIds.length === 1 ? 'one key' : `${keyIds.length} keys`
  return {
    canDecrypt: keyIds.length > 0,
    canWrite: role !== 'READ' && keyIds.length > 0,
    canShare: role === 'ADMIN' && keyIds.length > 0,
    because:
      keyIds.length > 0
        ? `On the signed access list as ${role.toLowerCase()}, with the vault key wrapped for ${keys} of theirs.`
        : `On the signed access list as ${role.toLowerCase()}, but nobody has wrapped the vault key for them yet.`,
  }
}
