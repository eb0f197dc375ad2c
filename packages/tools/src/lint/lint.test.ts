import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createPatchTool, createWriteFileTool } from '../index.js'
import { defaultToolSettings, type ToolSettings } from '../settings.js'

const MODULES = resolve(import.meta.dirname, '../../../../node_modules')
const BIOME = JSON.stringify({ linter: { rules: { recommended: true } } })
const DEBUGGER = 'export function f() {\n  debugger\n}\n'
const CLEAN = 'export function f() {\n  return 1\n}\n'

async function setup(
  files: Readonly<Record<string, string>>,
  settings: Partial<ToolSettings> = {},
  more: Partial<TestContextOptions> = {},
) {
  const { folder, environment } = await temporaryEnvironment()
  const all = { ...defaultToolSettings, lintTimeoutMs: 60_000, ...settings }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
    if (content.startsWith('#!')) await chmod(join(folder, name), 0o755)
  }
  const context = createToolContext({ environment, ...more })
  const spawned = () => context.permitted.filter(({ type }) => type === 'spawn').length
  return {
    folder,
    spawned,
    shown: context.shown,
    write: (path: string, content: string) => call(createWriteFileTool(all), { path, content }, context),
    patch: (args: object) => call(createPatchTool(all), args as never, context),
  }
}

/** A project that is set up for Biome, and has it. */
async function biomeProject(...args: Parameters<typeof setup>) {
  const project = await setup({ 'biome.json': BIOME, ...args[0] }, args[1], args[2])
  await symlink(MODULES, join(project.folder, 'node_modules'))
  return project
}

