// Browsers of other agents, each as its own guide has a model use it.
import { execFile } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DONE, doTask } from './shop.mjs'

const run = promisify(execFile)
/** For one call, in ms: a peer that hangs ends the scenario with its own name. */
const timeout = 60_000
const found = (text, role, name) =>
  new RegExp(`${role} "${name}"(?: \\[(?!ref=)[^\\]]*\\])* \\[(?:level=\\d+, )?ref=(\\w+)\\]`).exec(text)?.[1]

/**
 * agent-browser: a program for each call, which speaks to one that stays.
 * @param {{ folder: string, program: string, cwd: string }} options
 */
export function agentBrowser({ folder, program, cwd }) {
  const bin = join(folder, 'bin', `agent-browser-${platform()}-${arch()}`)
  // Its scripts, which would do that, are not run where it is installed.
  chmodSync(bin, 0o755)
  const env = { ...process.env, AGENT_BROWSER_EXECUTABLE_PATH: program, AGENT_BROWSER_ARGS: '--no-sandbox' }
  const session = `bench-${process.pid}`
  const call = async (...args) => {
    const { stdout } = await run(bin, [...args, '--session', session], { env, cwd, timeout, maxBuffer: 2 ** 26 })
    return { sent: args.join(' '), text: stdout }
  }
  const both = async (first, second) => {
    const [one, two] = [await first, await second()]
    return { sent: `${one.sent} && ${two.sent}`, text: `${one.text}${two.text}` }
  }
  // As its guide has it; text that nothing can be done with is not in that.
  const look = (name) => (name === DONE ? call('get', 'text', 'body') : call('snapshot', '-i'))
  return {
    call,
    look,
    shop: (url) =>
      doTask({
        open: () => both(call('open', url), look),
        find: (text, role, name) => strip(found(text, role, name)),
        act: ({ type, ref, text }) => (type === 'click' ? both(call('click', ref), look) : call('fill', ref, text)),
        look,
      }),
    close: () => call('close').then(() => undefined),
  }
}

const strip = (ref) => (ref === undefined ? undefined : `@${ref}`)

/**
 * The MCP server of playwright.
 * @param {{ folder: string, program: string, cwd: string }} options
 */
export async function playwrightMcp({ folder, program, cwd }) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const args = [join(folder, 'cli.js'), '--headless', '--isolated', '--no-sandbox', '--executable-path', program]
  const client = new Client({ name: 'bench', version: '1' })
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd, stderr: 'ignore' })
  await client.connect(transport, { timeout })
  const call = async (name, input) => {
    const { content } = await client.callTool({ name, arguments: input }, undefined, { timeout })
    return { sent: { name, input }, text: content.map(({ text = '' }) => text).join('') }
  }
  const look = () => call('browser_snapshot', {})
  return {
    call,
    shop: (url) =>
      doTask({
        open: () => call('browser_navigate', { url }),
        find: found,
        act: ({ type, ref, text }) =>
          type === 'click' ? call('browser_click', { target: ref }) : call('browser_type', { target: ref, text }),
        look,
      }),
    close: () => client.close(),
  }
}
