import type { PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk'
import { isJsonObject, type JsonValue } from '@hermes/contracts'

const STATUSES: Readonly<Record<string, PlanEntry['status']>> = {
  pending: 'pending',
  in_progress: 'in_progress',
  completed: 'completed',
}

/** The task list in the data of a `todo_write` result as the editor's plan, dropped tasks left out; `null` when there is none. */
export function toPlan(toolName: string, data: JsonValue | undefined): SessionUpdate | null {
  if (toolName !== 'todo_write' || !isJsonObject(data) || !Array.isArray(data['todos'])) return null
  const entries = (data['todos'] as readonly JsonValue[]).flatMap((todo): PlanEntry[] => {
    if (!isJsonObject(todo)) return []
    const status = STATUSES[String(todo['status'])]
    return status ? [{ content: String(todo['content']), priority: 'medium', status }] : []
  })
  return { sessionUpdate: 'plan', entries }
}
