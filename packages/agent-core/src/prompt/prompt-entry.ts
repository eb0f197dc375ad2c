import type { NewEntry, PromptEntry } from '@hermes/contracts/conversation'
import type { RunContext } from '../run-context.js'
import { guidanceAfterSwitch } from './guidance.js'

/** The prompt of a new session: read once here, stored, and replayed from then on. What was left out of it is told. */
export async function promptEntry(context: RunContext): Promise<PromptEntry> {
  const system = typeof context.system === 'function' ? await context.system() : context.system
  const tools = await context.registry.definitions(context.toolsets)
  if (typeof system === 'string') return { type: 'prompt', system, tools }
  for (const text of system.problems ?? []) context.emit({ type: 'notice', level: 'warning', text })
  const layers = system.layers.map(({ name, source, text }) => ({ name, source, chars: text.length }))
  return { type: 'prompt', system: system.text, tools, layers }
}

/** Advice that the system text, made for another model, does not have; it leads the next message of the user. */
export function guidanceOfNewModel({ session, model }: RunContext): readonly NewEntry[] {
  const prompt = session.prompt()
  const text = prompt?.layers ? guidanceAfterSwitch(model.model, prompt.system) : null
  return text === null ? [] : [{ type: 'note', kind: 'steer.queued', data: { text, origin: 'reminder' } }]
}
