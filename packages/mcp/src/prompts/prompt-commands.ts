import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Command, ExtensionApi, Registration } from '@hermes/contracts/extension'
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/client'
import type { McpServer } from '../servers/server.js'
import { guarded } from '../tools/calls.js'
import { cleanLine, cleanText } from '../tools/clean-text.js'
import { toToolResult } from '../tools/tool-result.js'

const MOST_PROMPTS = 50
const MOST_NAME_CHARS = 64
const MOST_CHARS = 100_000

/** The prompts of servers as `/mcp-SERVER-PROMPT`, as they are listed. */
export class PromptCommands {
  readonly #commands: ExtensionApi['commands']
  readonly #added = new Map<string, { readonly key: string; readonly registrations: readonly Registration[] }>()

  constructor(commands: ExtensionApi['commands']) {
    this.#commands = commands
  }

  /** Has those that the server lists now. */
  update(server: McpServer): void {
    const prompts = server.listing?.prompts.slice(0, MOST_PROMPTS) ?? []
    const key = JSON.stringify(prompts)
    if (this.#added.get(server.name)?.key === key) return
    this.remove(server.name)
    const registrations = prompts.flatMap((prompt) => {
      try {
        return [this.#commands.add(toCommand(server, prompt))]
      } catch {
        // Of two names that differ in signs only the first counts.
        return []
      }
    })
    this.#added.set(server.name, { key, registrations })
  }

  remove(server: string): void {
    for (const registration of this.#added.get(server)?.registrations ?? []) registration.dispose()
    this.#added.delete(server)
  }
}

function toCommand(server: McpServer, prompt: Prompt): Command {
  const requested = prompt.arguments ?? []
  const properties = requested.map(({ name, description = '' }) => [
    name,
    { type: 'string', description: cleanLine(description, 120) },
  ])
  return {
    name: commandName(server.name, prompt.name),
    summary: `${server.name}: ${cleanLine(prompt.description ?? prompt.title ?? prompt.name, 100)}`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: requested.filter(({ required }) => required === true).map(({ name }) => name),
    },
    changes: ['send'],
    run: async (args, { signal }) => {
      const input = Object.entries(args as JsonObject).filter(([, value]) => typeof value === 'string' && value !== '')
      const options = { signal, timeout: server.settings.timeoutMs }
      const result = await guarded(server.settings, prompt.name, signal, () =>
        server.use(
          (client) =>
            client.getPrompt(
              { name: prompt.name, arguments: Object.fromEntries(input) as Record<string, string> },
              options,
            ),
          signal,
        ),
      )
      const text = cleanText(textOf(result), MOST_CHARS).trim()
      if (text !== '') return { type: 'change', change: { type: 'send', text } }
      throw new HermesError(`The prompt ${cleanLine(prompt.name, 80)} of the MCP server ${server.name} is empty.`, {
        code: 'mcp.empty_prompt',
      })
    },
  }
}

function commandName(server: string, prompt: string): string {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `mcp-${plain(server)}-${plain(prompt)}`.slice(0, MOST_NAME_CHARS).replace(/-+$/, '')
}

/** One message; where there are several, who says what. */
function textOf({ messages }: GetPromptResult): string {
  const texts = messages.map(({ role, content }) => {
    const result = toToolResult({ content: [content] })
    const text = typeof result === 'string' ? result : (result.text ?? '')
    return messages.length > 1 ? `${role}: ${text}` : text
  })
  return texts.join('\n\n')
}
