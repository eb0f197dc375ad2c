// What an editor may set of a session: options, and modes for editors that know no options yet.
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import { isPlanning } from '@hermes/agent-core'
import type { Entry, ReasoningEffort } from '@hermes/contracts/conversation'
import { failure } from './failure.js'

const MODE = 'mode'
const REASONING = 'reasoning'
const DEFAULT = 'default'

/** How a session can be worked in. */
const MODES = [
  { id: 'work', name: 'Work', description: 'Carries out what you ask, within your permissions.' },
  { id: 'plan', name: 'Plan', description: 'Looks and changes nothing; back to Work accepts the plan.' },
] as const

const EFFORTS = [
  { value: DEFAULT, name: 'Default', description: 'As configured, else as the provider has it.' },
  { value: 'minimal', name: 'Minimal' },
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
] as const

/** What one of the options is set to. */
type Setting =
  | { readonly type: 'mode'; readonly mode: (typeof MODES)[number]['id'] }
  | { readonly type: 'reasoning'; readonly effort: ReasoningEffort | null }

/** The modes, and the one that the log of a session says is on. */
export function modesOf(entries: readonly Entry[]): SessionModeState {
  return { currentModeId: isPlanning(entries) ? 'plan' : 'work', availableModes: MODES.map((mode) => ({ ...mode })) }
}

/** The options, each with what the log of a session says it is set to. */
export function configOptionsOf(entries: readonly Entry[]): SessionConfigOption[] {
  const chosen = entries.findLast((entry) => entry.type === 'model' && entry.reasoningEffort !== undefined)
  return [
    {
      ...{ id: MODE, name: 'Mode', category: 'mode', type: 'select', currentValue: modesOf(entries).currentModeId },
      options: MODES.map(({ id, ...mode }) => ({ value: id, ...mode })),
    },
    {
      ...{ id: REASONING, name: 'Reasoning', category: 'thought_level', type: 'select' },
      description: 'How much the model thinks, from the next request on.',
      currentValue: (chosen?.type === 'model' && chosen.reasoningEffort) || DEFAULT,
      options: EFFORTS.map((effort) => ({ ...effort })),
    },
  ]
}

/** @throws RequestError for an option or a value there is not */
export function readSetting(configId: string, value: unknown): Setting {
  switch (configId) {
    case MODE:
      return {
        type: 'mode',
        mode: oneOf(
          MODES.map(({ id }) => id),
          value,
          'mode',
        ),
      }
    case REASONING: {
      const effort = oneOf(
        EFFORTS.map((one) => one.value),
        value,
        'reasoning effort',
      )
      return { type: 'reasoning', effort: effort === DEFAULT ? null : effort }
    }
    default:
      throw failure('invalidParams', `Unknown option "${configId}". Options: ${MODE}, ${REASONING}.`)
  }
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown, name: string): Value {
  const found = values.find((one) => one === value)
  if (found !== undefined) return found
  throw failure('invalidParams', `Unknown ${name} "${String(value)}". Valid: ${values.join(', ')}.`)
}
