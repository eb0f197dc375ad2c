import type { Tool, ToolResult } from '@hermes/contracts/tool'
import type { StorageToolServices } from './tool-services.js'

/** Met as often as this, a failure is worth more than a note. */
const OFTEN = 3

/**
 * The tool with a past fix at the end of a failing result, where one matches. A result that is fine stays as it is and costs nothing;
 * what goes wrong here never shows.
 */
export function withLearningHints<Args>(tool: Tool<Args>, services: StorageToolServices): Tool<Args> {
  if (tool.toolset === 'learning') return tool
  return {
    ...tool,
    execute: async (args, context) => {
      const result = await tool.execute(args, context)
      const failure = failureText(result)
      if (failure === null) return result
      const hint = await hintFor(services, { text: failure, tool: tool.name })
      return hint === null ? result : append(result, hint)
    },
  }
}

async function hintFor(services: StorageToolServices, error: { text: string; tool: string }): Promise<string | null> {
  try {
    const learning = await (await services.storage()).learnings.match(error)
    if (learning === null) return null
    const often = learning.timesUsed >= OFTEN ? ` It came up ${learning.timesUsed} times: worth a skill.` : ''
    return `[This looks like an earlier failure. What helped then: ${learning.fix}${often}]`
  } catch {
    // The failure itself is what the model has to know; a hint comes on top.
    return null
  }
}

/** The text of a failure: an error, or a command that ended with another code than 0. */
function failureText(result: ToolResult): string | null {
  if (typeof result === 'string') return null
  const code = (result.data as { readonly exit_code?: unknown } | null | undefined)?.exit_code
  const hasFailed = result.isError === true || (typeof code === 'number' && code !== 0)
  return hasFailed ? (result.text ?? JSON.stringify(result.data ?? '')) : null
}

/** As a part of its own, so that the result itself keeps its bytes. */
function append(result: ToolResult, hint: string): ToolResult {
  if (typeof result === 'string') return result
  return { ...result, parts: [...(result.parts ?? []), { type: 'text', text: `\n${hint}` }] }
}
