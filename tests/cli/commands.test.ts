// The commands beside chat, in a home that was never used and in one that was.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasChromium } from '../support/chromium.js'
import { runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const hermes = (args: readonly string[], env: Record<string, string> = {}) => runCli(args, { ...scene, env })
const fine = (stdout: string) => ({ exitCode: 0, stdout, stderr: '' })

/** Two sessions: one with a tool call, one short. */
async function useHome(): Promise<void> {
  scene.server.enqueue(
    { text: 'Looking.', toolCalls: [{ name: 'terminal', args: { command: 'echo hi' } }] },
    { text: 'It says hi.' },
    { text: 'Bye.' },
  )
  for (const query of ['Say hi.', 'Say bye.'])
    expect((await hermes(['chat', '-q', query, '--base-url', scene.server.baseUrl, '-m', 'm'])).exitCode).toBe(0)
}

describe('hermes sessions', () => {
  it('says in an empty home that there are none, and how to start', async () => {
    const empty = { exitCode: 0, stdout: '', stderr: 'No sessions yet. Start one with: hermes\n' }
    expect(await hermes(['sessions', 'list'])).toMatchObject(empty)
    expect(await hermes(['sessions'])).toMatchObject(empty)
    expect(await hermes(['sessions', 'list', '--json'])).toMatchObject(fine(''))
  })

  it('lists the newest first and shows one in full, for people and as JSON lines', async () => {
    await useHome()
    const list = await hermes(['sessions', 'list'])
    expect(list.stdout).toMatch(/^\S+ {2}\S+ \S+ +2 messages {2}Say bye\.\n\S+ {2}\S+ \S+ +4 messages {2}Say hi\.\n$/)
    const [newest, older] = (await hermes(['sessions', 'list', '--json'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; messageCount: number })
    expect([newest!.messageCount, older!.messageCount]).toEqual([2, 4])
    expect((await hermes(['sessions', 'list', '-n', '1'])).stdout.split('\n')).toHaveLength(2)
    const shown = (await hermes(['sessions', 'show', older!.id])).stdout
    expect(shown.replace(/ #\d+$/gm, '')).toBe(
      'user\nSay hi.\n\nassistant\nLooking.\n→ terminal {"command":"echo hi"}\n\ntool terminal\nhi\n\nassistant\nIt says hi.\n\n',
    )
    const entries = (await hermes(['sessions', 'show', older!.id, '--json'])).stdout.trim().split('\n')
    // A command that only looks leaves no `call-start`.
    expect(entries.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
      expect.arrayContaining(['model', 'prompt', 'message']),
    )
  })

  it('finds messages by their words, names the session and exits with 1 when there are none', async () => {
    await useHome()
    const found = await hermes(['sessions', 'search', 'bye', '-n', '5'])
    expect(found).toMatchObject({ exitCode: 0, stderr: '' })
    expect(found.stdout).toMatch(
      /^\S+ {2}\S+ \S+ {2}assistant #\d+\n {2}Bye\.\n\n\S+ {2}\S+ \S+ {2}user #\d+\n {2}Say bye\.\n/,
    )
    expect(await hermes(['sessions', 'search', 'giraffe'])).toMatchObject({
      ...{ exitCode: 1, stdout: '', stderr: 'Nothing was found for "giraffe".\n' },
    })
  })

  it('renames, tags, exports, clears and deletes a session', async () => {
    await useHome()
    const id = (await hermes(['sessions', 'list', '-n', '1'])).stdout.split(' ')[0]!
    expect(await hermes(['sessions', 'rename', id, 'My', 'farewell'])).toMatchObject(
      fine(`${id} is now called My farewell\n`),
    )
    expect(await hermes(['sessions', 'tag', id])).toMatchObject(fine(`${id} has no tags\n`))
    expect(await hermes(['sessions', 'tag', id, 'work', 'bye'])).toMatchObject(fine(`${id}  bye work\n`))
    expect((await hermes(['sessions', 'search', 'Say', '--tag', 'work'])).stdout).toContain(id)
    expect(await hermes(['sessions', 'tag', id, 'work', '--remove'])).toMatchObject(fine(`${id}  bye\n`))
    expect((await hermes(['sessions', 'search', 'Say', '--tag', 'work'])).exitCode).toBe(1)
    expect((await hermes(['sessions', 'pin', id])).stdout).toMatch(/is pinned/)
    expect((await hermes(['sessions', 'pinned'])).stdout).toMatch(/messages, pinned/)
    expect((await hermes(['sessions', 'archive', id])).stdout).toMatch(/is archived/)
    expect((await hermes(['sessions', 'list'])).stdout).not.toContain(id)
    expect((await hermes(['sessions', 'list', '--archived'])).stdout).toContain(id)
    expect((await hermes(['sessions', 'unarchive', id])).stdout).toMatch(/is in the lists/)
    const markdown = await hermes(['sessions', 'export', 'My farewell', '-f', 'md'])
    expect(markdown.stdout).toMatch(/^# My farewell\n(?:.|\n)*## User\n\nSay bye\.\n\n## Assistant\n\nBye\.\n$/u)
    expect((await hermes(['sessions', 'export', id, '-o', 'out.jsonl'])).exitCode).toBe(0)
    const [head, ...entries] = (await readFile(join(scene.cwd, 'out.jsonl'), 'utf8')).trim().split('\n')
    expect(JSON.parse(head!)).toMatchObject({ type: 'session', session: { id, title: 'My farewell' } })
    expect(entries.map((line) => (JSON.parse(line) as { type: string }).type)).toContain('prompt')
    expect((await hermes(['sessions', 'export', id, '-o', 'out.jsonl'])).stderr).toMatch(/is there already/)
    const unasked = await hermes(['sessions', 'delete', id])
    expect(unasked).toMatchObject({
      exitCode: 2,
      stderr: 'hermes: Nobody can be asked here. To go on without asking: --yes\n',
    })
    expect((await hermes(['sessions', 'list', '--source', 'cron'])).stderr).toBe('No sessions from cron.\n')
    expect(await hermes(['sessions', 'clear', id, '--yes'])).toMatchObject(fine(`Cleared ${id}\n`))
    expect(await hermes(['sessions', 'show', 'My farewell'])).toMatchObject(fine(''))
    expect(await hermes(['sessions', 'delete', id, '--yes'])).toMatchObject(fine(`Deleted ${id}\n`))
    expect((await hermes(['sessions', 'list'])).stdout).not.toContain(id)
  })

  it('ends quietly when its reader goes, as head does', async () => {
    await useHome()
    const child = startCli(['sessions', 'list'], scene)
    let stderr = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdout!.destroy()
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
    expect(stderr).toBe('')
  })
})

describe('hermes config', () => {
  it('reads defaults, writes values, checks them and says where the file is', async () => {
    const file = join(scene.home, 'config.yaml')
    expect(await hermes(['config', 'path'])).toMatchObject(fine(`${file}\n`))
    expect(await hermes(['config', 'get', 'agent.max_turns'])).toMatchObject(fine('90\n'))
    expect(await hermes(['config', 'set', 'agent.max_turns', '7'])).toMatchObject(fine('agent.max_turns = 7\n'))
    expect(await hermes(['config', 'get', 'agent.max_turns'])).toMatchObject(fine('7\n'))
    expect(await readFile(file, 'utf8')).toBe('agent:\n  max_turns: 7\n')
    expect(await hermes(['config', 'check'])).toMatchObject(fine(`${file} is fine.\n`))
    await writeFile(file, '# mine\nagent: {max_turns: many}\n')
    const check = await hermes(['config', 'check'])
    expect(check.exitCode).toBe(1)
    expect(check.stdout).toMatch(/config\.yaml:2:\d+: .*agent\.max_turns.*whole number/)
  })

  it('shows no key on the screen, neither when it is set nor among the others', async () => {
    const key = 'sk-secret-123456'
    expect((await hermes(['config', 'set', 'providers.work.api_key', key])).stdout).not.toContain(key)
    expect((await hermes(['config', 'get'])).stdout).not.toContain(key)
    expect((await hermes(['config', 'get', 'providers.work'])).stdout).not.toContain(key)
  })

  it.each([
    [['config'], /config needs one of: show, get, set/],
    [['config', 'set', 'agnet.max_turns', '5'], /no key "agnet\.max_turns"\. Did you mean agent\.max_turns\?/],
    [['config', 'get', 'model.default'], /no value for model\.default/],
    [['send', 'foo:1', 'hi'], /No gateway reaches foo\. Platforms: .*telegram/],
  ])('answers %j by one line', async (args, line) => {
    const result = await hermes(args)
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(/^hermes: [^\n]+\n$/)
    expect(result.stderr).toMatch(line)
  })
})

describe('hermes tools and completion', () => {
  it('lists what a session gets and what is switched off', async () => {
    await hermes(['config', 'set', 'agent.disabled_toolsets', 'terminal'])
    const { stdout, exitCode } = await hermes(['tools'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^read_file +file +on +Read/m)
    expect(stdout).toMatch(/^terminal +terminal +off +Run/m)
    expect(stdout).toMatch(/^coding +clarify, patch, /m)
    const json = JSON.parse((await hermes(['tools', '--json'])).stdout) as { tools: { name: string }[] }
    expect(json.tools.map(({ name }) => name)).toContain('patch')
  })

  it('switches toolsets on and off, everywhere or on one platform', async () => {
    const on = async (...args: string[]) => {
      const { tools } = JSON.parse((await hermes(['tools', 'list', '--json', ...args])).stdout) as {
        tools: { name: string; isEnabled: boolean }[]
      }
      return tools.filter(({ isEnabled }) => isEnabled).map(({ name }) => name)
    }
    expect(await hermes(['tools', 'disable', 'terminal', 'learning'])).toMatchObject({
      exitCode: 0,
      stdout: 'Off: terminal, learning.\n',
    })
    expect(await on()).not.toContain('learning')
    expect(await hermes(['tools', 'enable', 'learning', 'file'])).toMatchObject({
      exitCode: 0,
      stdout: 'On from the next session: learning, file.\n',
    })
    expect(await on()).toEqual(expect.arrayContaining(['read_file', 'learning']))
    expect(await on()).not.toContain('terminal')
    await hermes(['tools', 'disable', 'clarify', '--platform', 'telegram'])
    await hermes(['tools', 'enable', 'learning', '--platform', 'telegram'])
    const sets = [
      'file',
      'terminal',
      'todo',
      'memory',
      'delegation',
      'code_execution',
      'checkpoints',
      'moa',
      'vision',
      'web',
      'skills',
      'messaging',
      'browser',
      'learning',
    ]
    expect((await hermes(['config', 'get', 'platform_toolsets.telegram'])).stdout).toBe(
      JSON.stringify(sets, null, 2).concat('\n'),
    )
    expect((await hermes(['config', 'get', 'toolsets'])).stdout).toBe(
      JSON.stringify(['hermes-cli'], null, 2).concat('\n'),
    )
    await hermes(['tools', 'enable', 'terminal'])
    expect(await on()).toContain('terminal')
    expect(await hermes(['config', 'check'])).toMatchObject({ exitCode: 0 })
    expect((await hermes(['tools', 'disable', 'read_file'])).stderr).toBe(
      'hermes: read_file is not a toolset. It is a tool of the set file.\n',
    )
  })

  it('gives a session a toolset of ones own, and says what is wrong with one', async () => {
    await hermes(['config', 'set', 'custom_toolsets.look', '["read_file", "search_files"]'])
    await hermes(['config', 'set', 'toolsets', '["look", "clarify"]'])
    expect(await hermes(['config', 'check'])).toMatchObject({ exitCode: 0 })
    expect((await hermes(['tools'])).stdout).toMatch(/^look +read_file, search_files/m)
    scene.server.enqueue({ text: 'Here.' })
    await hermes(['chat', '-q', 'x', '--base-url', scene.server.baseUrl, '-m', 'm'])
    const tools = (scene.server.requests.at(-1)!.body.tools ?? []) as { function: { name: string } }[]
    expect(tools.map((tool) => tool.function.name)).toEqual(['clarify', 'read_file', 'search_files'])
    await hermes(['config', 'set', 'custom_toolsets.look', '["read_fiel"]'])
    const wrong = await hermes(['chat', '-q', 'x', '--base-url', scene.server.baseUrl, '-m', 'm'])
    expect(wrong).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^hermes: The toolset "look" names "read_fiel", which [^\n]+\n$/),
    })
  })

  it('prints a completion script that the shell accepts', async () => {
    const { stdout } = await hermes(['completion', 'bash'])
    const test = `COMP_WORDS=(hermes sessions s); COMP_CWORD=2; _hermes; echo \${COMPREPLY[*]}`
    expect(execFileSync('bash', ['-c', `${stdout}\n${test}`], { encoding: 'utf8' })).toBe('show search stats\n')
  })
})

describe('hermes doctor', () => {
  it('names in an empty home what is missing, and fails', async () => {
    const result = await hermes(['doctor', '--offline'])
    expect(result).toMatchObject({ exitCode: 1, stderr: '' })
    expect(result.stdout).toMatch(/^ok {4}Node 2/m)
    expect(result.stdout).toMatch(/^ok {4}Home \S+$/m)
    expect(result.stdout).toMatch(/^fail {2}No model is set up\. Set OPENAI_API_KEY/m)
  })

  it('does not take sessions that it cannot look at for none', async () => {
    await mkdir(scene.home, { recursive: true })
    await symlink('state.db', join(scene.home, 'state.db'))
    const { exitCode, stdout } = await hermes(['doctor', '--offline'])
    expect(exitCode).toBe(1)
    expect(stdout).not.toContain('No sessions yet')
    expect(stdout).toMatch(/^fail {2}Sessions: /m)
  })

  it('is content with a used home, and shows no key', async () => {
    await useHome()
    const key = 'sk-test-1234567890abcdef'
    const result = await hermes(['doctor', '--offline'], { OPENAI_API_KEY: key })
    expect(result).toMatchObject({ exitCode: 0, stderr: '' })
    expect(result.stdout).toMatch(/^ok {4}Session database is sound$/m)
    expect(result.stdout).toMatch(/^ok {4}Model \S+ at openai .*key found; not asked$/m)
    expect(result.stdout).not.toContain(key)
    expect(await readdir(scene.home)).toContain('state.db')
  })

  it('asks the server whether it is there, knows the model and takes the key', async () => {
    const reach = async (model: string, baseUrl = scene.server.baseUrl) => {
      await hermes([
        'config',
        'set',
        'model',
        JSON.stringify({ provider: 'custom', default: model, base_url: baseUrl }),
      ])
      const result = await hermes(['doctor'])
      return [result.exitCode, /^.*Model .*$/m.exec(result.stdout)?.[0]]
    }
    const [known] = ((await (await fetch(`${scene.server.baseUrl}/models`)).json()) as { data: { id: string }[] }).data
    expect(await reach(known!.id)).toEqual([0, expect.stringMatching(/^ok .*: the server answers$/)])
    expect(await reach('other')).toEqual([0, expect.stringMatching(/^warn .*other is not in its list/)])
    expect(await reach('m', 'http://127.0.0.1:9/v1')).toEqual([
      1,
      expect.stringMatching(/^fail .*not reachable.*Check/),
    ])
  })

  it('says which proxy counts, without its login, and what is none', async () => {
    await useHome()
    const proxied = async (env: Record<string, string>) => {
      const { stdout } = await hermes(['doctor', '--offline'], env)
      expect(stdout).not.toContain('secret')
      return stdout.split('\n').filter((line) => /^\w+ +(?:Proxy:|\w+_PROXY)/.test(line))
    }
    expect(await proxied({ ALL_PROXY: 'socks5h://me:secret@p.test:1080', NO_PROXY: 'a.test' })).toEqual([
      'ok    Proxy: all requests go through socks5h://p.test:1080, but straight to a.test',
    ])
    expect(await proxied({ https_proxy: 'p.test:3128' })).toEqual([
      'ok    Proxy: https goes through http://p.test:3128, http straight',
    ])
    expect(await proxied({ HTTPS_PROXY: 'quic://me:secret@p.test' })).toEqual([
      expect.stringMatching(
        /^fail {2}HTTPS_PROXY is "quic:\/\/p\.test", which is no address of an HTTP or SOCKS5 proxy/,
      ),
    ])
  })

  it('points at what is broken', async () => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(join(scene.home, 'config.yaml'), 'agent: [1, 2\n')
    await writeFile(join(scene.home, '.env'), 'OPENAI_API_KEY=sk-test-1234567890\n', { mode: 0o644 })
    const result = await hermes(['doctor'])
    expect(result.exitCode).toBe(1)
    expect(result.stdout).toMatch(/^fail {2}.*config\.yaml:\d+:\d+: /m)
    expect(result.stdout).toMatch(/^warn {2}Others can read .*\.env\. Run: chmod 600 /m)
  })

  it('says what every other command warns of, each once', async () => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(
      join(scene.home, 'config.yaml'),
      'extensions: [gone.mjs]\npeople: {a: {telegram: [1]}, b: {telegram: [1]}}\nagent: {max_turns: x}\n',
    )
    const warned = (await hermes(['tools', 'list'])).stderr.trim().split('\n')
    expect(warned).toHaveLength(3)
    const lines = (await hermes(['doctor', '--offline'])).stdout.split('\n').map((line) => line.slice(6))
    const times = (line: string) => lines.filter((text) => `hermes: ${text}` === line).length
    expect(warned.map((line) => [line, times(line)])).toEqual(warned.map((line) => [line, 1]))
  })
})

