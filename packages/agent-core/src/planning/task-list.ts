import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'

/** The items of a task list that are not done. */
export function openItems(plan: JsonValue | undefined): JsonObject[] {
  return itemsOf(plan).filter((item) => item['status'] === 'pending' || item['status'] === 'in_progress')
}

/** The items of a task list, as the model last wrote it; none where there is no list. */
export function itemsOf(plan: JsonValue | undefined): JsonObject[] {
  const todos = isJsonObject(plan) ? plan['todos'] : null
  return Array.isArray(todos) ? todos.filter((item) => isJsonObject(item)) : []
}
