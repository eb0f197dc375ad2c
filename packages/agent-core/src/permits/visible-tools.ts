import type { ToolNames } from '@hermes/registry'
import type { RunContext } from '../loop/run-context.js'

interface Visible {
  readonly generation: number
  readonly prompt: object | null
  readonly names: ToolNames
}

const latest = new WeakMap<RunContext, Visible>()

/** The tools the session may call: those it was shown, less those that the toolsets chosen now leave out. Kept until tools come or go. */
export function visibleTools(context: RunContext): ToolNames {
  const { generation } = context.registry
  const prompt = context.session.prompt()
  const known = latest.get(context)
  if (known?.generation === generation && known.prompt === prompt) return known.names
  const shown = (prompt?.tools ?? []).map((tool) => tool.name)
  const names = context.registry.callable(shown, context.toolsets)
  latest.set(context, { generation, prompt, names })
  return names
}
