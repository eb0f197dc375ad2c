// The same jobs as Codex does them: a scripted model behind the Responses API, and its own program asking it. What it has a tool of its own for
// (handing on, remembering) is left out on both sides; all else is commands, one for each call.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

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
    answer(response, bodies.length, job)
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

/** Its settings: the model it takes by itself, at another address. */
const configOf = (port) => `model_provider = "bench"
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
`

async function run(folder, prompt, { home, cwd, port }) {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'config.toml'), configOf(port))
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

function answer(response, count, { calls, text: words }) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const call = calls[count - 1]
  const id = `response_${count}`
  send('response.created', { response: { id } })
  send('response.output_item.done', {
    item: call
      ? {
          type: 'custom_tool_call',
          id: `item_${count}`,
          call_id: `call_${count}`,
          namespace: 'functions',
          name: 'exec',
          input: `const done = await tools.exec_command(${JSON.stringify({ cmd: commandOf(call) })})\ntext(done.output)`,
        }
      : {
          type: 'message',
          id: `item_${count}`,
          role: 'assistant',
          content: [{ type: 'output_text', text: words }],
        },
  })
  const usage = { input_tokens: 1000, output_tokens: 10, total_tokens: 1010 }
  send('response.completed', {
    response: { id, usage: { ...usage, input_tokens_details: null, output_tokens_details: null } },
  })
  response.end()
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
