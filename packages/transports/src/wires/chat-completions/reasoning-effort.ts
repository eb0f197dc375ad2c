import type { ModelRequest } from '@hermes/contracts/model'
import { nameHas } from '../../catalogue/provider.js'
import type { ProviderQuirks } from '../../catalogue.js'

type Effort = NonNullable<ModelRequest['reasoningEffort']>

/** How a request asks for an effort of reasoning; nothing where the model takes none. */
export function effortFields(effort: Effort, model: string, quirks: ProviderQuirks): object {
  if (quirks.reasoningEffortModels && !nameHas(model, quirks.reasoningEffortModels)) return {}
  const shape = quirks.reasoningEffortShape ?? 'flat'
  switch (shape) {
    case 'flat':
      return { reasoning_effort: effort }
    case 'nested':
      return { reasoning: { effort } }
    case 'thinking':
      return { reasoning_effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'enabled' } }
    case 'google':
      return googleFields(effort, model.toLowerCase())
    case 'none':
      return {}
    default:
      return shape satisfies never
  }
}

/** Version 2.5 shows thoughts and takes no level; later ones take three, their Pro models two. */
function googleFields(effort: Effort, model: string): object {
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (!name.startsWith('gemini')) return { reasoning_effort: effort }
  const low = effort === 'minimal' || effort === 'low'
  const level = name.includes('-pro') ? (low ? 'low' : 'high') : effort === 'minimal' ? 'low' : effort
  const thinking_config = {
    include_thoughts: true,
    ...(name.startsWith('gemini-2') ? {} : { thinking_level: level }),
  }
  return { extra_body: { google: { thinking_config } } }
}
