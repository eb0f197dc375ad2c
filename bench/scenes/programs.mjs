// Who is looked at: how each is started in a home of its own, and how it reads what the model does.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { importSource } from '../../scripts/import-source.mjs'
import { answerCodex, codexConfig } from '../codex-wire.mjs'
import { BIN } from '../measure.mjs'
import { peerFolder } from '../peers.mjs'

const PI = '@mariozechner/pi-coding-agent'
const CODEX = '@openai/codex'
const root = join(import.meta.dirname, '../..')
const MODELS = ['large', 'small', 'thinker']
const path = `${dirname(process.execPath)}:${process.env.PATH}`

/**
 * Those that are installed. `open` prepares a home for one scene: `{ command, env, close, hasHeard }`, the last of which says whether a message has
 * come through; `ready` is on the screen once a line can be typed.
 * `opens` are lines, one after the other, that a scene asks for by name; `hasNo` are scenes that it has nothing for.
 */
export function programs() {
  const [pi, codex] = [peerFolder(PI), peerFolder(CODEX)]
  return [HERMES, ...(pi ? [piProgram(pi)] : []), ...(codex ? [codexProgram(codex)] : [])]
}

const HERMES = {
  name: 'hermes',
  ready: /^╰/m,
  opens: { picker: ['/model'], status: ['/status', '/usage'] },
  hasNo: [],
  open: async ({ folder, cwd, answers }) => {
    const home = join(folder, '.hermes')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const model = await chatServer(answers.map((answer) => chatStep(answer, hermesCall)))
    const quiet = { title_generation: { enabled: false }, session_summary: { enabled: false } }
    const models = Object.fromEntries(MODELS.map((id) => [id, {}]))
    const config = {
      model: { provider: 'shop', default: 'large' },
      providers: { shop: { base_url: model.baseUrl, api_key: 'none', models } },
      auxiliary: quiet,
    }
    writeFileSync(join(home, 'config.yaml'), JSON.stringify(config), { mode: 0o600 })
    const env = { PATH: path, HOME: folder, HERMES_HOME: home }
    execFileSync(process.execPath, [BIN, 'trust', 'add'], { cwd, env })
    return {
      command: [process.execPath, BIN],
      env,
      close: () => model.close(),
    }
  },
}

const hermesCall = ({ run, read, edit, from, to }) => {
  if (run) return { name: 'terminal', args: { command: run } }
  if (read) return { name: 'read_file', args: { path: read } }
  return { name: 'patch', args: { path: edit, old_string: from, new_string: to } }
}

const piProgram = (installed) => ({
  name: 'pi',
  ready: /large/,
  opens: { picker: ['/model'], status: ['/session'] },
  hasNo: ['approval'],
  open: async ({ folder, answers }) => {
    const settings = join(folder, '.pi', 'agent')
    mkdirSync(settings, { recursive: true })
    const model = await chatServer(answers.map((answer) => chatStep(answer, piCall)))
    const models = MODELS.map((id) => ({ id, contextWindow: 200_000 }))
    const provider = { baseUrl: model.baseUrl, api: 'openai-completions', apiKey: 'none', models }
    writeFileSync(join(settings, 'models.json'), JSON.stringify({ providers: { bench: provider } }))
    return {
      command: [
        process.execPath,
        join(installed, 'dist/cli.js'),
        '--provider',
        'bench',
        '--model',
        'large',
        '--offline',
      ],
      env: { PATH: path, HOME: folder },
      close: () => model.close(),
    }
  },
})

const piCall = ({ run, read, edit, from, to }) => {
  if (run) return { name: 'bash', args: { command: run } }
  if (read) return { name: 'read', args: { path: read } }
  return { name: 'edit', args: { path: edit, edits: [{ oldText: from, newText: to }] } }
}

const codexProgram = (installed) => ({
  name: 'codex',
  // Before that it takes no Enter.
  ready: /for shortcuts/,
  opens: { picker: ['/model'], status: ['/status'] },
  hasNo: [],
  open: async ({ folder, cwd, answers }) => {
    let count = 0
    const server = createServer(async (request, response) => {
      const body = await readText(request)
      if (!request.url.endsWith('/responses')) return response.writeHead(404).end()
      // It asks for a name of the conversation besides, so that answers cannot be counted by requests.
      const results = JSON.parse(body).input.filter(({ type }) => type === 'custom_tool_call_output')
      const answer = answers[results.length] ?? { text: 'That is all.' }
      answerCodex(response, ++count, { ...answer, ...(answer.calls && { program: codexCalls(answer.calls) }) })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const home = join(folder, '.codex')
    mkdirSync(home, { recursive: true })
    const trusted = `[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`
    // What needs no question is not to fail where its isolation cannot be had.
    const asks = answers.some(({ calls = [] }) => calls.some(({ leaves }) => leaves))
    const sandbox = asks ? '' : 'sandbox_mode = "danger-full-access"\n'
    writeFileSync(join(home, 'config.toml'), `${sandbox}${codexConfig(server.address().port)}${trusted}`)
    return {
      command: [process.execPath, join(installed, 'bin/codex.js')],
      hasHeard: () => count > 0,
      env: { PATH: path, HOME: folder, CODEX_HOME: home },
      close: () => {
        endProgramsOf(`CODEX_HOME=${home}`)
        server.closeAllConnections()
        server.close()
      },
    }
  },
})

/** Ends what has this variable: a server that a program left behind for its next start. Where processes cannot be looked at, nothing. */
function endProgramsOf(variable) {
  if (!existsSync('/proc/self/environ')) return
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended meanwhile, or belongs to somebody else.
    }
  }
}

/** A program that calls them side by side. */
function codexCalls(calls) {
  const each = calls.map(({ run, read, edit, from, to, leaves }) => {
    if (edit) {
      const lines = (text, sign) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => `${sign}${line}\n`)
      const patch = [
        '*** Begin Patch\n',
        `*** Update File: ${edit}\n`,
        '@@\n',
        ...lines(from, '-'),
        ...lines(to, '+'),
        '*** End Patch\n',
      ]
      return `tools.apply_patch(${JSON.stringify(patch.join(''))})`
    }
    // Its system isolates commands; one that is to leave that has to say so, and is asked about.
    const beyond = leaves && { sandbox_permissions: 'require_escalated', justification: leaves }
    return `tools.exec_command(${JSON.stringify({ cmd: run ?? `cat ${read}`, ...beyond })})`
  })
  return `for (const done of await Promise.all([${each.join(', ')}])) text(done.output ?? done)`
}

function chatStep({ text, calls, stalls }, toCall) {
  return {
    ...(text !== undefined && { text }),
    ...(calls && { toolCalls: calls.map(toCall) }),
    ...(stalls && { fault: 'stall', afterChunks: 5 }),
  }
}

async function chatServer(steps) {
  const { startModelServer } = await importSource(join(root, 'packages/testkit/src/model-server/model-server.ts'))
  const server = await startModelServer(steps)
  // Hermes has what was changed and not checked looked at once more.
  server.setHandler(() => ({ text: steps.at(-1)?.text ?? '' }))
  return server
}
