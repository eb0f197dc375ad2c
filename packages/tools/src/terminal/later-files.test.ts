// Programs that write what runs or instructs later: nobody sees it in the words of the command.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HermesError, type JsonObject, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Action } from '@hermes/contracts/policy'
import type { Tool } from '@hermes/contracts/tool'
import { beforeEach, describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createProcessTool, createTerminalTool, createWriteFileTool } from '../index.js'

let cwd: string
let exec: Environment['exec']
let requested: string[]
let run: (command: string, workdir?: string) => Promise<string>
let use: (tool: Tool, args: JsonObject) => Promise<string>
let answer: 'yes' | 'no' | 'parked'
let meanwhile: () => void

const put = (path: string, text: string) => {
  mkdirSync(join(cwd, path, '..'), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const textOf = (path: string) => readFileSync(join(cwd, path), 'utf8')

beforeEach(async () => {
  const { environment } = await temporaryEnvironment({ env: { PATH: process.env['PATH'] ?? '' } })
  cwd = environment.root!
  requested = []
  answer = 'no'
  meanwhile = () => undefined
  exec = environment.exec.bind(environment)
  const own = (name: string | symbol) => Reflect.get(environment, name, environment)
  const bound = (value: unknown) => (typeof value === 'function' ? value.bind(environment) : value)
  const other = new Proxy(environment, { get: (_, name) => (name === 'exec' ? exec : bound(own(name))) })
  const context = createToolContext({ environment: other })
  const permit = async (action: Action) => {
    if (action.type === 'write' && action.runsLater) {
      requested.push(action.path.slice(cwd.length + 1))
      meanwhile()
      if (answer === 'parked') throw new Error('Nobody answered in time.')
      if (answer === 'no') throw new HermesError('Not permitted (runs-later): no', { code: 'policy.denied' })
    }
    return context.permit(action)
  }
  use = async (tool, args) => (await call(tool, args, { ...context, permit })).text
  const tool = createTerminalTool()
  run = (command, workdir) => use(tool, { command, ...(workdir ? { workdir } : {}) })
})

/** A program whose name says nothing of what it writes. */
const write = (files: Readonly<Record<string, string>>) => {
  const lines = Object.entries(files).map(
    ([path, text]) => `mkdir -p "$(dirname ${path})"; printf '%b' ${JSON.stringify(text)} > ${path}`,
  )
  put('gen.sh', lines.join('\n'))
  return 'bash gen.sh'
}

describe('what a program changes of what runs later', () => {
  it('asks once for each file, and is put back when that is not permitted', async () => {
    put('AGENTS.md', 'old\n')
    const text = await run(`${write({ 'AGENTS.md': 'EVIL', '.husky/pre-commit': 'EVIL', 'src/a.ts': 'x' })}; echo done`)
    expect(requested.toSorted()).toEqual(['.husky/pre-commit', 'AGENTS.md'])
    expect([textOf('AGENTS.md'), existsSync(join(cwd, '.husky/pre-commit')), textOf('src/a.ts')]).toEqual([
      'old\n',
      false,
      'x',
    ])
    expect(text).toMatch(
      /^done\n(?:\[A program changed \S+, which runs or instructs later\. That is not permitted: it is as it was before; what was there is in \S+\.\]\s*){2}$/,
    )
  })

  it.each([
    ['by a program', () => write({ 'build/common.mk': 'all:\\n\\tevil\\n' })],
    ['by a program, deeper', () => write({ 'build/rules/x.mk': 'all:\\n\\tevil\\n' })],
    ['by a redirect', () => "printf 'all:\\n\\tevil\\n' > build/common.mk"],
    ['by a copy', () => 'cp evil.txt build/common.mk'],
    ['in place', () => 'printf evil | dd of=build/common.mk bs=1 conv=notrunc status=none'],
    ['that was not there', () => write({ 'local.mk': 'X = $(shell evil)' })],
  ])('counts a file that a Makefile includes from elsewhere, changed %s', async (_, by) => {
    put('packages/a/Makefile', 'TOP := ../..\ninclude $(TOP)/build/common.mk\n-include ../../local.mk\n')
    put('build/common.mk', 'include ../../build/rules/*.mk\nall:\n\tok\n')
    put('build/rules/x.mk', 'y:\n\tok\n')
    put('evil.txt', 'all:\n\tevil\n')
    await run(by())
    expect(requested).toHaveLength(1)
    expect(textOf('build/common.mk') + textOf('build/rules/x.mk')).not.toContain('evil')
    expect(existsSync(join(cwd, 'local.mk'))).toBe(false)
  })

  it('leaves Makefiles, dependencies that compilers write and files named only now alone', async () => {
    put('Makefile', '-include out/a.d\nall:\n\tok\n')
    put('mine.mk', 'b:\n\tok\n')
    await run(write({ Makefile: 'include mine.mk\\n', 'out/a.d': 'a.o: a.c a.h\\n' }))
    expect([requested, textOf('Makefile'), textOf('mine.mk'), textOf('out/a.d')]).toEqual([
      [],
      'include mine.mk\n',
      'b:\n\tok\n',
      'a.o: a.c a.h\n',
    ])
    // From now on it is one.
    await run(write({ 'mine.mk': 'b:\\n\\tevil\\n' }))
    expect([requested, textOf('mine.mk')]).toEqual([['mine.mk'], 'b:\n\tok\n'])
  })

  it('goes back without a question after ten and a no, however many more there are', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `.claude/commands/${at}.md`)
    const text = await run(write(Object.fromEntries(names.map((name) => [name, 'EVIL']))))
    expect(requested).toHaveLength(10)
    expect(names.filter((name) => existsSync(join(cwd, name)))).toEqual([])
    expect(text).toContain('[The same with 5 more such files.]')
  })

  it('leaves what was there before where there are more files than are remembered', async () => {
    for (let at = 0; at < 600; at++) put(`.claude/skills/${at}.md`, 'old')
    await run(`echo gen; rm -f .claude/skills/1?.md .claude/skills/2*.md; ${write({ 'x.txt': 'x' })}`)
    expect(requested).toEqual([])
    expect([textOf('.claude/skills/599.md'), textOf('.claude/skills/0.md')]).toEqual(['old', 'old'])
  })

  it('keeps aside what stood there, for the person may have saved it meanwhile', async () => {
    put('AGENTS.md', 'old\n')
    const text = await run(write({ 'AGENTS.md': 'an hour of work' }))
    expect(textOf('AGENTS.md')).toBe('old\n')
    const [, aside = ''] = /what was there is in (\S+)\.\]/.exec(text) ?? []
    expect(readFileSync(aside, 'utf8')).toBe('an hour of work')
    expect(statSync(aside).mode & 0o077).toBe(0)
  })

  it('keeps what the command printed where nobody answered', async () => {
    answer = 'parked'
    expect(await run(`${write({ 'AGENTS.md': 'EVIL' })}; echo deployed`)).toMatch(/^deployed\n\[A program changed/)
    expect(existsSync(join(cwd, 'AGENTS.md'))).toBe(false)
  })

  it('goes back where the command broke off', async () => {
    exec = async () => {
      put('AGENTS.md', 'EVIL')
      throw new Error('The machine is gone.')
    }
    expect(await run('make')).toContain('The machine is gone.')
    expect([requested, existsSync(join(cwd, 'AGENTS.md'))]).toEqual([['AGENTS.md'], false])
  })

  it('goes back in sub-folders too, in those that came meanwhile and behind links as well', async () => {
    put('packages/x/AGENTS.md', 'old')
    put('packages/y/package.json', '{"scripts":{"test":"true"}}')
    mkdirSync(join(cwd, 'packages/z'))
    put('link.sh', 'ln -s x packages/plain; ln -s evil packages/z/.claude')
    await run(
      `bash link.sh; ${write({
        'packages/x/AGENTS.md': 'EVIL',
        'packages/x/sub/deep/CLAUDE.md': 'EVIL',
        'packages/y/package.json': '{"scripts":{"test":"true","postinstall":"node e.js"}}',
        'packages/z/.git/hooks/pre-commit': 'EVIL',
        'packages/z/.cache/AGENTS.md': 'x',
        'node_modules/m/AGENTS.md': 'x',
        'packages/z/notes.md': 'x',
      })}`,
    )
    expect(requested.toSorted()).toEqual([
      'packages/x/AGENTS.md',
      'packages/x/sub/deep/CLAUDE.md',
      'packages/y/package.json',
      'packages/z/.claude',
      'packages/z/.git/hooks/pre-commit',
    ])
    expect(textOf('packages/x/AGENTS.md')).toBe('old')
    expect(existsSync(join(cwd, 'packages/x/sub/deep/CLAUDE.md'))).toBe(false)
  })

  it('is found in what an earlier command left, and not blamed on what was out of sight before', async () => {
    for (let at = 0; at < 1_100; at++) mkdirSync(join(cwd, `many/${String(at).padStart(4, '0')}`), { recursive: true })
    put('many/1099/AGENTS.md', "the person's own")
    put('many/0001/AGENTS.md', 'old')
    await run(`${write({ 'new/AGENTS.md': 'EVIL' })}; rm -r many/00[1-9]?`)
    expect(requested).toEqual(['new/AGENTS.md'])
    expect(textOf('many/1099/AGENTS.md')).toBe("the person's own")
    requested = []
    await run(write({ 'many/0001/AGENTS.md': 'EVIL' }))
    expect([requested, textOf('many/0001/AGENTS.md')]).toEqual([['many/0001/AGENTS.md'], 'old'])
  })

  it('is seen behind however many new folders, and it is told where not all could be compared', async () => {
    put('packages/x/AGENTS.md', 'old')
    const evil = {
      '.git/hooks/post-checkout': 'EVIL',
      '.github/workflows/x.yml': 'EVIL',
      'packages/x/AGENTS.md': 'EVIL',
    }
    put('fill.sh', 'mkdir $(for at in $(seq 1100); do echo 0$at; done)')
    const result = await run(`sh fill.sh; ${write(evil)}`)
    expect(requested.toSorted()).toEqual(Object.keys(evil))
    expect(result).toMatch(/not permitted[\s\S]*\[There are more folders or files than are compared/)
    expect(await run('sh fill.sh')).not.toContain('than are compared')
  })

  it('goes back with the next call where a program in the background wrote it', async () => {
    put('AGENTS.md', 'old')
    const [terminal, process] = [createTerminalTool(), createProcessTool()]
    const command = `read line; ${write({ 'AGENTS.md': 'EVIL', 'packages/x/CLAUDE.md': 'EVIL' })}; echo x > GEMINI.md; echo written; read more`
    const id = /session_id (\S+),/.exec(await use(terminal, { command, background: true }))?.[1] ?? ''
    // What is written with leave meanwhile is nobody's doing.
    await use(createWriteFileTool(), { path: 'QWEN.md', content: 'with leave' })
    expect(requested).toEqual([])
    await use(process, { action: 'submit', session_id: id, data: 'go' })
    while (!(await use(process, { action: 'poll', session_id: id })).includes('written')) await systemClock.sleep(5)
    await run('git status')
    expect(requested.toSorted()).toEqual(['AGENTS.md', 'packages/x/CLAUDE.md'])
    expect([textOf('AGENTS.md'), textOf('QWEN.md'), textOf('GEMINI.md')]).toEqual(['old', 'with leave', 'x\n'])
    await use(process, { action: 'kill', session_id: id })
    requested = []
    await run('echo; true')
    expect(requested).toEqual([])
  })

  it('is asked about with the next call where it came while another question was open, again where it comes again', async () => {
    const process = createProcessTool()
    await use(createTerminalTool(), { command: 'read line', background: true })
    put('CLAUDE.md', 'EVIL')
    meanwhile = () => put('GEMINI.md', 'EVIL')
    await use(process, { action: 'list' })
    meanwhile = () => undefined
    put('CLAUDE.md', 'EVIL')
    await use(process, { action: 'list' })
    await use(process, { action: 'list' })
    expect(requested).toEqual(['CLAUDE.md', 'CLAUDE.md', 'GEMINI.md'])
    expect(['CLAUDE.md', 'GEMINI.md'].filter((name) => existsSync(join(cwd, name)))).toEqual([])
  })

  it('counts the folder that the command is run in for what its words name', async () => {
    put('sub/gen.sh', 'echo EVIL > ../AGENTS.md')
    await run('echo x > AGENTS.md; bash gen.sh', 'sub')
    expect(requested).toEqual(['AGENTS.md'])
  })

  it('asks nothing for what editors of JetBrains note of the person, and for programs they run', async () => {
    const page = (...components: string[]) => `<project>\n${components.join('\n')}\n</project>`
    const seen = (text: string) => `<component name="PropertiesComponent">${text}</component>`
    put('.idea/workspace.xml', page(seen('one'), '<component name="RunManager"></component>'))
    await run(write({ '.idea/workspace.xml': page(seen('two'), '<component name="RunManager"></component>') }))
    expect(requested).toEqual([])
    await run(write({ '.idea/workspace.xml': page(seen('two'), '<component name="RunManager">evil</component>') }))
    expect(requested).toEqual(['.idea/workspace.xml'])
  })

  it('stays when it is permitted', async () => {
    answer = 'yes'
    expect(await run(`${write({ 'CLAUDE.md': 'new' })}; echo done`)).toBe('done')
    expect([requested, textOf('CLAUDE.md')]).toEqual([['CLAUDE.md'], 'new'])
  })

  it('asks for links that lead there, and puts them back as links', async () => {
    put('notes.md', 'x')
    symlinkSync('notes.md', join(cwd, 'CLAUDE.md'))
    put('gen.sh', 'ln -sf evil.md CLAUDE.md; ln -s evil .vscode')
    await run('bash gen.sh')
    expect(requested.toSorted()).toEqual(['.vscode', 'CLAUDE.md'])
    expect([readlinkSync(join(cwd, 'CLAUDE.md')), existsSync(join(cwd, '.vscode'))]).toEqual(['notes.md', false])
  })

  it('asks nothing for what the words of the command say: the policy has asked for that', async () => {
    await run('echo x > CLAUDE.md')
    expect([requested, textOf('CLAUDE.md')]).toEqual([[], 'x\n'])
  })

  it('asks nothing for everyday work', async () => {
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd })
    put('AGENTS.md', 'one\n')
    put('package.json', '{"name":"x","scripts":{"test":"true"}}')
    const git = 'git -c user.name=a -c user.email=a@b'
    await run(`git add -A && ${git} commit -qm one && git checkout -qb other && git config user.name ada`)
    put('AGENTS.md', 'two\n')
    await run(`${git} commit -qam two && git checkout -q main`)
    expect(textOf('AGENTS.md')).toBe('one\n')
    await run(write({ 'package.json': '{"name":"x","version":"2","scripts":{"test":"true","build":"tsc"}}' }))
    await run('git remote add origin https://example.com/x.git; git config core.hooksPath .husky/_; bash gen.sh')
    await run(write({ '.husky/_/pre-commit': 'x', '.gitignore': 'x', 'docs/README.md': 'x', '.vscode/.keep': 'x' }))
    expect(requested).toEqual([])
  })

  it.each([
    ['a script that npm runs by itself', { 'package.json': '{"name":"x","scripts":{"postinstall":"node e.js"}}' }],
    ['a hook of git', { '.git/hooks/post-merge': 'EVIL' }],
    ['another folder of hooks', { '.git/config': '[core]\n\thooksPath = /tmp/evil\n' }],
    ['a folder of hooks behind the name of its section', { '.git/config': '[core] hooksPath = /tmp/evil\n' }],
    ['an alias of git', { '.git/config': '[alias]\n\tst = !evil\n' }],
    ['tasks of an editor', { '.vscode/tasks.json': 'EVIL' }],
  ])('asks for %s', async (_title, files) => {
    execFileSync('git', ['init', '-q'], { cwd })
    await run(write(files))
    expect(requested).toEqual(Object.keys(files))
  })
})
