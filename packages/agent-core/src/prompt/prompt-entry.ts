import type { Entry, NewEntry, PromptEntry } from '@hermes/contracts/conversation'
import type { RunContext } from '../loop/run-context.js'
import { guidanceAfterSwitch } from './guidance.js'
import { startedIn } from './started-in.js'

/** The prompt of a new session: read once here, stored, and replayed from then on. What was left out of it is told. */
export async function promptEntry(context: RunContext): Promise<PromptEntry> {
  const system = typeof context.system === 'function' ? await context.system() : context.system
  const tools = await context.registry.definitions(context.toolsets)
  if (typeof system === 'string') return { type: 'prompt', system, tools }
  for (const text of system.problems ?? []) context.emit({ type: 'notice', level: 'warning', text })
  const layers = system.layers.map(({ text, ...layer }) => ({ ...layer, chars: text.length }))
  return { type: 'prompt', system: system.text, tools, layers }
}

/** Advice that the system text, made for another model, does not have; it leads the next message of the user. */
export function guidanceOfNewModel({ session, model }: RunContext): readonly NewEntry[] {
  const prompt = session.prompt()
  const text = prompt?.layers ? guidanceAfterSwitch(model.model, prompt.system) : null
  return text === null ? [] : [queued(text)]
}

const LOCATION_IN_PROMPT = /^Working directory: (.+)$/m
const LOCATION_ANNOUNCED = /^\[The working directory is (.+) from here on\.\]$/

/** Says where a session goes on, when that is another folder than it was told last; it leads the next message of the user. */
export function newLocation({ session, environment }: RunContext): readonly NewEntry[] {
  const prompt = session.prompt()
  if (!environment || !prompt?.layers) return []
  const root = startedIn(environment, session)
  const announced = announcedLocation(session.entries) ?? LOCATION_IN_PROMPT.exec(prompt.system)?.[1] ?? root
  return announced === root ? [] : [queued(`[The working directory is ${root} from here on.]`)]
}

function announcedLocation(entries: readonly Entry[]): string | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!
    const announced = entry.type === 'note' ? LOCATION_ANNOUNCED.exec(String(entry.data['text']))?.[1] : undefined
    if (announced !== undefined) return announced
  }
  return null
}

const queued = (text: string): NewEntry => ({ type: 'note', kind: 'steer.queued', data: { text, origin: 'reminder' } })
