// Agents whose keys were made in this browser and not yet stored anywhere: only their ids, so that a closed tab leaves a trace.

const PLACE = 'unsaved-agent-keys'

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === 'string') : []
  } catch {
    return []
  }
}

const write = (ids: readonly string[]): void => localStorage.setItem(PLACE, JSON.stringify(ids.slice(-50)))

export const noteUnsaved = (agentId: string): void => write([...read().filter((id) => id !== agentId), agentId])
export const noteSaved = (agentId: string): void => write(read().filter((id) => id !== agentId))
export const isUnsaved = (agentId: string): boolean => read().includes(agentId)
