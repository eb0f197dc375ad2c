import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { appendPermission, homeLayout, loadPermissions, removePermission } from '@hermes/config'
import type { Action } from '@hermes/contracts/policy'
import type { Runtime } from '@hermes/runtime'
import { needsOutside, parseRules, REGISTRY_COMMANDS, type RuleEffect } from '@hermes/safety'
import type { Explanation } from '@hermes/safety/explain'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, openCli } from '../open-cli.js'
import { createStyle, printable, type Style } from '../render/style.js'

/** `hermes permissions list`: the rules in their order, with what stands before and behind them. */
export async function permissionsList(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, {}, async (runtime) => {
    const { rules = [], allowlist = [], denyGlobs = [], ...settings } = runtime.permissions.settings
    const mode = settings.mode === 'off' ? 'off' : runtime.config.approvals.mode
    if (json) {
      io.stdout.write(`${JSON.stringify({ mode, rules, allowlist, denyGlobs })}\n`)
      return EXIT.ok
    }
    const style = createStyle(io.stdout)
    const width = Math.max(0, ...rules.map(({ pattern }) => pattern.length))
    for (const [at, { pattern, effect, source }] of rules.entries()) {
      const number = style.dim(`${at + 1}`.padStart(`${rules.length}`.length))
      const place = source === undefined ? '' : `  ${style.dim(source)}`
      io.stdout.write(
        `${number}  ${paint(style, effect)(effect.padEnd(5))}  ${printable(pattern).padEnd(width)}${place}\n`,
      )
    }
    const more = [
      `approvals.mode: ${mode}`,
      ...(denyGlobs.length > 0 ? [`approvals.deny: ${denyGlobs.join(', ')}`] : []),
      ...(allowlist.length > 0 ? [`command_allowlist: ${allowlist.join(', ')}`] : []),
      ...(runtime.config.terminal.isolation_network === 'ask'
        ? [
            `reach their registries without a question (terminal.isolation_network: ask): ${REGISTRY_COMMANDS.join(', ')}`,
          ]
        : []),
    ]
    io.stdout.write(`${style.dim(printable(more.join('\n')))}\n`)
    if (rules.length === 0) io.stderr.write("No rules yet. Add one: hermes permissions add 'terminal(git push*)' ask\n")
    return EXIT.ok
  })
}

/** Flags of `hermes permissions explain`. */
interface ExplainFlags {
  readonly tool?: string
  readonly surface: string
  readonly user?: string
  readonly yolo?: boolean
  readonly json?: boolean
}

/** `hermes permissions explain WHAT`: what would be decided, by which rule, and why not by the others. */
export async function permissionsExplain(io: Io, what: string, flags: ExplainFlags): Promise<number> {
  const action = await actionOf(io, what)
  const toolName = flags.tool ?? TOOL_OF[action.type]
  return withRuntime(io, flags, async (runtime) => {
    const writable = runtime.isolatedTo()
    const place = { cwd: io.cwd, userHome: io.userHome }
    const isOutside = action.type === 'spawn' && writable && needsOutside(action.command, { ...place, writable })
    const explanation = await runtime.permissions.explain(isOutside ? { ...action, outside: true } : action, {
      sessionId: '',
      platform: flags.surface,
      user: flags.user ?? io.user,
      agentPath: ['root'],
      origin: 'model',
      tainted: false,
      ...(toolName === undefined ? {} : { toolName }),
      ...(writable === null ? {} : { writable }),
    })
    io.stdout.write(flags.json ? `${JSON.stringify(explanation)}\n` : describe(explanation, createStyle(io.stdout)))
    return EXIT.ok
  })
}

const TOOL_OF: Readonly<Partial<Record<Action['type'], string>>> = {
  spawn: 'terminal',
  read: 'read_file',
  write: 'write_file',
}

