import { parseWitnessPolicy } from '@strongroom/protocol'
import { ConfigError } from './public-errors.ts'

export interface Witnesses {
  /** Verifier keys, as a witness prints them: name+hash+base64. */
  readonly keys: readonly string[]
  readonly quorum: number
}

/** In C2SP's own words, read once here so that a mistake is refused before anything is asked. */
export function policyOf({ keys, quorum }: Witnesses): string {
  const witnesses = keys.map((vkey, i) => `witness w${i} ${vkey}`)
  const group = `group all ${quorum} ${keys.map((_, i) => `w${i}`).join(' ')}`
  const policy = `${[...witnesses, group, 'quorum all'].join('\n')}\n`
  try {
    parseWitnessPolicy(policy)
    return policy
  } catch (cause) {
    throw new ConfigError('the witnesses cannot be read', {
      code: 'config_invalid',
      hint: 'Give verifier keys (name+hash+base64), each once, and a quorum of at least one and at most all of them.',
      cause,
    })
  }
}
