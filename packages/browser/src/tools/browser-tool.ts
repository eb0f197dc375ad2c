import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { defineTool, type Tool, type ToolContext, type ToolPlanContext, type ToolResult } from '@hermes/contracts/tool'
import type { BrowserSession } from '../session/browser-session.js'
import type { BrowserSessions } from '../session/sessions.js'

/** What a tool of the browser does in the pages of a session. */
interface BrowserToolSpec<Args> {
  readonly name: string
  readonly description: string
  readonly properties?: JsonObject
  readonly required?: readonly string[]
  /** It changes nothing on the page. Default `false`. */
  readonly looks?: boolean
  /** It works while a dialog is open. Default `false`: the dialog comes first. */
  readonly despiteDialog?: boolean
  actions?(args: Args, context: ToolPlanContext): readonly Action[]
  act(args: Args, session: BrowserSession, context: ActContext): Promise<string>
}

/** What an act may use beside its session. */
interface ActContext {
  /** Ends with the call: its time, its dialog, its interrupt. */
  readonly signal: AbortSignal
  readonly call: ToolContext
}

/** What decides itself where pages are. */
const opensOrCloses: readonly string[] = ['browser_navigate', 'browser_close']

/** A tool of the toolset `browser`. All that pages say is text from outside, errors included. */
export function browserTool<Args>(sessions: BrowserSessions, spec: BrowserToolSpec<Args>): Tool {
  const { name, description, properties = {}, required = [], looks = false, despiteDialog = false, actions } = spec
  const tool = defineTool<Args>({
    name,
    toolset: 'browser',
    description,
    parameters: {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    },
    effect: looks ? 'read' : 'write',
    external: true,
    sources: () => [{ type: 'web', name: 'a page in the browser' }],
    icon: '🌐',
    ...(actions ? { actions } : {}),
    async execute(args, call): Promise<ToolResult> {
      const session = sessions.get(call.sessionId)
      return session.run(call, async (signal) => {
        if (session.dialog && !despiteDialog)
          throw new HermesError('This waits: a dialog has to be answered first.', { code: 'browser.dialog_open' })
        const camofox = opensOrCloses.includes(name) ? null : session.camofox
        if (camofox === null) return spec.act(args, session, { signal, call })
        const { actInCamofox } = await import('../camofox/camofox-tools.js')
        return actInCamofox(name, camofox, { args, signal })
      })
    },
  })
  return tool as Tool
}
