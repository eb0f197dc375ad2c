import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { applyNames } from '../../scripts/names/apply.mjs'
import { checkNames } from '../../scripts/names/check.mjs'
import { createMatcher } from '../../scripts/names/match.mjs'

interface Names {
  readonly rows: readonly object[]
  readonly exceptions?: readonly object[]
}

const isCode = (file: string) => file.endsWith('.ts')

function check(files: Record<string, string>, { rows, exceptions = [] }: Names): string[] {
  const matcher = createMatcher({ rows, exceptions } as never)
  const hits: { file: string; line: number; found: string; say: string }[] = checkNames({
    files: new Map(Object.entries(files)),
    matcher,
    isCode,
  })
  return hits.map(({ file, line, found, say }) => `${file}:${line} ${found} → ${say}`)
}

function apply(files: Record<string, string>, { rows, exceptions = [] }: Names) {
  const matcher = createMatcher({ rows, exceptions } as never)
  const all = new Map(Object.entries(files))
  const { files: changed, moved, refused } = applyNames({ files: all, matcher, isCode })
  const after = Object.fromEntries([...all].map(([file, text]) => [moved.get(file) ?? file, changed.get(file) ?? text]))
  return { after, refused: refused as string[] }
}

const name = (old: string, to: string, more: object = {}) => ({ old, new: to, kind: 'identifier', ...more })
const file = (old: string, to: string, more: object = {}) => ({ old, new: to, kind: 'file', ...more })
const prose = (old: string, to: string, more: object = {}) => ({ old, new: to, kind: 'prose', ...more })

describe('names of the code', () => {
  const far = [name('far', 'remote'), name('far-side', 'remote-host')]

  it('are found by whole parts, in any style, the longest sequence first', () => {
    const text = 'const farSide = isFar(FAR_MS)\nconst farm = safari, x = #far\n'
    expect(check({ 'a.ts': text }, { rows: far })).toEqual([
      'a.ts:1 farSide → remoteHost',
      'a.ts:1 isFar → isRemote',
      'a.ts:1 FAR_MS → REMOTE_MS',
      'a.ts:2 #far → remote',
    ])
  })

  it('are no words of comments, strings and regular expressions, nor keys of columns', () => {
    const text = `// far away\nconst a = 'far' + \`far \${b} far\` + /far/.source\nconst c = row.far_ms\n`
    expect(check({ 'a.ts': text }, { rows: far })).toEqual([])
    // What stands between the braces of a template is code.
    expect(check({ 'a.ts': `const a = \`\${far}\`` }, { rows: far })).toEqual(['a.ts:1 far → remote'])
  })

  it('mean by file and by declaration what a row says for it', () => {
    const rows = [
      name('=hold', 'reserve', { in: ['money/**', '!**/*.test.ts'] }),
      name('=hold', 'setWill', { in: ['inbox.ts'], within: 'Inbox' }),
    ]
    const text = 'interface Inbox {\n  hold(): void\n}\ninterface Other {\n  hold(): void\n}\n'
    const files = { 'money/book.ts': 'hold()', 'money/book.test.ts': 'hold()', 'inbox.ts': text }
    expect(check(files, { rows })).toEqual(['money/book.ts:1 hold → reserve', 'inbox.ts:2 hold → setWill'])
  })

  it('are left alone where an exception says so', () => {
    const files = { 'a.ts': 'soFar(far)', 'b.ts': 'interface Row {\n  far: 1\n}\nconst x = { far: row.far }' }
    const exceptions = [
      { name: 'soFar', kind: 'identifier', reason: 'until now' },
      { name: 'far', kind: 'identifier', in: ['b.ts'], within: 'Row', reason: 'stored' },
      { name: 'far', kind: 'identifier', in: ['b.ts'], where: 'far: row', reason: 'stored' },
    ]
    expect(check(files, { rows: far, exceptions })).toEqual(['a.ts:1 far → remote', 'b.ts:4 far → remote'])
  })
})

