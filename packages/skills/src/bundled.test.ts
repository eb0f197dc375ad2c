// What a skill that comes with Hermes has people run is run here, out of its text, on something small whose answer is known.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { requireStrict } from './format/write-skill.js'
import { BUNDLED_BODIES } from './generated/bundled-bodies.js'
import { BUNDLED_HEADS } from './generated/bundled-heads.js'

const run = promisify(execFile)
let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hermes-bundled-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A folder to work in. */
interface Place {
  readonly cwd: string
  put(files: Readonly<Record<string, string>>): Promise<void>
  /** Standard output and error of a script; `code` is how it ended. */
  sh(script: string): Promise<{ readonly out: string; readonly code: number }>
  /** The same of the blocks of commands of a skill, by their numbers from 1, with words put in place of others. */
  steps(
    numbers: readonly number[],
    words?: Readonly<Record<string, string>>,
  ): Promise<{ readonly out: string; readonly code: number }>
  read(path: string): Promise<string>
}

/** The blocks of commands in a text, without the indentation of lists. */
function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

async function placeFor(name: string): Promise<Place> {
  const cwd = join(root, name)
  await mkdir(cwd, { recursive: true })
  const env = {
    ...{ PATH: process.env['PATH']!, HOME: root, LANG: 'C.UTF-8', TZ: 'UTC' },
    ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' },
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'init.defaultBranch', GIT_CONFIG_VALUE_0: 'main' },
  }
  const sh = (script: string) =>
    run('bash', ['-c', script], { cwd, env, timeout: 30_000 }).then(
      ({ stdout, stderr }) => ({ out: stdout + stderr, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => ({
        out: error.stdout + error.stderr,
        code: error.code,
      }),
    )
  const blocks = blocksOf(BUNDLED_BODIES.get(name)!)
  return {
    ...{ cwd, sh },
    put: async (files) => {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(cwd, path)), { recursive: true })
        await writeFile(join(cwd, path), text)
      }
    },
    steps: (numbers, words = {}) => {
      const chosen = numbers.map((number) => blocks[number - 1]!.replaceAll('/tmp/', `${cwd}/tmp-`))
      return sh(Object.entries(words).reduce((text, [word, other]) => text.replaceAll(word, other), chosen.join('\n')))
    },
    read: (path) => readFile(join(cwd, path), 'utf8'),
  }
}

/** Serves two versions of the package `left` as a registry does. */
async function startRegistry(cwd: string, sh: Place['sh']) {
  const versions: Record<string, object> = {}
  const tarballs = new Map<string, Buffer>()
  const server = createServer(({ url = '' }, response) => {
    const body =
      url === '/left'
        ? JSON.stringify({
            ...{ name: 'left', 'dist-tags': { latest: '2.0.0' }, versions },
            time: {
              modified: '2030-01-02T03:04:05.000Z',
              '1.0.0': '2029-01-01T00:00:00.000Z',
              '2.0.0': '2030-01-01T00:00:00.000Z',
            },
          })
        : tarballs.get(url)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(body ?? '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const version of ['1.0.0', '2.0.0']) {
    const folder = join(cwd, 'tmp', version, 'package')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'left', version }))
    await sh(`tar -czf tmp/${version}.tgz -C tmp/${version} package`)
    const bytes = await readFile(join(cwd, 'tmp', `${version}.tgz`))
    tarballs.set(`/left-${version}.tgz`, bytes)
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    versions[version] = { name: 'left', version, dist: { tarball: `${address}/left-${version}.tgz`, integrity } }
  }
  return {
    address,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  }
}

const commit = 'git add -A && git commit -qm'