describe('hermes browser', () => {
  const configure = async (executable: string) => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(join(scene.home, 'config.yaml'), `browser: {executable: ${executable}}\n`)
  }

  it('says what there is, removes what a killed process left, and what it cannot do', async () => {
    await configure(process.execPath)
    const status = await hermes(['browser', 'status'])
    expect(status).toMatchObject({ exitCode: 0, stderr: 'No page is open here.\n' })
    expect(status.stdout).toMatch(/^Browser: \S+node\.$/m)
    expect(status.stdout).toContain('It starts with the first page.')
    const left = join(scene.home, 'cache', 'browser', 'run-4194303-1-abcd1234')
    await mkdir(left, { recursive: true })
    expect((await hermes(['browser', 'close'])).stdout).toBe(
      'No page was open here. Removed 1 folders that ended processes had left.\n',
    )
    expect(await readdir(join(left, '..'))).toEqual([])
    await configure('/no/such/browser')
    const doctor = await hermes(['browser', 'doctor'])
    expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail {2}.*\/no\/such\/browser/) })
    expect((await hermes(['browser', 'status'])).exitCode).toBe(1)
  })

  it.skipIf(!hasChromium)('tries the browser of the machine, and leaves nothing behind', async () => {
    const doctor = await hermes(['browser', 'doctor'])
    expect(doctor.stdout).toMatch(/^ok {4}It starts, and opens a page\.$/m)
    expect(doctor.exitCode).toBe(0)
    expect(await readdir(join(scene.home, 'cache', 'browser'))).toEqual([])
  })
})
