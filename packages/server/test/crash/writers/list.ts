import { agents } from './agents.ts'
import { feedback } from './feedback.ts'
import { groups } from './groups.ts'
import { members } from './members.ts'
import { names } from './names.ts'
import { rotations } from './rotations.ts'
import { tenants } from './tenants.ts'
import { vaults } from './vaults.ts'
import type { Kind } from './writer.ts'

/** Everything that is written under load. */
export const KINDS: readonly Kind[] = [agents, feedback, groups, members, names, rotations, tenants, vaults]