describe('renaming', () => {
  it('takes declarations, uses, types that name them, and what comments and statements say of them', () => {
    const text = [
      "import { farSide } from './b.js'",
      '/** Asks `asked` of {@link farSide}. */',
      "export function go(asked: Pick<A, 'asked'>) {",
      "  return run('UPDATE t SET a = :asked', { asked, told: 'asked' }) + asked['asked']",
      '}',
      '',
    ].join('\n')
    const rows = [name('far-side', 'remote-host'), name('asked', 'requested')]
    expect(apply({ 'a.ts': text }, { rows })).toEqual({
      after: {
        'a.ts': text
          .replaceAll('farSide', 'remoteHost')
          .replaceAll('asked', 'requested')
          .replace("told: 'requested'", "told: 'asked'"),
      },
      refused: [],
    })
  })

  it.each([
    ['a declaration of the same scope', 'const said = 1\nconst text = 2\n'],
    ['a parameter', 'const text = 1\nconst f = (said: number) => said + text\n'],
    ['a declaration around it', 'const said = 1\nfunction f(text: string) {\n  return text + said\n}\n'],
    ['an import', "import { text } from './b.js'\nfunction f(said: number) {\n  return text + said\n}\n"],
    ['a member of the same type', 'interface A {\n  said: string\n  text: string\n}\n'],
    ['a key of the same object', 'const a = { said: 1, text: 2 }\n'],
  ])('refuses what would collide with %s', (_, text) => {
    const { refused } = apply({ 'a.ts': text }, { rows: [name('said', 'text')] })
    expect(refused).not.toEqual([])
    expect(refused.every((line) => line.startsWith('a.ts'))).toBe(true)
  })

  it('takes the same name where no scope sees both', () => {
    const text = 'function f(said: number) {\n  return said\n}\nfunction g(text: string) {\n  return text\n}\n'
    expect(apply({ 'a.ts': text }, { rows: [name('said', 'text')] })).toEqual({
      after: { 'a.ts': text.replaceAll('said', 'text') },
      refused: [],
    })
  })

  it('moves files with what imports and names them', () => {
    const files = {
      'packages/a/src/far-side.ts': "import { b } from '../lib/b.js'\nimport './near/c.js'\n",
      'packages/a/src/near/c.ts': "import '../far-side.js'\n",
      'packages/a/lib/b.ts': '',
      'packages/a/package.json': '{ "source": "./src/far-side.ts", "default": "./dist/far-side.js" }',
      'README.md': 'See `packages/a/src/far-side.ts`.',
    }
    const rows = [file('far-side', 'remote-host'), file('near', 'local')]
    expect(apply(files, { rows })).toEqual({
      after: {
        'packages/a/src/remote-host.ts': "import { b } from '../lib/b.js'\nimport './local/c.js'\n",
        'packages/a/src/local/c.ts': "import '../remote-host.js'\n",
        'packages/a/lib/b.ts': '',
        'packages/a/package.json': '{ "source": "./src/remote-host.ts", "default": "./dist/remote-host.js" }',
        'README.md': 'See `packages/a/src/remote-host.ts`.',
      },
      refused: [],
    })
    expect(apply({ 'far.ts': '', 'remote.ts': '' }, { rows: [file('far', 'remote')] }).refused).toEqual([
      'far.ts: remote.ts exists already',
    ])
  })

  it('leaves nothing for the check, and changes nothing when it runs again', () => {
    const files = {
      'far.ts': '// The far\n// side.\n/* A far\n * side. */\nexport const farSide = 1\n',
      'a.md': 'Far sides.',
    }
    const rows = [
      file('far', 'remote'),
      name('far', 'remote'),
      prose('far side', 'remote host'),
      prose('far sides', 'remote hosts'),
    ]
    const { after } = apply(files, { rows })
    expect(after).toEqual({
      'remote.ts': '// The far\n// side.\n/* A remote\n * host. */\nexport const remoteSide = 1\n',
      'a.md': 'Remote hosts.',
    })
    // A phrase across two comments is for a person to change.
    expect(check(after, { rows })).toEqual(['remote.ts:1 far side → remote host'])
    expect(apply(after, { rows }).after).toEqual(after)
  })
})

