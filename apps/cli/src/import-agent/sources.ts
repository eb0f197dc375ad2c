import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defaultConfig, parseEnv } from '@hermes/config'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { findProvider } from '@hermes/transports'
import type { Io } from '../io.js'
import type { Agent, ImportItem } from './item.js'
import { left, object, readData } from './read-data.js'
import { entriesOf, skillsIn, textOf } from './read-folder.js'
import { namesSecret, withoutSecrets } from './secrets.js'
import { type ServersPlace, serversOf } from './servers.js'
import { type Decision, toRule } from './source-rules.js'

type Items = readonly ImportItem[]

/** Where the home of an agent usually is; the first one that is there. `null` where none is. */
export async function usualHome(agent: Agent, { env, userHome }: Pick<Io, 'env' | 'userHome'>): Promise<string | null> {
  const places = {
    'claude-code': [env['CLAUDE_CONFIG_DIR'] ?? join(userHome, '.claude')],
    codex: [env['CODEX_HOME'] ?? join(userHome, '.codex')],
    openclaw: ['.openclaw', '.clawdbot', '.moltbot'].map((name) => join(userHome, name)),
    hermes: [],
  }[agent]
  for (const place of places) if ((await stat(place).catch(() => null))?.isDirectory()) return place
  return null
}

/** What is in a home, in the order in which it is taken over. Never rejects for a file that is broken: that is left, with the reason. */
export async function readSource(agent: Agent, folder: string, io: Pick<Io, 'env' | 'userHome'>): Promise<Items> {
  const place = { folder: null, userHome: io.userHome, env: io.env }
  switch (agent) {
    case 'claude-code':
      return readClaudeCode(folder, place)
    case 'codex':
      return readCodex(folder, place)
    case 'openclaw':
      return readOpenclaw(folder, place)
    case 'hermes':
      return readHermes(folder)
    default:
      return agent satisfies never
  }
}

async function readClaudeCode(folder: string, place: ServersPlace): Promise<Items> {
  const settings = await readData(join(folder, 'settings.json'))
  const state = await readData(`${folder}.json`)
  const inside = await readData(join(folder, '.claude.json'))
  const permissions = object(settings.data['permissions'])
  const rules = (['deny', 'ask', 'allow'] as const).flatMap((decision) => rulesOf(permissions[decision], decision))
  const env = Object.entries(object(settings.data['env']))
  const instructions = await textOf(join(folder, 'CLAUDE.md'))
  return [
    ...settings.items,
    ...state.items,
    ...serversOf({ ...object(state.data['mcpServers']), ...object(inside.data['mcpServers']) }, place),
    ...rules,
    ...env.flatMap(([name, value]) => (namesSecret(name) ? secret(name, value) : [])),
    ...(await skillsIn(join(folder, 'skills'))),
    ...leftInstructions(instructions, join(folder, 'CLAUDE.md')),
    ...(settings.data['hooks'] === undefined
      ? []
      : [left('hooks', `name the file instead: hermes config set hook_files ${join(folder, 'settings.json')}`)]),
    ...(await leftFolders(folder, ['commands', 'agents', 'plugins', 'projects'])),
  ]
}

function rulesOf(list: unknown, decision: Decision): Items {
  return (Array.isArray(list) ? list : []).flatMap((rule): Items => {
    const pattern = typeof rule === 'string' ? toRule(rule, decision) : null
    if (pattern !== null) return [{ type: 'rule', pattern, decision }]
    return [
      left(`rule ${String(rule)} (${decision})`, 'only rules about commands are taken over, none that allows all'),
    ]
  })
}

async function readCodex(folder: string, place: ServersPlace): Promise<Items> {
  const config = await readData(join(folder, 'config.toml'))
  const auth = await readData(join(folder, 'auth.json'))
  const { model, model_provider: provider = 'openai' } = config.data
  return [
    ...config.items,
    ...auth.items,
    ...modelOf(String(provider), model),
    ...serversOf(object(config.data['mcp_servers']), place),
    ...secret('OPENAI_API_KEY', auth.data['OPENAI_API_KEY']),
    ...(auth.data['tokens'] == null ? [] : [left('login', 'logins belong to one program: hermes auth add')]),
    ...(await skillsIn(join(folder, 'skills'))),
    ...leftInstructions(await textOf(join(folder, 'AGENTS.md')), join(folder, 'AGENTS.md')),
    ...(await leftFolders(folder, ['prompts', 'sessions', 'rules'])),
  ]
}

