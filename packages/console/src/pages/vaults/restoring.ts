import { problemOf } from '../../queries.ts'
import { toast } from '../../ui/toast.tsx'

/** What an Undo of archiving does, and what is said of it: the dialog that could show an error is closed by then. */
export async function takeBack(named: string, restore: () => Promise<void>): Promise<void> {
  try {
    await restore()
    toast(`Restored ${named}`)
  } catch (error) {
    toast(`${named} could not be restored: ${problemOf(error).message}`)
  }
}