describe('phrases', () => {
  it('are found whole, over line breaks, and in what a person reads of the program', () => {
    const files = { 'a.md': 'The side\ntask. Inside tasks. A side-task.', 'b.ts': "say('No side task.')" }
    expect(check(files, { rows: [prose('side task', 'auxiliary task')] })).toEqual([
      'a.md:1 side task → auxiliary task',
      'b.ts:1 side task → auxiliary task',
    ])
  })

  it('of strings are left to a person, titles of tests excepted', () => {
    const text = "it('asks the far side', () => say('the far side'))\n"
    expect(apply({ 'a.ts': text }, { rows: [prose('far side', 'remote host')] }).after).toEqual({
      'a.ts': "it('asks the remote host', () => say('the far side'))\n",
    })
  })
})

describe('the command', () => {
  const roots: string[] = []
  afterEach(() => {
    for (const root of roots.splice(0)) rmSync(root, { recursive: true })
  })

  function run(names: object, files: Record<string, string>, ...args: string[]) {
    const root = mkdtempSync(join(tmpdir(), 'names-'))
    roots.push(root)
    for (const [path, text] of Object.entries({ 'scripts/names.json': JSON.stringify(names), ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    execFileSync('git', ['init', '--quiet', root])
    const script = join(import.meta.dirname, '../../scripts/names.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, root], { encoding: 'utf8' })
    return { status, stdout, stderr, read: (path: string) => readFileSync(join(root, path), 'utf8') }
  }

  const rows = [name('far', 'remote')]

  it('says where an old word is and which one is new, and nothing of a tree without any', () => {
    expect(run({ rows, exceptions: [] }, { 'src/a.ts': 'let b\nlet far\n' }, '--check')).toMatchObject({
      status: 1,
      stderr: "src/a.ts:2 identifier 'far': say 'remote'\n",
    })
    expect(run({ rows, exceptions: [] }, { 'src/a.ts': 'let remote\n' }, '--check')).toMatchObject({
      status: 0,
      stderr: '',
    })
  })

  it('refuses an exception without a reason, and one that excepts nothing', () => {
    const exception = { name: 'far', kind: 'identifier' }
    const without = run({ rows, exceptions: [exception] }, { 'a.ts': 'let far\n' }, '--check')
    expect([without.status, without.stderr]).toEqual([2, "scripts/names.json: the exception 'far' has no reason\n"])
    const unused = run({ rows, exceptions: [{ ...exception, reason: 'a distance' }] }, { 'a.ts': '' }, '--check')
    expect([unused.status, unused.stderr]).toEqual([
      1,
      "scripts/names.json: the exception 'far' (identifier) excepts nothing\n",
    ])
    expect(run({ rows, exceptions: [{ ...exception, reason: 'a distance' }] }, { 'a.ts': 'let far\n' }).status).toBe(0)
  })

  it('writes all it renames, or nothing where one rename is refused', () => {
    const done = run({ rows, exceptions: [] }, { 'a.ts': 'let far\n' }, '--apply')
    expect([done.status, done.read('a.ts')]).toEqual([0, 'let remote\n'])
    const refused = run({ rows, exceptions: [] }, { 'a.ts': 'let far\n', 'b.ts': 'let far, remote\n' }, '--apply')
    expect([refused.status, refused.read('a.ts')]).toEqual([1, 'let far\n'])
    expect(refused.stderr).toMatch(/^b\.ts:1 'remote' would mean another declaration$/m)
  })
})
