import { estimateTokens, latestPrompt, type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { Command, CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { PLAIN_DIFF, plainShell, quoted, type RunShell } from '../plain-git.js'
import { clipped, parameters, say, sessionOf, text, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

const HISTORY_SHOWN = 20

const INIT = `Look through this project and write a file AGENTS.md in its root, for agents that will work on it: what it is, how its parts fit together, the commands that build, test and check it (run each once to see that it works), and the rules that its code keeps to. Say what cannot be seen from the code at a glance, and nothing else; at most 80 lines. If there is an AGENTS.md, bring it up to date and keep what still holds.`

const REVIEW = `Review {what}. Change nothing. Read enough of the code around it to know whether each change is right. Report what is wrong first, the gravest at the top, each with file and line, what goes wrong and when; then what is missing, such as tests. Say it in one line if there is nothing to object to.`

/** What a session is made of, and messages that are often wanted. */
export function commandsOfViews(services: SessionServices): readonly Command[] {
  return [
    {
      name: 'context',
      aliases: ['ctx'],
      summary: 'what fills the context window, in tokens',
      duringRun: 'allowed',
      scope: 'anyone',
      run: (_, context) => describeContext(context),
    },
    {
      name: 'history',
      usage: '[N]',
      summary: 'the newest messages of this session, a line each',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({
        count: { type: 'integer', minimum: 1, default: HISTORY_SHOWN, description: 'a number of messages' },
      }),
      run: ({ count }, context) => history(context, count as number),
    },
    {
      name: 'toolsets',
      summary: 'sets of tools, and what is in them',
      duringRun: 'allowed',
      needsSession: false,
      run: () => ({
        type: 'table',
        rows: Object.entries(services.toolsets()).map(([name, { tools }]) => ({ cells: [name, tools.join(', ')] })),
        empty: 'There are none.',
      }),
    },
    {
      name: 'insights',
      usage: '[DAYS]',
      summary: 'tools and sessions of the last days: calls, failures, time, cost',
      duringRun: 'allowed',
      needsSession: false,
      parameters: parameters({
        days: { type: 'integer', minimum: 1, default: 30, description: 'how many days: a whole number of at least 1' },
        source: text('where the sessions began: cli, telegram …'),
      }),
      run: async ({ days, source }) => {
        const { insights } = await import('./insights.js')
        const of = { days: days as number, source: source as string | undefined, nowMs: services.clock.now() }
        return insights(await services.storage(), of)
      },
    },
    {
      name: 'diff',
      usage: '[staged | all] [--stat] [PATH…]',
      summary: 'what git sees as changed here: not staged, staged, or all since the last commit',
      duringRun: 'allowed',
      parameters: parameters({
        stat: { type: 'boolean' },
        words: { type: 'array', items: { type: 'string' }, description: 'staged or all, and files' },
      }),
      complete: (words) => (words.length === 0 ? ['staged', 'all'] : []),
      run: ({ stat, words = [] }, context) => diff(context, words as readonly string[], stat === true),
    },
    {
      name: 'image',
      usage: 'FILE',
      summary: 'put an image into your message',
      duringRun: 'allowed',
      changes: ['attach'],
      parameters: parameters({ file: text('the path of an image') }, ['file']),
      run: ({ file }) => ({ type: 'change', change: { type: 'attach', file: file as string } }),
    },
    {
      name: 'paste',
      summary: 'put the image on the clipboard into your message',
      duringRun: 'allowed',
      changes: ['attach'],
      run: () => ({ type: 'change', change: { type: 'attach' } }),
    },
    {
      name: 'init',
      summary: 'have AGENTS.md written for this project',
      changes: ['send'],
      run: () => ({ type: 'change', change: { type: 'send', text: INIT } }),
    },
    {
      name: 'review',
      usage: '[WHAT]',
      summary: 'have changes looked through: those not committed, or what you name',
      changes: ['send'],
      parameters: parameters({ what: text('a branch, a commit, files') }),
      run: ({ what }) => {
        const of =
          what ?? 'the changes in this project that are not committed (git status, git diff, and files that are new)'
        return { type: 'change', change: { type: 'send', text: REVIEW.replace('{what}', () => String(of)) } }
      },
    },
  ]
}

function describeContext(context: CommandContext): CommandOutput {
  const entries = sessionOf(context).entries()
  const prompt = latestPrompt(entries)
  const messages = entries.flatMap((entry) => (entry.type === 'message' ? [entry] : []))
  const sum = (role: Message['role']) => {
    const all = messages.filter(({ message }) => message.role === role)
    return { count: all.length, tokens: all.reduce((total, { message }) => total + estimateTokens(message), 0) }
  }
  const last = messages.findLast(({ usage }) => usage !== undefined)?.usage
  const layers = prompt?.layers ?? []
  const system = prompt ? estimateTokens(prompt.system) : 0
  const share = prompt && prompt.system.length > 0 ? system / prompt.system.length : 0
  const rows: (readonly [name: string, tokens: number, about: string])[] = [
    ['system text', system, ''],
    ...layers.map(({ name, chars, source }) => [`  ${name}`, Math.round(chars * share), source] as const),
    ['tools', prompt ? estimateTokens(prompt.tools) : 0, `${prompt?.tools.length ?? 0} defined`],
    ...(['user', 'assistant', 'tool'] as const).map((role) => {
      const { count, tokens } = sum(role)
      return [role === 'tool' ? 'results' : role === 'user' ? 'your messages' : 'answers', tokens, `${count}`] as const
    }),
    ...(last
      ? [['last request', last.inputTokens, `counted by who answered; ${last.cacheReadTokens} from cache`] as const]
      : []),
  ]
  return {
    type: 'table',
    rows: rows.map(([name, tokens, about]) => ({
      cells: [name, name === 'last request' ? `${tokens}` : `≈ ${tokens}`, about],
      isDim: name.startsWith('  '),
      data: { name: name.trim(), tokens, about },
    })),
    empty: '',
  }
}

const NAMES: Readonly<Record<Message['role'], string>> = {
  system: 'system',
  user: 'you',
  assistant: 'Hermes',
  tool: 'result',
}

function history(context: CommandContext, count: number): CommandOutput {
  const messages = sessionOf(context)
    .entries()
    .flatMap((entry) => (entry.type === 'message' ? [entry] : []))
  return {
    type: 'table',
    rows: messages.slice(-count).map(({ seq, atMs, message }) => {
      const calls = toolCalls(message).map(({ name }) => `calls ${name}`)
      const words = [messageText(message), ...calls].filter((part) => part.trim() !== '').join(', ')
      const time = new Date(atMs).toISOString().slice(5, 16).replace('T', ' ')
      return { cells: [`#${seq}`, time, NAMES[message.role], clipped(words)], isDim: message.role === 'tool' }
    }),
    empty: 'Nothing was said yet.',
  }
}

const SHOWN_DIFF_LINES = 400

async function diff(context: CommandContext, words: readonly string[], stat: boolean): Promise<CommandOutput> {
  const [first] = words
  const what = first === 'staged' ? '--cached' : first === 'all' ? 'HEAD' : ''
  const files = (what === '' ? words : words.slice(1)).map(quoted).join(' ')
  const session = sessionOf(context)
  // In a shell of its own: that of the agent keeps its variables.
  const run = plainShell((command) => session.runOwn(`(${command})`, { signal: context.signal }))
  const shown = `git diff ${PLAIN_DIFF} ${stat ? '--stat ' : ''}${what} -- ${files}`
  const { output, exitCode } = await run(shown, session.cwd)
  if (exitCode !== 0) throw usageError(output.trim().split('\n')[0] || 'git could not be run here.')
  const fresh = what === '--cached' ? '' : await untracked(run, session.cwd, files)
  const lines = [...output.trimEnd().split('\n'), ...fresh.split('\n')].filter((line) => line !== '')
  if (lines.length === 0) return say('Nothing is changed.')
  const more = lines.length - SHOWN_DIFF_LINES
  const end = more > 0 ? [`… ${more} more lines: ! git diff`] : []
  return { type: 'text', format: 'diff', text: [...lines.slice(0, SHOWN_DIFF_LINES), ...end].join('\n') }
}

/** Files that git does not know yet, a line each. */
async function untracked(run: RunShell, cwd: string, files: string): Promise<string> {
  const { output, exitCode } = await run(`git ls-files --others --exclude-standard -- ${files}`, cwd)
  if (exitCode !== 0) return ''
  return output.trimEnd().replace(/^(?=.)/gm, 'new: ')
}
