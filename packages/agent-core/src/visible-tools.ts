import { resolveToolsets } from '@hermes/registry'
import type { RunContext } from './run-context.js'

/** The tools the session was shown, less those that the toolsets chosen now leave out. */
export function visibleTools(context: RunContext): readonly string[] {
  const chosen = new Set(resolveToolsets(context.registry.toolsets(), context.toolsets))
  return (context.session.prompt()?.tools ?? []).map((tool) => tool.name).filter((name) => chosen.has(name))
}