/** For each skill: brings something about, does what it says, and looks at what came of it. */
const CASES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'fix-bug': async ({ put, steps, cwd }) => {
    await put({
      'average.mjs': 'export const average = (all) => all.reduce((sum, one) => sum + one, 0) / all.length\n',
    })
    expect((await steps([1], { '/WORK': cwd })).out).toBe('NaN\n')
    await put({
      'average.mjs':
        'export const average = (all) => (all.length === 0 ? 0 : all.reduce((s, n) => s + n, 0) / all.length)\n',
    })
    expect((await steps([1], { '/WORK': cwd })).out).toBe('0\n')
  },
  'refactor-safely': async ({ put, steps, sh, read }) => {
    await put({
      'a.mjs': 'export const oldName = (n) => n * 2 // oldNames stay\n',
      'record.mjs': "import { oldName } from './a.mjs'\nconsole.log([0, 1, -3].map(oldName))\n",
    })
    await steps([1, 2])
    expect(await read('a.mjs')).toBe('export const newName = (n) => n * 2 // oldNames stay\n')
    expect(await sh('node record.mjs | diff tmp-before.txt -')).toEqual({ out: '', code: 0 })
    await put({ 'a.mjs': 'export const newName = (n) => n * 3\n' })
    expect((await sh('node record.mjs | diff tmp-before.txt -')).code).toBe(1)
  },
  'write-tests': async ({ put, steps }) => {
    const clamp = 'export const clamp = (n, low, high) => Math.min(Math.max(n, low), high)\n'
    await put({ 'clamp.mjs': clamp })
    expect((await steps([1])).code).toBe(0)
    for (const broken of [clamp.replace('Math.min(', '('), clamp.replace('low)', 'low + 1)')]) {
      await put({ 'clamp.mjs': broken })
      expect((await steps([1])).code).toBe(1)
    }
  },
  'review-change': async ({ put, sh, steps }) => {
    await put({ 'a.txt': 'one\n' })
    await sh(`git init -q && ${commit} base && git switch -qc work`)
    await put({ 'a.txt': 'two\n', 'b.txt': '<<<<<<< left\n' })
    await sh(`${commit} change`)
    const { out } = await steps([1])
    expect(out).toMatch(/change\n a\.txt \| 2 \+-\n[\s\S]*\+two/)
    expect((await sh('git diff --check main...HEAD')).out).toContain('b.txt:1: leftover conflict marker')
  },
  'upgrade-dependency': async ({ put, sh, steps, read, cwd }) => {
    const [, grep = ''] = /`(grep -rn [^`]*)`/.exec(BUNDLED_BODIES.get('upgrade-dependency')!)!
    const [, moved = ''] = /`(git diff --stat [^`]*)`/.exec(BUNDLED_BODIES.get('upgrade-dependency')!)!
    await using registry = await startRegistry(cwd, sh)
    await put({
      'package.json': '{"dependencies":{"left":"1.0.0"}}',
      '.npmrc': `registry=${registry.address}\nupdate-notifier=false\n`,
      '.gitignore': 'node_modules\ntmp\n',
      'src/a.mjs': "import { pad } from 'left'\n",
    })
    expect(await sh(`git init -q && npm install --no-audit --no-fund && ${commit} base`)).toMatchObject({ code: 0 })
    const { out } = await steps([1], { PACKAGE: 'left' })
    expect(out).toContain("{ left: '1.0.0' }\n")
    expect(out).toMatch(/── left@1\.0\.0\n/)
    expect(out).toMatch(/version = '2\.0\.0'/)
    expect((await sh(grep.replace('PACKAGE', 'left'))).out).toBe("src/a.mjs:1:import { pad } from 'left'\n")
    await sh('npm install --no-audit --no-fund --save-exact left@2.0.0')
    expect((await sh(moved)).out).toContain('package-lock.json | ')
    expect(await read('node_modules/left/package.json')).toContain('"version":"2.0.0"')
  },
  'read-stack-trace': async ({ put, steps }) => {
    await put({
      'app.mjs':
        "const name = (user) => user.name.trim()\nfunction greet(user) {\n  return name(user)\n}\ntry {\n  greet({})\n} catch (cause) {\n  throw new Error('cannot greet', { cause })\n}\n",
    })
    const lines = (await steps([1])).out.split('\n')
    expect(lines.find((line) => line.includes('Error: cannot greet'))).toBeDefined()
    expect(lines.find((line) => line.includes('[cause]'))).toContain("reading 'trim'")
    expect(lines.find((line) => /name \(.*app\.mjs:1:\d+\)/.test(line))).toBeDefined()
  },
  'profile-program': async ({ put, steps }) => {
    await put({
      'slow.mjs':
        'function culprit(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 7; return s }\nconsole.log(culprit(2e7))\n',
    })
    expect((await steps([2])).out.split('\n')[0]).toMatch(/^\d+ ms culprit$/)
  },
  'flaky-test': async ({ put, steps }) => {
    const flaky = (isFixed: boolean) =>
      `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { existsSync, rmSync, writeFileSync } from 'node:fs'\ntest('leaves something behind', () => { ${isFixed ? "rmSync('left', { force: true });" : ''} assert(!existsSync('left')); writeFileSync('left', ''); })\n`
    await put({ 'flaky.test.mjs': flaky(false) })
    expect((await steps([1], { 'n=40': 'n=3' })).out).toBe('2 of 3\n')
    await put({ 'flaky.test.mjs': flaky(true) })
    expect((await steps([1], { 'n=40': 'n=3' })).out).toBe('0 of 3\n')
  },
  'git-bisect': async ({ sh, steps }) => {
    await sh(
      `git init -q; for i in 1 2 3 4 5 6; do if [ $i -lt 4 ]; then echo "console.log(5) // $i" > sum.js; else echo "console.log(6) // $i" > sum.js; fi; ${commit} "step $i"; [ $i = 1 ] && git tag v1; done`,
    )
    const { out } = await steps([1, 2])
    expect(out).toMatch(/is the first bad commit[\s\S]*step 4/)
    expect((await sh('git status --short --branch')).out).toBe('## main\n?? tmp-check.sh\n')
  },
  'clean-history': async ({ put, sh, steps }) => {
    await put({ a: '1\n' })
    await sh(
      `git init -q; ${commit} base; git switch -qc work; echo 2 >> a; ${commit} wip; echo b > b; ${commit} wip2; echo 3 >> a; ${commit} wip3`,
    )
    await steps([1, 2])
    await sh('git add b && git commit -qm "add b" && git add a && git commit -qm "count on"')
    expect((await sh('git log --format=%s main..HEAD; git diff backup')).out).toBe('count on\nadd b\n')
  },
  'resolve-conflict': async ({ put, sh, steps, read }) => {
    await put({ f: 'one\ntwo\nthree\n' })
    await sh(
      `git init -q; ${commit} base; git switch -qc side; sed -i s/two/TWO/ f; ${commit} loud; git switch -q main; sed -i s/two/two,/ f; ${commit} comma; git merge side`,
    )
    expect((await steps([1], { FILE: 'f' })).out).toMatch(/^UU f\n[\s\S]*> [0-9a-f]+ loud/)
    expect(await read('f')).toContain('||||||| base')
    await put({ f: 'one\nTWO,\nthree\n' })
    expect((await steps([2], { FILE: 'f' })).code).toBe(0)
    expect((await sh("git log -1 --format=%P | wc -w; git grep -nE '^(<<<<<<<|>>>>>>>)'")).out).toBe('2\n')
  },
  'undo-in-git': async ({ put, sh, steps }) => {
    await put({ f: 'one\n' })
    await sh(
      `git init -q; ${commit} base; git switch -qc gone; echo lost > g; ${commit} precious; git switch -q main; git branch -qD gone`,
    )
    const { out } = await steps([1])
    const id = /^([0-9a-f]+) .*commit: precious/m.exec(out)![1]!
    await steps([2], { COMMIT: id })
    expect((await sh('git show rescued:g')).out).toBe('lost\n')
  },
  'pull-request': async ({ put, sh, steps }) => {
    await sh('git init -q --bare forge; git init -q; git remote add origin "$PWD/forge"; echo forge > .gitignore')
    await put({ f: 'one\n' })
    await sh(`${commit} base; git push -q origin main; echo two >> f; ${commit} 'handle no numbers'`)
    expect((await steps([1])).out).toMatch(/handle no numbers\n f \| 1 \+/)
    await steps([2])
    expect(
      (await sh('test "$(git rev-parse HEAD)" = "$(git rev-parse @{upstream})" && git -C forge branch')).out,
    ).toContain('fix/empty-average')
  },
  'triage-issues': async ({ put, steps }) => {
    const issue = (number: number, title: string, labels: readonly string[], comments: number) => ({
      number,
      title,
      body: '',
      labels,
      comments: Array(comments).fill({}),
    })
    await put({
      'issues.json': JSON.stringify([
        issue(1, 'Segfault while parsing umlauts', [], 1),
        issue(2, 'Wish: dark colours', ['wish'], 5),
        issue(3, 'Parsing umlauts gives segfault', ['bug'], 0),
      ]),
    })
    expect((await steps([1])).out).toBe('without a label: #1\nmost discussed: #2 #1 #3\n')
    expect((await steps([2])).out).toBe('#1 ~ #3: segfault parsing umlauts\n')
  },
  'verify-claim': async ({ put, steps }) => {
    await put({
      'sources.tsv':
        'c\tblog\t2026\tpress release\tfor\nc\tnews\t2026\tpress release\tfor\nc\tpaper\t2025\ttable 3\tagainst\n',
    })
    expect((await steps([1])).out).toBe(
      'press release: for (2 mentions)\ntable 3: against (1 mention)\n2 independent of 3\n',
    )
  },
  'compare-options': async ({ put, steps }) => {
    await put({ 'options.csv': 'criterion,weight,A,B\nprice,50,4,1\nspeed,50,1,3\n' })
    expect((await steps([1])).out).toBe('A 2.50, B 2.00\ndepends on: price\n')
    await put({ 'options.csv': 'criterion,weight,A,B\nprice,50,4,1\nspeed,50,3,3\n' })
    expect((await steps([1])).out).toBe('A 3.50, B 2.00\nstays the same\n')
  },
  'clean-csv': async ({ put, steps, sh }) => {
    await put({ 'data.csv': '\ufeffname,note\r\n"Smith, Al","said ""hi"""\r\nBo,\r\nCy,x,y\r\n' })
    expect((await steps([2])).out).toBe('3 rows of 2\nrow 3 has 3\n')
    expect(
      (
        await sh(
          `node -e "import('./read.mjs').then(({ read }) => console.log(JSON.stringify(read('data.csv').slice(0, 3))))"`,
        )
      ).out,
    ).toBe('[["name","note"],["Smith, Al","said \\"hi\\""],["Bo",""]]\n')
  },
  'explore-json': async ({ put, steps }) => {
    await put({ 'x.jsonl': '{"id":1,"tags":["a"]}\n{"id":"2","who":{"age":3}}\n' })
    expect((await steps([1], { FILE: 'x.jsonl' })).out).toBe(
      '.id  2/2  number|string  1\n.tags[]  1/2  string  "a"\n.who.age  1/2  number  3\n',
    )
  },
  'query-sqlite': async ({ cwd, steps }) => {
    const db = new DatabaseSync(join(cwd, 'shop.db'))
    db.exec('create table customers (customer_id int, name text); insert into customers values (1, 1), (2, 2), (2, 3)')
    db.close()
    const { out } = await steps([1, 2])
    expect(out).toContain('create table customers'.toUpperCase().slice(0, 12))
    expect(out).toMatch(/│ 2 +│ 2 +│/)
  },
  'migrate-schema': async ({ cwd, steps, sh }) => {
    const open = () => new DatabaseSync(join(cwd, 'people.db'))
    const before = open()
    before.exec(
      "create table people (id integer primary key, name text); insert into people values (1, 'Ada Lovelace'), (2, 'Plato'), (7, 'Jean Luc P')",
    )
    before.close()
    expect((await steps([1])).out).toContain('3 of 3\n')
    const after = open()
    expect(
      after
        .prepare("select id, first || '|' || last as name from people")
        .all()
        .map(({ id, name }) => `${id} ${name}`),
    ).toEqual(['1 Ada|Lovelace', '2 Plato|', '7 Jean|Luc P'])
    after.close()
    // It cannot run twice: then nothing is changed.
    expect((await sh('node migrate.mjs people.db')).code).toBe(1)
  },
  'edit-text': async ({ put, steps }) => {
    await put({ 'draft.md': `It is basically done. ${'word '.repeat(26)}end. Short.\n` })
    expect((await steps([1])).out).toMatch(/^32 words, 1 of 3 sentences over 25 words, 1 filler\n> word/)
  },
  'release-notes': async ({ sh, steps }) => {
    await sh(
      'git init -q; git commit -q --allow-empty -m base; git tag v1; for t in "feat: dark colours" "fix(csv): keep zeros" "feat!: drop Node 20" "tidy up"; do git commit -q --allow-empty -m "$t"; done',
    )
    const { out } = await steps([1, 2])
    expect(
      out
        .trim()
        .split('\n')
        .slice(-4)
        .map((line) => line.split('\t').slice(0, 2).join(' | ')),
    ).toEqual([
      'breaking | feat!: drop Node 20',
      'fixed | fix(csv): keep zeros',
      'look | tidy up',
      'new | feat: dark colours',
    ])
  },
  'readme-that-works': async ({ put, steps }) => {
    const readme = '# P\n\n```sh\nnode hello.mjs\n```\n\nSee [more](docs/more.md) and [that](https://x.y).\n'
    await put({
      'README.md': readme,
      'hello.mjs': 'console.log("hello", Object.keys(process.env).includes("GIT_AUTHOR_NAME"))',
    })
    expect(await steps([1])).toEqual({ out: 'hello false\n', code: 0 })
    expect((await steps([2])).out).toBe('missing: docs/more.md\n')
    await put({ 'README.md': readme.replace('hello', 'gone') })
    expect((await steps([1])).code).not.toBe(0)
  },
  'convert-document': async ({ put, sh, steps, read }) => {
    await put({
      'in.md': '# Tea & more\n\n- boil\n- pour\n\nDrink <slowly>.\n',
      'word/document.xml': '<w:p><w:t>One &amp; two</w:t></w:p><w:p><w:t>Three</w:t></w:p>',
    })
    await steps([2])
    expect(await read('out.html')).toBe(
      '<h1>Tea &amp; more</h1>\n<ul><li>boil</li><li>pour</li></ul>\n<p>Drink &lt;slowly>.</p>\n',
    )
    // The same reading, on what unzip would print.
    await sh("mkdir bin; printf '#!/bin/sh\\ncat word/document.xml' > bin/unzip; chmod +x bin/unzip")
    await steps([1], { unzip: './bin/unzip' })
    expect(await read('out.txt')).toBe('One & two\nThree\n')
  },
  'write-dockerfile': async ({ put, steps }) => {
    await put({
      '.env': 'KEY=1',
      'debug.log': 'x',
      'package.json': '{}',
      'src/server.mjs': 'console.log("up", process.argv[2], process.env.GIT_AUTHOR_NAME)\n',
      'node_modules/x/i.js': '',
    })
    const { out } = await steps([1])
    expect(out).toContain('./src/server.mjs')
    expect(out).not.toMatch(/\.env|debug\.log|node_modules/)
    expect((await steps([2])).out).toBe('up --once undefined\n')
  },
  'read-logs': async ({ put, steps }) => {
    const line = (minute: number, text: string) => `2026-01-02T10:0${minute}:00Z ${text}\n`
    await put({
      'app.log':
        line(0, 'INFO request 17 took 3.5 ms') +
        line(1, 'INFO request 18 took 9 ms') +
        line(2, 'ERROR disk full: 0 bytes') +
        line(3, 'ERROR cannot write 5') +
        line(4, 'ERROR disk full: 0 bytes'),
    })
    const { out } = await steps([1, 2])
    expect(out).toMatch(/2 INFO request N took N ms/)
    expect(out).toMatch(/2026-01-02T10:02 2 ERROR disk full:\n2026-01-02T10:03 1 ERROR cannot write/)
  },
  'safe-script': async ({ put, sh, steps }) => {
    expect((await steps([1])).code).toBe(0)
    await put({ 'in/a b.txt': 'x', 'in/c': 'y' })
    expect(await sh('./job.sh in out.tar')).toEqual({ out: 'kept 2 files\n', code: 0 })
    expect((await sh('./job.sh')).out).toContain('usage: job.sh SOURCE TARGET')
    expect((await sh('mkdir out.tar.lock; ./job.sh in out.tar')).code).toBe(75)
    expect(
      (await sh('rmdir out.tar.lock; ./job.sh gone out.tar; echo $?; tar -tf out.tar | grep -c txt; ls -d *.lock')).out,
    ).toMatch(/^[12]\n1\n.*'\*\.lock': No such file/s)
  },
  'check-service': async ({ put, sh, steps }) => {
    await put({
      'up.mjs':
        "import { createServer } from 'node:http'\nimport { spawn } from 'node:child_process'\nconst s = createServer((q, r) => { r.statusCode = q.url === '/bad' ? 503 : 200; r.end() }).listen(0, '127.0.0.1', async () => {\n  const { port } = s.address()\n  const probe = (u) => new Promise((done) => spawn('node', ['probe.mjs', u], { stdio: 'inherit' }).on('close', done))\n  await probe(`http://127.0.0.1:${port}/`); await probe(`http://127.0.0.1:${port}/bad`); s.close(); s.closeAllConnections()\n  await probe(`http://127.0.0.1:${port}/`)\n})\n",
    })
    await steps([1], { 'node probe.mjs http://127.0.0.1:8080/health': '' })
    expect((await sh('node up.mjs')).out.replaceAll(/port \d+/g, 'port N')).toBe(
      'ok   name 127.0.0.1\nok   port N\nok   http 200\nok   name 127.0.0.1\nok   port N\nFAIL http 503\nok   name 127.0.0.1\nFAIL port ECONNREFUSED\n',
    )
  },
  'find-secrets': async ({ put, sh, steps }) => {
    const key = `AKIA${'ABCDEFGHIJKLMNOP'}`
    await put({ 'a.txt': `id=${key}\n`, '.env': 'X=1' })
    await sh(`git init -q; ${commit} oops; git rm -q .env; ${commit} clean`)
    const { out } = await steps([1, 2])
    expect(out).toMatch(/^a\.txt:1:id=AKIA…$/m)
    expect(out).not.toContain(key)
    expect(out).toMatch(/oops[\s\S]*\n\.env\n$/)
  },
  'harden-input': async ({ put, sh, steps }) => {
    await put({
      'src/a.mjs': "import { exec } from 'node:child_process'\nexport const run = (n) => exec('ls ' + n)\n",
      'src/ok.mjs': 'export const x = 1\n',
      'base/in.txt': 'x',
    })
    expect((await steps([1])).out).toMatch(/^src\/a\.mjs:2:/)
    await sh('ln -s /etc base/link')
    await steps([2])
    const probe = (name: string) =>
      sh(`node -e "import('./inside.mjs').then(({ inside }) => console.log(inside('base', '${name}')))"`)
    expect((await probe('in.txt')).out).toMatch(/base\/in\.txt\n$/)
    for (const name of ['../src/a.mjs', '/etc/passwd', 'link/passwd'])
      expect((await probe(name)).out).toContain(`outside: ${name}`)
  },
  'check-permissions': async ({ put, sh, steps }) => {
    await put({ '.env': 'x', 'keys/a.pem': 'x', 'open/x': '' })
    await sh('chmod 644 .env keys/a.pem; chmod 777 open')
    expect((await steps([1])).out.trim().split('\n').sort()).toEqual([
      'readable 644 ./.env',
      'readable 644 ./keys/a.pem',
      'writable 777 ./open',
    ])
    await steps([2])
    expect((await steps([1])).out).not.toContain('.env')
  },
  'break-down-task': async ({ put, steps }) => {
    await put({ 'steps.txt': 'schema import\nimport report\nschema page\npage report\n' })
    const order = (await steps([1])).out.trim().split('\n')
    expect([order[0], order.at(-1)]).toEqual(['schema', 'report'])
    await put({ 'steps.txt': 'a b\nb a\n' })
    expect((await steps([1])).code).not.toBe(0)
  },
  'record-decision': async ({ steps, read, sh }) => {
    await steps([1])
    await steps([1], { 'are-kept-in-sqlite': 'are-shared' })
    expect((await sh('ls docs/decisions')).out).toBe(
      '0001-sessions-are-kept-in-sqlite.md\n0002-sessions-are-shared.md\n',
    )
    expect(await read('docs/decisions/0002-sessions-are-shared.md')).toMatch(
      /^# 0002: .*\n\n\*\*Status:\*\* accepted, 20\d\d-/,
    )
  },
  'make-skill': async ({ put, steps }) => {
    await put({ 'SKILL.md': '---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water.\n' })
    expect(await steps([1])).toEqual({ out: expect.stringMatching(/^\d+\n$/), code: 0 })
    await put({ 'SKILL.md': '---\nname: Tea\ndescription: Makes tea.\n---\n' })
    expect((await steps([1])).code).toBe(1)
  },
  'drive-coding-agent': async ({ put, sh, steps }) => {
    // Stands for an agent that wants a terminal, reads its task there, and says in colours what it did.
    const agent = [
      'import { appendFileSync } from "node:fs"',
      'import { createInterface } from "node:readline"',
      'if (!process.stdout.isTTY || !process.stdin.isTTY) throw new Error("no terminal")',
      'createInterface({ input: process.stdin }).once("line", (task) => {',
      '  appendFileSync("../agent-task/a.txt", task + "\\n")',
      '  console.log("\\u001b[32mdone\\u001b[0m")',
      '  process.exit(0)',
      '})',
    ]
    const body = BUNDLED_BODIES.get('drive-coding-agent')!
    const inline = (start: string) => new RegExp(`\`(${start}[^\`]*)\``).exec(body)![1]!
    await put({ 'main/a.txt': 'one\n', 'main/agent.mjs': agent.join('\n'), 'main/task.txt': 'two\n' })
    await sh(`cd main && git init -q && ${commit} base && ${inline('git worktree add')}`)
    const { out } = await steps([1], { 'script -qefc': 'cd main && AGENT="node agent.mjs" && script -qefc' })
    expect(out.split('\n')).toContain('done')
    const looks = await sh(
      `cd main && ${inline('git -C ../agent-task status')}; ${inline('git -C ../agent-task diff')}`,
    )
    expect(looks.out).toMatch(/^ M a\.txt\n[\s\S]*\n\+two\n$/)
  },
  // Its commands are those of the program itself: tests/cli/skill-hubs.test.ts runs them.
  'use-hermes': async () => {
    expect(blocksOf(BUNDLED_BODIES.get('use-hermes')!)).toHaveLength(1)
  },
}

