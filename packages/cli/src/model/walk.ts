import { type Command, isGroup } from './command.ts'
import { TREE } from './tree.ts'

export interface Walked {
  /** As it is typed, without the name of the program. */
  readonly path: string
  readonly command: Command
}

/** Every command there is, in the order of the tree. */
export async function everyCommand(): Promise<readonly Walked[]> {
  const all: Walked[] = []
  for (const [name, entry] of Object.entries(TREE)) {
    const noun = await entry.load()
    if (isGroup(noun))
      for (const [verb, command] of Object.entries(noun.verbs)) all.push({ path: `${name} ${verb}`, command })
    else all.push({ path: name, command: noun })
  }
  return all
}