async function actionOf(io: Io, what: string): Promise<Action> {
  const [, word = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(what) ?? []
  const path = () => realPath(resolve(io.cwd, rest.replace(/^~(?=\/|$)/, io.userHome)))
  if (rest === '') return { type: 'spawn', command: what, cwd: io.cwd, backend: 'local' }
  switch (word) {
    case 'read':
      return { type: 'read', path: await path(), backend: 'local' }
    case 'write':
      return { type: 'write', path: await path(), operation: 'write', backend: 'local' }
    case 'fetch':
      if (!URL.canParse(rest))
        throw new UsageError(`${rest} is not a URL; write for example: fetch https://example.com/`)
      return { type: 'fetch', url: rest, method: 'get' }
    case 'send':
      return { type: 'send', target: rest }
    case 'run':
      return { type: 'spawn', command: rest, cwd: io.cwd, backend: 'local' }
    case 'outside':
      return { type: 'spawn', command: rest, cwd: io.cwd, backend: 'local', outside: true }
    default:
      return { type: 'spawn', command: what, cwd: io.cwd, backend: 'local' }
  }
}

/** The path with its links followed, as far as it exists. */
async function realPath(path: string): Promise<string> {
  const found = await realpath(path).catch(() => null)
  if (found !== null || path === dirname(path)) return found ?? path
  return join(await realPath(dirname(path)), basename(path))
}

const STEP_NAMES: Readonly<Record<Explanation['steps'][number]['stage'], string>> = {
  floor: 'hard floor',
  'deny-globs': 'approvals.deny',
  protected: 'protected',
  rules: 'your rules',
  'built-in': 'built-in rules',
  leave: 'allowlist',
  mode: 'approvals.mode',
}

function describe({ action, decision, reason, source, steps, rules }: Explanation, style: Style): string {
  const lines = [
    `${paint(style, decision)(decision)}  ${style.bold(printable(action))}`,
    `  ${printable(reason)}${source === null ? '' : style.dim(` (${source})`)}`,
  ]
  if (decision === 'ask') lines.push('  Where nobody can answer, Hermes refuses it.')
  lines.push('', style.bold('Steps'))
  for (const { stage, says, decides } of steps)
    lines.push(
      `${decides ? '→' : ' '} ${STEP_NAMES[stage].padEnd(15)}  ${decides ? printable(says) : style.dim(printable(says))}`,
    )
  if (rules.length > 0) lines.push('', `${style.bold('Rules')} ${style.dim('(the last match wins)')}`)
  for (const rule of rules) {
    const why = rule.decides ? 'it decides' : rule.why
    const place = rule.source === undefined ? '' : ` (${rule.source})`
    const text = printable(`${rule.pattern}: ${rule.effect}`)
    lines.push(`${rule.decides ? '→' : ' '} ${text}${style.dim(place)}`, `    ${style.dim(printable(why))}`)
  }
  return `${lines.join('\n')}\n`
}

/** `hermes permissions add PATTERN DECISION`. */
export async function permissionsAdd(io: Io, pattern: string, decision: RuleEffect): Promise<number> {
  // Read as one that allows, for what a rule that cannot be read would do until it is fixed is no matter here.
  const [problem] = parseRules({ [pattern]: 'allow' }).problems
  if (problem !== undefined) throw new UsageError(problem)
  const home = homeOf(io)
  await appendPermission({ home, pattern, decision })
  io.stdout.write(`${printable(pattern)}: ${decision}\n`)
  const permissions = await loadPermissions({ home })
  for (const line of parseRules(permissions.rules, permissions).problems) io.stderr.write(`hermes: ${line}\n`)
  return EXIT.ok
}

/** `hermes permissions remove PATTERN`, or the number that the list shows. What is running asks again from then on. */
export async function permissionsRemove(io: Io, named: string): Promise<number> {
  const home = homeOf(io)
  const { rules } = await loadPermissions({ home })
  const pattern = /^[1-9]\d*$/.test(named) ? (Object.keys(rules)[Number(named) - 1] ?? named) : named
  if (!(await removePermission({ home, pattern })))
    throw new UsageError(
      `${homeLayout(home).permissions} has no rule ${pattern}. All there are: hermes permissions list`,
    )
  io.stdout.write(`Removed ${printable(pattern)}.\n`)
  return EXIT.ok
}

function paint(style: Style, effect: RuleEffect): (text: string) => string {
  return { allow: style.green, ask: style.yellow, deny: style.red }[effect]
}

async function withRuntime(
  io: Io,
  { yolo = false }: { readonly yolo?: boolean },
  work: (runtime: Runtime) => Promise<number>,
): Promise<number> {
  const runtime = await openCli(io, { yolo })
  try {
    const names = (await runtime.tools()).map(({ name }) => name)
    for (const pattern of await runtime.permissions.rulesOfNoTool(names))
      io.stderr.write(`hermes: "${pattern}" in permissions.yaml names no tool there is here: hermes tools\n`)
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}
