// The same jobs as Codex does them: a scripted model behind the Responses API, and its own program asking it. What it has a tool of its own for
// (handing on, remembering) is left out on both sides; all else is commands, one for each call.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { answerCodex, codexConfig, commandProgram } from '../codex-wire.mjs'

/**
 * What Codex sends for one job.
 * @param {{ prompts: readonly string[], calls: readonly { tool: string, args: Record<string, any> }[], proof: string, text: string }} job
 * @param {{ folder: string, directory: string, cwd: string }} place
 * @returns {Promise<{ requests: number, characters: number }>}
 * @throws when the job was not done
 */
export async function codexCosts(job, { folder, directory, cwd }) {
  const bodies = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (!request.url.endsWith('/responses')) return response.writeHead(404).end()
    bodies.push(JSON.parse(body))
    const call = job.calls[bodies.length - 1]
    answerCodex(response, bodies.length, call ? { program: commandProgram(commandOf(call)) } : { text: job.text })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await run(folder, job.prompts[0], { home: join(directory, 'codex'), cwd, port: server.address().port })
  } finally {
    server.close()
  }
  if (!JSON.stringify(bodies.at(-1).input).includes(job.proof.replaceAll('"', '\\"')))
    throw new Error(`Codex did not do the job "${job.prompts[0]}": nothing says "${job.proof}"`)
  const characters = bodies.reduce((sum, { input, instructions = '', tools = [] }) => {
    return sum + JSON.stringify(input).length + instructions.length + JSON.stringify(tools).length
  }, 0)
  return { requests: bodies.length, characters }
}

async function run(folder, prompt, { home, cwd, port }) {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'config.toml'), codexConfig(port))
  const child = spawn(
    process.execPath,
    [join(folder, 'bin/codex.js'), 'exec', '--dangerously-bypass-approvals-and-sandbox', prompt],
    {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`codex exec ended with ${code}: ${stderr.slice(-500)}`)
}

const TOOLS = new Set(['read_file', 'search_files', 'patch', 'write_file', 'terminal'])

/** Whether a command that ends stands for it. */
export const isCommand = ({ tool, args }) => TOOLS.has(tool) && !args.background

const quoted = (value) => `'${value.replaceAll("'", `'\\''`)}'`

/** What a person would type for a call of ours. */
function commandOf({ tool, args }) {
  switch (tool) {
    case 'read_file':
      return args.offset
        ? `sed -n '${args.offset},${args.offset + args.limit - 1}p' ${args.path}`
        : `sed -n '1,400p' ${args.path}`
    case 'search_files':
      if (args.target === 'files') return `find . -name ${quoted(args.pattern)} -not -path './.git/*'`
      if (args.output_mode === 'files_only') return `grep -rl ${args.pattern} --exclude-dir=.git .`
      return `grep -rn ${args.context ? `-C ${args.context} ` : ''}${args.pattern} --exclude-dir=.git ${args.path ?? '.'} || echo No matches for ${args.pattern}`
    case 'patch':
      return `sed -i ${quoted(`s/${args.old_string}/${args.new_string}/g`)} ${args.path}`
    case 'write_file':
      return `cat > ${args.path} <<'END'\n${args.content}END\necho Created ${args.path}`
    case 'terminal':
      return args.command
    default:
      throw new Error(`No command stands for ${tool}.`)
  }
}