describe('the linter of a project', () => {
  it('is told of by what is new after a write, and by nothing that was wrong before', async () => {
    const { write, patch, folder } = await biomeProject({ 'old.ts': DEBUGGER })
    const created = await write('new.ts', DEBUGGER)
    expect(created.text).toMatch(
      /^Created .*\nNew errors of biome:\n {2}line 2: .*debugger.* \(lint\/suspicious\/noDebugger\)$/,
    )
    expect(created.data['lint']).toHaveLength(2)
    expect((await write('clean.ts', CLEAN)).text).not.toContain('biome')
    expect((await write('old.ts', `// A comment above.\n${DEBUGGER}`)).text).not.toContain('biome')
    const twice = { path: 'old.ts', old_string: '  debugger\n', new_string: '  debugger\n  debugger\n' }
    expect((await patch(twice)).text).toMatch(/New errors of biome:\n {2}line [34]: [^\n]+$/)
    const text = '*** Update File: clean.ts\n@@\n-  return 1\n+  if (f == 2) return 1\n*** Add File: more.ts\n+debugger'
    const patched = await patch({ mode: 'patch', patch: text })
    expect(patched.text).toContain('noDoubleEquals')
    expect(patched.text).toContain('noDebugger')
    expect(await readFile(join(folder, 'more.ts'), 'utf8')).toContain('debugger')
  })

  it('runs once for each version of a file', async () => {
    const { write, spawned } = await biomeProject({})
    await write('a.ts', CLEAN)
    expect(spawned()).toBe(1)
    await write('a.ts', DEBUGGER)
    expect(spawned()).toBe(2)
  })

  it('is not run where the project has none, where it is switched off, or for files it does not know', async () => {
    const none = await setup({ '.git/HEAD': '' })
    await none.write('a.ts', DEBUGGER)
    expect(none.spawned()).toBe(0)
    const off = await biomeProject({}, { lint: false })
    await off.write('a.ts', DEBUGGER)
    expect(off.spawned()).toBe(0)
    const other = await biomeProject({})
    await other.write('a.md', '# Hi\n')
    expect(other.spawned()).toBe(0)
  })

  it('runs nothing of a project that the person does not trust, says so once, and runs it from their yes on', async () => {
    const trusted = new Set<string>()
    const files = {
      'ruff.toml': '',
      '.venv/bin/ruff': '#!/bin/sh\ntouch ran; exit 0\n',
      'eslint.config.js': '',
      'node_modules/.bin/eslint': '#!/bin/sh\ntouch ran; echo "[]"\n',
      'inner/eslint.config.js': '',
    }
    const { folder, write, spawned, shown } = await setup(files, { trusts: async (path) => trusted.has(path) })
    for (const name of ['a.py', 'b.py', 'a.js']) expect((await write(name, '1\n')).isError).toBe(false)
    trusted.add(join(folder, 'inner'))
    await write('inner/a.js', '1\n')
    expect([spawned(), (await readdir(folder)).includes('ran')]).toEqual([0, false])
    expect(shown).toEqual([
      `ruff is not run: ${folder} is not trusted. To trust it: /trust add`,
      `eslint is not run: ${join(folder, 'inner')} is not trusted. To trust it: /trust add`,
    ])
    trusted.add(folder)
    await write('c.py', '1\n')
    expect((await readdir(folder)).includes('ran')).toBe(true)
  })

  it('stays away once the policy said no', async () => {
    let requested = 0
    const deny = ({ type }: { readonly type: string }) => type === 'spawn' && ++requested > 0
    const { write, folder } = await biomeProject({}, {}, { deny })
    expect(await write('a.ts', DEBUGGER)).toMatchObject({ isError: false })
    await write('b.ts', DEBUGGER)
    expect(requested).toBe(1)
    expect(await readFile(join(folder, 'b.ts'), 'utf8')).toBe(DEBUGGER)
  })

  it('stays away once it took too long or could not run', async () => {
    const slow = { 'ruff.toml': '', '.venv/bin/ruff': '#!/bin/sh\nexec sleep 60\n' }
    const late = await setup(slow, { lintTimeoutMs: 200 })
    expect((await late.write('a.py', 'x = 1\n')).text).not.toContain('ruff')
    await late.write('b.py', 'x = 1\n')
    expect(late.spawned()).toBe(1)
    const broken = await setup({ 'ruff.toml': '', '.venv/bin/ruff': '#!/bin/sh\necho "bad config" >&2; exit 2\n' })
    await broken.write('a.py', 'x = 1\n')
    await broken.write('b.py', 'x = 1\n')
    expect(broken.spawned()).toBe(1)
  })

  it('is not run when it came with the repository, by a link or not, and is when it was installed beside it', async () => {
    const ran = (name: string) => `#!/bin/sh\ntouch ran-${name}; exit 0\n`
    const files = {
      'ruff.toml': '',
      'vendor/ruff': ran('ruff'),
      'biome.json': '{}',
      'node_modules/.bin/biome': ran('biome'),
      'own/ruff.toml': '',
      'own/.venv/bin/ruff': ran('own'),
    }
    const { folder, write, spawned, shown } = await setup(files)
    await mkdir(join(folder, '.venv/bin'), { recursive: true })
    await symlink('../../vendor/ruff', join(folder, '.venv/bin/ruff'))
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
    git('init', '-q')
    git('add', 'ruff.toml', 'vendor', '.venv', 'biome.json', 'node_modules')
    for (const name of ['a.py', 'b.py', 'a.ts', 'own/a.py', 'own/b.py']) await write(name, '1\n')
    expect((await readdir(folder)).filter((name) => name.startsWith('ran-'))).toEqual([])
    expect((await readdir(join(folder, 'own'))).filter((name) => name.startsWith('ran-'))).toEqual([])
    expect(shown).toEqual([
      'ruff came with the repository, so it is not run.',
      'biome came with the repository, so it is not run.',
    ])
    const fresh = await setup(files)
    execFileSync('git', ['init', '-q'], { cwd: fresh.folder })
    await fresh.write('own/a.py', '1\n')
    await fresh.write('own/b.py', '1\n')
    expect(await readdir(join(fresh.folder, 'own'))).toContain('ran-own')
    // Git is asked once.
    expect([spawned(), fresh.spawned()]).toEqual([2, 3])
  })

  it('is not run from a folder where everybody puts files', async () => {
    const { folder, write, spawned } = await setup({
      'ruff.toml': '',
      '.venv/bin/ruff': '#!/bin/sh\nexit 0\n',
      'mine/a.py': '',
      'own/ruff.toml': '',
    })
    await write('mine/a.py', 'x = 1\n')
    expect(spawned()).toBe(2)
    await chmod(folder, 0o1777)
    await write('mine/a.py', 'x = 2\n')
    await write('own/a.py', 'x = 1\n')
    expect(spawned()).toBe(2)
  })

  it('is read in the words of eslint and ruff', async () => {
    const messages = [
      { ruleId: 'no-debugger', severity: 2, message: "Unexpected 'debugger' statement.", line: 2 },
      { ruleId: 'eqeqeq', severity: 1, message: 'A warning.', line: 3 },
      { ruleId: null, severity: 2, message: 'Parsing error: Unexpected token', line: 4 },
    ]
    const eslint = await setup({
      'eslint.config.mjs': 'export default []\n',
      'node_modules/.bin/eslint': `#!/bin/sh\ncat <<'END'\n${JSON.stringify([{ filePath: 'a.js', messages }])}\nEND\nexit 1\n`,
    })
    expect((await eslint.write('src/deep/a.js', 'x\n')).text.split('\n').slice(1)).toEqual([
      'New errors of eslint:',
      "  line 2: Unexpected 'debugger' statement. (no-debugger)",
      '  line 4: Parsing error: Unexpected token (parse)',
    ])
    const ruff = await setup({
      'ruff.toml': '',
      '.venv/bin/ruff': "#!/bin/sh\necho 'a.py:1:8: F401 [*] `os` imported but unused'; exit 1\n",
    })
    expect((await ruff.write('a.py', 'import os\n')).text).toContain('line 1: `os` imported but unused (F401)')
  })
})

describe('syntax after a write', () => {
  it.each([
    ['a.json', '{"a": }', /syntax error now: .*JSON/],
    [
      'a.yaml',
      'a: b: c\n',
      /syntax error now: Nested mappings are not allowed in compact mappings at line 1, column 4$/,
    ],
    ['a.yml', 'a: 1\n---\nb: [1\n', /syntax error now: Flow sequence/],
    ['very.yaml', ']'.repeat(60_000), /syntax error now: Unexpected flow-seq-end token.* at line 1, column 1$/],
    ['wrong.yaml', '"'.repeat(60_000), /syntax error now: Unexpected double-quoted-scalar .* at line 1, column 3$/],
    ['a.toml', 'a = 1\nb = \n', /syntax error now: Invalid TOML document: .* \(line 2\)$/],
  ])('of %s is told', async (name, text, expected) => {
    const { write } = await setup({ '.git/HEAD': '' })
    expect((await write(name, text)).text).toMatch(expected)
    expect((await write(name, `${text}\n`)).text).not.toContain('syntax error')
  })

  it.each([
    ['a.yaml', 'a: !Ref b\n---\nc: 1\n'],
    ['chart.yaml', 'a: {{ .Values.a }}\n'],
    ['a.toml', '[a]\nb = 2020-01-01\n'],
    ['tsconfig.json', '{ // why\n}'],
  ])('of %s is fine', async (name, text) => {
    const { write } = await setup({ '.git/HEAD': '' })
    expect((await write(name, text)).text).not.toContain('syntax error')
  })
})