async function readOpenclaw(folder: string, place: ServersPlace): Promise<Items> {
  const names = ['openclaw.json', 'clawdbot.json', 'moltbot.json']
  const configs = await Promise.all(names.map((name) => readData(join(folder, name))))
  const data = configs.find((config) => config.isThere)?.data ?? {}
  const defaults = object(object(data['agents'])['defaults'])
  const named = typeof defaults['workspace'] === 'string' ? defaults['workspace'] : join(folder, 'workspace')
  const workspace = named.replace(/^~(?=\/|$)/, () => dirname(folder))
  const model = isJsonObject(defaults['model']) ? defaults['model']['primary'] : defaults['model']
  const [, provider = '', id = ''] = /^([^/]+)\/(.+)$/.exec(String(model ?? '')) ?? []
  const providers = Object.entries(object(object(data['models'])['providers']))
  return [
    ...configs.flatMap((config) => config.items),
    ...(await soulOf(join(workspace, 'SOUL.md'))),
    ...modelOf(provider, id === '' ? undefined : id),
    ...(await memoriesOf(workspace)),
    ...(await skillsIn(join(workspace, 'skills'))),
    ...(await skillsIn(join(folder, 'skills'))),
    ...serversOf(object(object(data['mcp'])['servers']), place),
    ...(await secretsOfEnv(join(folder, '.env'))),
    ...providers.flatMap(([name, value]) =>
      secret(`${name.toUpperCase().replace(/\W+/g, '_')}_API_KEY`, object(value)['apiKey']),
    ),
    ...leftInstructions(await textOf(join(workspace, 'AGENTS.md')), join(workspace, 'AGENTS.md')),
    ...(await leftFolders(folder, ['agents', 'credentials', 'cron'])),
    ...(data['channels'] === undefined ? [] : [left('channels', 'set chat platforms up with hermes gateway')]),
  ]
}

async function memoriesOf(workspace: string): Promise<Items> {
  const days = (await readdir(join(workspace, 'memory')).catch(() => [])).filter((name) => name.endsWith('.md'))
  const memory = await textOf(join(workspace, 'MEMORY.md'))
  const user = await textOf(join(workspace, 'USER.md'))
  return [
    ...entriesOf(user ?? '').map((entry) => ({ type: 'memory', target: 'user', entry }) as const),
    ...entriesOf(memory ?? '').map((entry) => ({ type: 'memory', target: 'memory', entry }) as const),
    ...(days.length === 0
      ? []
      : [left(`memory/ (${days.length} days)`, 'diaries are longer than what is remembered may be')]),
  ]
}

async function readHermes(folder: string): Promise<Items> {
  const config = await readData(join(folder, 'config.yaml'))
  const known = new Set([...Object.keys(defaultConfig()), 'mcp_servers'])
  const settings = Object.entries(config.data).flatMap(([key, value]): Items => {
    if (key === 'mcp_servers') return ownServersOf(object(value))
    if (!known.has(key)) return [left(`config.yaml: ${key}`, 'it has no meaning here')]
    return split([key], value, 'CONFIG')
  })
  const memories = await Promise.all(
    (['memory', 'user'] as const).map(async (target) => {
      const text = await textOf(join(folder, 'memories', `${target.toUpperCase()}.md`))
      const entries = (text ?? '').split(/^[ \t]*§[ \t]*$/m).map((entry) => entry.trim())
      return entries.filter(Boolean).map((entry) => ({ type: 'memory', target, entry }) as const)
    }),
  )
  return [
    ...config.items,
    ...(await soulOf(join(folder, 'SOUL.md'))),
    ...settings,
    ...memories.flat(),
    ...(await skillsIn(join(folder, 'skills'))),
    ...(await secretsOfEnv(join(folder, '.env'))),
    ...((await stat(join(folder, 'state.db')).catch(() => null))
      ? [left('state.db', `sessions come by themselves: hermes sessions import ${join(folder, 'state.db')}`)]
      : []),
    ...((await stat(join(folder, 'auth.json')).catch(() => null))
      ? [left('auth.json', 'logins belong to one program: hermes auth add')]
      : []),
    ...(await leftFolders(folder, ['cron', 'plugins'])),
  ]
}

function modelOf(provider: string, model: unknown): Items {
  if (typeof model !== 'string' || model === '') return []
  const id = findProvider(provider)?.id
  if (id === undefined) return [left(`model ${provider}/${model}`, 'the provider is not known here: hermes setup')]
  return [{ type: 'setting', path: ['model'], value: { provider: id, default: model } }]
}

/** Entries of the same form as ours. */
function ownServersOf(servers: JsonObject): Items {
  return Object.entries(servers).flatMap(([name, entry]) => split(['mcp_servers', name], entry, `MCP_${name}`))
}

function split(path: readonly string[], value: unknown, prefix: string): Items {
  const { value: safe, secrets } = withoutSecrets(value, path.length > 1 ? prefix : `${prefix}_${path[0]}`)
  return [
    { type: 'setting', path, value: safe },
    ...Object.entries(secrets).flatMap(([name, one]) => secret(name, one)),
  ]
}

async function soulOf(file: string): Promise<Items> {
  const text = await textOf(file)
  return text === null || text.trim() === '' ? [] : [{ type: 'soul', text }]
}

async function secretsOfEnv(file: string): Promise<Items> {
  return Object.entries(parseEnv((await textOf(file)) ?? '')).flatMap(([name, value]) => secret(name, value))
}

function secret(name: string, value: unknown): Items {
  return typeof value === 'string' && value !== '' && !value.startsWith('${') ? [{ type: 'secret', name, value }] : []
}

function leftInstructions(text: string | null, file: string): Items {
  return text === null
    ? []
    : [left(file, 'instructions for all projects: put what matters into AGENTS.md of a project, or into SOUL.md')]
}

async function leftFolders(folder: string, names: readonly string[]): Promise<Items> {
  const there = await Promise.all(names.map((name) => readdir(join(folder, name)).catch(() => [])))
  return names.flatMap((name, at) =>
    there[at]!.length === 0 ? [] : [left(`${name}/ (${there[at]!.length})`, 'there is no place for it here')],
  )
}