/** Programs that a case runs, and that may be missing. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'upgrade-dependency': ['npm'],
  'drive-coding-agent': ['script', 'git'],
}

describe.concurrent('a skill that comes with Hermes does what it says:', () => {
  const case_ = (name: string) =>
    it(name, async () => {
      await CASES[name]!(await placeFor(name))
    })
  for (const { name } of BUNDLED_HEADS) {
    const programs = PROGRAMS[name]
    if (programs === undefined) case_(name)
    else needs(missingPrograms(...programs))('with programs of others,', () => case_(name))
  }
})

it('each fits the format, says when not to use it and how to check, and there is a case for each', () => {
  expect(Object.keys(CASES).sort()).toEqual(BUNDLED_HEADS.map(({ name }) => name as string).sort())
  expect(BUNDLED_HEADS.length).toBeGreaterThanOrEqual(30)
  for (const { name, description } of BUNDLED_HEADS) {
    const body = BUNDLED_BODIES.get(name)!
    expect(() =>
      requireStrict(`---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}`, name, parse),
    ).not.toThrow()
    expect(description, name).toMatch(/\bUse (?:when|for|before|after)\b/)
    expect(body, name).toMatch(/^## When to use it\n\n[^#]*\b(?:Not|not) [^#]*^## Steps$/m)
    expect(body, name).toMatch(/^## Check$/m)
    expect(body.split('\n').length, name).toBeLessThan(100)
  }
})

it('no two have a fifth of their lines in common', () => {
  const lines = [...BUNDLED_BODIES].map(([name, body]) => ({
    name,
    lines: new Set(
      body
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.length > 3 && !line.startsWith('#') && !line.startsWith('```')),
    ),
  }))
  for (const [index, one] of lines.entries())
    for (const other of lines.slice(index + 1)) {
      const shared = [...one.lines].filter((line) => other.lines.has(line)).length
      expect(shared / Math.min(one.lines.size, other.lines.size), `${one.name}, ${other.name}`).toBeLessThan(0.2)
    }
})
