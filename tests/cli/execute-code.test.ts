// Programs that the model writes call its tools through the built CLI.
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, vi } from 'vitest'
import { parseEvents, runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const chatArgs = (...args: string[]) => ['chat', '--base-url', scene.server.baseUrl, '-m', 'm', ...args]
const chat = (...args: string[]) => runCli(chatArgs(...args), scene)
const answerOf = (request: number) => JSON.stringify(scene.server.requests[request]!.body.messages.at(-1))

const program = (code: string, more: object = {}) => ({
  toolCalls: [{ name: 'execute_code', args: { code, ...more } }],
})

const COUNTING = [
  [
    'python',
    'python3',
    'from hermes_tools import search_files, read_file\nfound = search_files("needle", output_mode="files_only", limit=100)\nnames = sorted(found["files"])\nprint(len(names), read_file(names[-1])["content"])',
  ],
  [
    'javascript',
    'node',
    'import { search_files, read_file } from "hermes_tools"\nconst { files } = await search_files({ pattern: "needle", output_mode: "files_only", limit: 100 })\nconst last = files.sort().at(-1)\nconsole.log(files.length, (await read_file(last)).content)',
  ],
] as const
for (const [language, interpreter, code] of COUNTING)
  needs(missingPrograms(interpreter))(`a program of ${language}`, () => {
    it('brings back what it prints, and shows its progress', async () => {
      const { server, cwd } = scene
      await mkdir(join(cwd, 'data'))
      for (let at = 10; at < 40; at++)
        await writeFile(join(cwd, 'data', `${at}.txt`), at % 3 === 0 ? `needle of ${at}` : 'hay')
      server.enqueue(program(code, { language }), { text: 'Ten.' })
      const { exitCode, stdout, stderr } = await chat('--json', '-q', 'Count the needles.')
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expect(answerOf(1)).toMatch(/10 needle of 39\\n\[success · 2 tool calls · /)
      expect(checkPrefix(server.requests[0]!, server.requests[1]!)).toBeNull()
      const events = parseEvents(stdout)
      const progress = events.flatMap((event) => (event.type === 'tool-progress' ? [event.text] : []))
      expect(progress).toEqual(['1/1 calls', '2/2 calls'])
      expect(events.find((event) => event.type === 'tool-end')).toMatchObject({
        isError: false,
        data: { status: 'success', tool_calls_made: 2, errors: '' },
      })
      const transcript = (await runCli(['sessions', 'export', '--all'], scene)).stdout
      expect(transcript).toMatch(/"sandbox\.tool_call","data":\{"call":"call_1_0","tool":"read_file"/)
    })
  })

needs(missingPrograms('python3'))('a program', () => {
  it('is refused what is refused outside, and goes on', async () => {
    const { server } = scene
    const code =
      'from hermes_tools import terminal\nprint(terminal("r" + "m -rf ../work")["error"])\nprint(terminal("cd /tmp && pwd")["output"], terminal("pwd")["output"])'
    server.enqueue(program(code), program('import shutil\nshutil.rmtree("../work")'), { text: 'Done.' })
    expect((await chat('-q', 'Clean up.')).exitCode).toBe(0)
    expect(answerOf(1)).toMatch(/Not permitted \(recursive-delete\)/)
    expect(answerOf(1)).toMatch(/\/tmp \/tmp\\n\[success · 3 tool calls/)
    expect(answerOf(2)).toMatch(/Not permitted \(inline-code\)/)
  })

  it('keeps to the limits of config.yaml, of which the model is told', async () => {
    const { server, home } = scene
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'config.yaml'), 'code_execution:\n  timeout: 2\n  max_tool_calls: 1\n')
    const code = 'from hermes_tools import read_file\nfor n in "ab": print(read_file(n)["error"])\nwhile True: pass'
    server.enqueue(program(code), { text: 'Done.' })
    await chat('-q', 'Read.')
    expect(answerOf(1)).toMatch(/The limit of 1 tool calls is reached.*Stopped after 2 s.*\[timeout · 1 tool call ·/)
    expect(JSON.stringify(server.requests[0]!.body)).toContain('2 s, 1 calls, 50 KB output')
  })

  it('ends with what it started when the user interrupts, and the conversation goes on', async () => {
    const { server, cwd } = scene
    const code =
      'import os, time\nfrom hermes_tools import write_file\nwrite_file("pid", str(os.getpid()))\nwhile True: time.sleep(1)'
    server.enqueue(program(code))
    const child = startCli(chatArgs('-q', 'Wait.'), scene)
    const pid = await vi.waitFor(async () => Number(await readFile(join(cwd, 'pid'), 'utf8')), { timeout: 20_000 })
    child.kill('SIGINT')
    await once(child, 'close')
    await expect(readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).resolves.toBe('')
    server.enqueue({ text: 'On we go.' })
    expect(await chat('-c', '-q', 'And?')).toMatchObject({ exitCode: 0, stdout: 'On we go.\n' })
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('interrupted')
  })

  it('knows no keys, and describes only the tools of the session', async () => {
    const { server } = scene
    server.enqueue(program('import os\nprint([n for n in os.environ if "KEY" in n])'), { text: 'None.' })
    const { exitCode } = await runCli(
      ['chat', '--base-url', server.baseUrl, '-m', 'm', '-t', 'code_execution,file', '-q', 'Which keys?'],
      { ...scene, env: { OPENAI_API_KEY: 'sk-test', MY_KEY: 'x' } },
    )
    expect(exitCode).toBe(0)
    expect(answerOf(1)).toMatch(/"\[\]\\n\[success · 0 tool calls/)
    const tools = JSON.stringify(scene.server.requests[0]!.body)
    expect(tools).toContain('There: patch, read_file, search, search_files, write_file.')
  })
})
