import { chmod, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { appendPermission, loadPermissions, removePermission } from '@hermes/config'
import type { Action, ApprovalChoice, ApprovalQuestion, Subject } from '@hermes/contracts/policy'
import { createPolicy, type RevocablePolicy } from '@hermes/safety'
import { temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { currentRules } from './current-rules.js'
import { digestFiles, identifyPrograms } from './deciding-files.js'

let temporary: Awaited<ReturnType<typeof temporaryHome>>
let cwd = ''
let home = ''
let requested: ApprovalQuestion[] = []
let policy: RevocablePolicy

beforeEach(async () => {
  temporary = await temporaryHome()
  const root = temporary.path
  home = join(root, '.hermes')
  cwd = join(root, 'work')
  await mkdir(home, { recursive: true })
  await mkdir(join(cwd, 'sub'), { recursive: true })
  for (const folder of [cwd, join(cwd, 'sub')]) await writeFile(join(folder, 'deploy.sh'), 'echo deployed\n')
  await writeFile(join(cwd, 'Makefile'), 'all:\n\techo made\n')
  await writeFile(join(cwd, 'package.json'), '{"scripts":{"ship":"echo shipped"}}')
  await appendPermission({ home, pattern: 'terminal.*', decision: 'ask' })
  requested = []
  policy = open()
})

afterEach(() => temporary.remove())

/** A process of the same home. */
function open(): RevocablePolicy {
  const opened = createPolicy({
    ...{ mode: 'ask', home, userHome: join(home, '..'), workspace: [cwd] },
    currentRules: currentRules({ home, rules: [], asksAlways: false }),
    digestFiles: (paths, folder) => digestFiles(paths, { cwd: folder, userHome: join(home, '..') }),
    identifyPrograms: (names, folder) =>
      identifyPrograms(names, { path: `bin:${join(cwd, 'tools')}:/usr/bin:/bin`, cwd: folder }),
    onAlways: ({ pattern }) => appendPermission({ home, pattern, decision: 'allow' }),
  })
  opened.listen('*', (_, question) => void requested.push(question))
  return opened
}

const subject = (more: Partial<Subject> = {}): Subject => ({
  ...{ sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false, toolName: 'terminal' },
  ...more,
})
const run = (command: string, more: object = {}): Action => ({ type: 'spawn', command, cwd, backend: 'local', ...more })
const says = async (action: Action, who = subject()) => (await policy.decide(action, who)).type

const always = (action: Action, who = subject()) => answer(action, 'always', who)

async function answer(action: Action, choice: ApprovalChoice, who = subject()): Promise<string | undefined> {
  const decision = await policy.decide(action, who)
  if (decision.type !== 'ask') throw new Error(`expected a question, got ${decision.type}`)
  await policy.answer(decision.approvalId, choice)
  await policy.settled(decision.approvalId)
  return decision.question.grant
}

describe('an "always"', () => {
  it('is shown before it is written, counts for the identical command in every session and process, and is not asked again', async () => {
    const grant = await always(run('bash deploy.sh'))
    expect(grant).toMatch(/^terminal\(bash deploy\.sh\) in "\/.*\/work" with sha256-[0-9a-f]{64}$/)
    expect((await loadPermissions({ home })).rules[grant!]).toBe('allow')
    expect(await says(run('bash deploy.sh'))).toBe('allow')
    expect(await says(run('bash deploy.sh'), subject({ sessionId: 'other', tainted: true }))).toBe('allow')
    policy = open()
    expect(await says(run('bash deploy.sh'))).toBe('allow')
    expect(requested).toHaveLength(1)
  })

  it('is taken back in the runs that go on, as soon as its rule is', async () => {
    const grant = await always(run('bash deploy.sh'))
    const other = open()
    expect((await other.decide(run('bash deploy.sh'), subject())).type).toBe('allow')
    await removePermission({ home, pattern: grant! })
    expect(await says(run('bash deploy.sh'))).toBe('ask')
    expect((await other.decide(run('bash deploy.sh'), subject())).type).toBe('ask')
    await appendPermission({ home, pattern: 'terminal(ls)', decision: 'deny' })
    expect(await says(run('ls'))).toBe('deny')
  })

  it.each<[string, () => Promise<unknown>]>([
    ['holds something else', () => writeFile(join(cwd, 'deploy.sh'), 'rm -rf ~\n')],
    ['holds more', () => writeFile(join(cwd, 'deploy.sh'), 'echo deployed\nid\n')],
    ['holds the same with another end of line', () => writeFile(join(cwd, 'deploy.sh'), 'echo deployed\r\n')],
    ['is gone', () => rm(join(cwd, 'deploy.sh'))],
    [
      'is a folder',
      async () => {
        await rm(join(cwd, 'deploy.sh'))
        await mkdir(join(cwd, 'deploy.sh'))
      },
    ],
    [
      'links to another script',
      async () => {
        await writeFile(join(cwd, 'evil.sh'), 'id\n')
        await rm(join(cwd, 'deploy.sh'))
        await symlink('evil.sh', join(cwd, 'deploy.sh'))
      },
    ],
  ])('does not hold for a script that %s', async (_, change) => {
    await always(run('bash deploy.sh'))
    await change()
    expect(await says(run('bash deploy.sh'))).toBe('ask')
  })

  it('does not hold for any other line', async () => {
    await always(run('bash deploy.sh'))
    for (const command of [
      'bash ./deploy.sh',
      'bash  deploy.sh',
      'bash deploy.sh --force',
      'bash -x deploy.sh',
      'sh deploy.sh',
      './deploy.sh',
      'bash deploy.sh; id',
      'bash deploy.sh && id',
      'bash deploy.sh || id',
      'id; bash deploy.sh',
      'bash deploy.sh | sh',
      'bash deploy.sh > out',
      'bash < deploy.sh',
      'FOO=1 bash deploy.sh',
      'BASH_ENV=x bash deploy.sh',
      'bash deploy.sh &',
      'sudo bash deploy.sh',
      'env bash deploy.sh',
      'cd sub && bash deploy.sh',
      'bash deploy.sh $X',
      'bash deploy.sh $(id)',
      '/tmp/bash deploy.sh',
      'bash deploy.sh\nid',
      'BASH deploy.sh',
      'bash deploy.s?',
      'bash -c "bash deploy.sh"',
      'bash *',
    ])
      expect(await says(run(command)), command).not.toBe('allow')
  })

  it('for a script of Python does not hold for any other line', async () => {
    for (const file of ['x.py', 'y.py', 'sub/x.py']) await writeFile(join(cwd, file), 'print(1)\n')
    await always(run('python3 x.py'))
    expect(await says(run('python3 x.py'))).toBe('allow')
    for (const command of [
      'python3 y.py',
      'python3 x.py y.py',
      'python3 y.py x.py',
      'python3 -m x',
      'python3 -i x.py',
      'python3 ./x.py',
      'python3 -c "import x"',
      'python3 -c id x.py',
      'python3 < x.py',
      'python3 - < x.py',
      'python x.py',
      'pypy3 x.py',
      'PYTHONPATH=sub python3 x.py',
      'env -C sub python3 x.py',
      'python3 x.py <<< id',
      'python3',
      'python3 -',
    ])
      expect(await says(run(command)), command).not.toBe('allow')
  })

  it.each([
    ['python3 x.py', 'x.py'],
    ['python3 -m tool', 'tool.py'],
    ['python3 -m pkg', 'pkg/__main__.py'],
    ['python3 -mpkg.sub', 'pkg/sub.py'],
    ['python3 pkg', 'pkg/__main__.py'],
    ['python3 -W error x.py data', 'data'],
    ['node lib', 'lib/index.js'],
    ['node --import ./hook.mjs x.js', 'hook.mjs'],
    ['ruby -r ./hook.rb x.rb', 'hook.rb'],
    ['perl -Ilib x.pl', 'x.pl'],
  ])('for %s does not hold once %s is another one', async (command, file) => {
    for (const folder of ['pkg', 'lib']) await mkdir(join(cwd, folder))
    await writeFile(join(cwd, file), 'one\n')
    await always(run(command))
    expect(await says(run(command))).toBe('allow')
    await writeFile(join(cwd, file), 'two\n')
    expect(await says(run(command))).toBe('ask')
  })

  it.each([
    ['python3 x.py', { 'x.py': 'import lib.a\n', 'lib/__init__.py': '', 'lib/a.py': '1' }, 'lib/a.py'],
    ['python3 x.py', { 'x.py': 'from lib import (\n  a,\n)\n', 'lib/a.py': '1' }, 'lib/a.py'],
    ['python3 -m lib.b', { 'lib/b.py': 'from . import a\n', 'lib/a.py': '1' }, 'lib/a.py'],
    ['python3 x.py', { 'x.py': 'import y\n', 'y.py': 'import z\n', 'z.py': '1' }, 'z.py'],
    ['python3 x.py', { 'x.py': 'import re\n' }, 'enum.py'],
    ['python3 x.py', { 'x.py': 'import requests\n' }, 'idna/__init__.py'],
    ['node x.js', { 'x.js': "import { a } from './lib/a.js'\n", 'lib/a.js': '1' }, 'lib/a.js'],
    ['node x.js', { 'x.js': "const a = require('./lib')\n", 'lib/index.js': '1' }, 'lib/index.js'],
    ['tsx x.ts', { 'x.ts': "export * from './a.js'\n", 'a.ts': '1' }, 'a.ts'],
    ['bash x.sh', { 'x.sh': 'set -e\n. ./lib/a.sh\n', 'lib/a.sh': '1' }, 'lib/a.sh'],
    ['./x', { x: '#!/bin/sh\nif true; then source lib/a.sh; fi\n', 'lib/a.sh': '1' }, 'lib/a.sh'],
    ['ruby x.rb', { 'x.rb': "require_relative 'lib/a'\n", 'lib/a.rb': '1' }, 'lib/a.rb'],
    ['bash s/x.sh', { 's/x.sh': '. "$(dirname "$0")/lib.sh"\n', 's/lib.sh': '1' }, 's/lib.sh'],
    ['bash s/x.sh', { 's/x.sh': 'A=$(cd "$(dirname "$0")/.." && pwd)\n. "$A/b.sh"\n', 'b.sh': '1' }, 'b.sh'],
    ['bash s/x.sh', { 's/x.sh': 'cd "${BASH_SOURCE%/*}"\n./y\n', 's/y': '#!/bin/sh\n. ./z\n', 's/z': '1' }, 's/z'],
    ['bash s/x.sh', { 's/x.sh': './helper.sh "$@"\n', 'helper.sh': '1' }, 'helper.sh'],
    ['./x', { x: '#!/bin/bash\nset -e\nexec python3 s/x.py\n', 's/x.py': 'import y\n', 's/y.py': '1' }, 's/y.py'],
    ['./x', { x: '#!/bin/sh\n(cd s && make -s)\n', 's/Makefile': 'all:\n' }, 's/Makefile'],
    ['make a', { Makefile: 'include b.mk\n', 'b.mk': 'a:\n\t@echo 1\n' }, 'b.mk'],
    ['make a', { Makefile: 'D = s\n-include $(D)/b.mk\n', 's/b.mk': 'a:\n\t@./t.sh\n', 't.sh': '1' }, 't.sh'],
    [
      'make a',
      { Makefile: 'P=python3\na:\n\t@echo 1; \\\n\t$(P) g.py $@\n', 'g.py': 'import h\n', 'h.py': '1' },
      'h.py',
    ],
    ['make a', { Makefile: 'a: ; bash s/t.sh\n', 's/t.sh': '1' }, 's/t.sh'],
    ['make a', { Makefile: 'V := $(shell ./v.sh)\na:\n\techo $(V)\n', 'v.sh': '1' }, 'v.sh'],
    ['make a', { Makefile: 'a:\n\t$(MAKE) -C s b\n', 's/Makefile': 'b:\n\t./t\n', 's/t': '1' }, 's/t'],
    ['make -C s a', { 's/Makefile': 'a:\n\tsh ./t.sh\n', 's/t.sh': '1' }, 's/t.sh'],
    ['make -C s a', { 's/Makefile': 'a:\n\techo 1\n' }, 's/Makefile'],
    ['make -f s/x.mk', { 's/x.mk': 'a:\n\t./t.sh\n', 't.sh': '1' }, 't.sh'],
    ['make a', { Makefile: 'a:\n\tnpm run b\n', 'package.json': '{"scripts":{"b":"node b.js"}}', 'b.js': '1' }, 'b.js'],
    ['npm run a', { 'package.json': '{"scripts":{"a":"node x.js"}}', 'x.js': "import './y.js'", 'y.js': '1' }, 'y.js'],
    ['npm run a', { 'package.json': '{"scripts":{"prea":"sh ./p.sh","a":"echo 1"}}', 'p.sh': '1' }, 'p.sh'],
    [
      'npm run a',
      { 'package.json': '{"scripts":{"a":"npm run b -- 1","b":"cross-env A=1 tsx b.ts"}}', 'b.ts': '1' },
      'b.ts',
    ],
    [
      'npm run a',
      { 'package.json': '{"scripts":{"a":"lint ."}}', 'node_modules/.bin/lint': '1' },
      'node_modules/.bin/lint',
    ],
    [
      'npm test',
      { 'package.json': '{"scripts":{"test":"bash t.sh"}}', 't.sh': 'lint\n', 'node_modules/.bin/lint': '1' },
      'node_modules/.bin/lint',
    ],
    ['npm --prefix s run a', { 's/package.json': '{"scripts":{"a":"./t"}}', 's/t': '1' }, 's/t'],
    ['cd sub && npm run ship', { 'package.json': '{"scripts":{"ship":"./t"}}', t: '1' }, 't'],
    ['cd sub && npm run ship', { 'package.json': '{"scripts":{"ship":"echo"}}' }, 'sub/package.json'],
    ['pnpm a', { 'package.json': '{"scripts":{"a":"sh -e t.sh"}}', 't.sh': '1' }, 't.sh'],
    ['pnpm lint', { 'node_modules/.bin/lint': '1' }, 'node_modules/.bin/lint'],
    ['just a', { justfile: "import 'b.just'\na:\n  echo\n", 'b.just': 'b:\n  echo\n' }, 'b.just'],
    ['just a', { justfile: 'v := `./v`\na:\n  @sh t.sh {{v}}\n', v: '1', 't.sh': '1' }, 't.sh'],
    ['just a', { justfile: 'v := `./v`\na:\n  echo {{v}}\n', v: '1' }, 'v'],
  ] as const)('for %s does not hold once what it loads is another one: %j', async (command, files, changed) => {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(join(cwd, dirname(file)), { recursive: true })
      await writeFile(join(cwd, file), text)
    }
    await always(run(command))
    await writeFile(join(cwd, 'notes.txt'), 'another')
    expect(await says(run(command))).toBe('allow')
    await mkdir(join(cwd, dirname(changed)), { recursive: true })
    await writeFile(join(cwd, changed), 'changed\n')
    expect(await says(run(command))).toBe('ask')
  })

  it.each([
    '. "$LIB/a.sh"',
    'source "$1"',
    'bash "$(cat list)"',
    'for one in parts/*.sh; do . "$one"; done',
    'eval "$(cat a)"',
    'D=a\nD=b\n. ./$D.sh',
    'find . -name "*.sh" -exec sh {} \\;',
    'cat list | sh',
    './y.sh',
  ])('is not offered for a script that has something run which cannot be followed: %s', async (line) => {
    await writeFile(join(cwd, 'x.sh'), `${line}\n`)
    await writeFile(join(cwd, 'y.sh'), '"$RUN" a\n')
    const decision = await policy.decide(run('bash x.sh'), subject())
    expect(decision).toMatchObject({ type: 'ask', question: { choices: ['once', 'deny'] } })
  })

  it.each([
    ['make a', { Makefile: 'include $(wildcard *.mk)\n' }],
    ['make a', { Makefile: 'T ?= ./t.sh\na:\n\t$(T)\n' }],
    ['make a', { Makefile: 'a:\n\t./$@\n' }],
    ['make a', { Makefile: 'SHELL = ./sh\na:\n\techo\n' }],
    ['make a', { Makefile: '$(eval $(X))\n' }],
    ['make -C "$D" a', { Makefile: 'a:\n' }],
    ['npm run a', { 'package.json': '{"scripts":{"a":"sh \\"$npm_package_config_x\\""}}' }],
    ['npm run ship -w web', {}],
    ['make -I sub all', {}],
    ['pnpm -r ship', {}],
    ['just a', { justfile: 'set shell := ["./sh"]\na:\n  echo\n' }],
    ['just a', { justfile: 'a:\n  {{b}} c\n' }],
  ] as const)('is not offered for %s where what it runs cannot be followed: %j', async (command, files) => {
    for (const [file, text] of Object.entries(files)) await writeFile(join(cwd, file), text)
    const decision = await policy.decide(run(command), subject())
    expect(decision).toMatchObject({ type: 'ask', question: { choices: ['once', 'deny'] } })
  })

  it('is offered for what only names a recipe, and for an installed program whatever starts it', async () => {
    await writeFile(join(cwd, 'Makefile'), 'a:\n\t./$@\n')
    await mkdir(join(cwd, 'node_modules/.bin'), { recursive: true })
    await writeFile(
      join(cwd, 'node_modules/.bin/lint'),
      '#!/bin/sh\nexec node "$(dirname "$0" | sed s/a/b/)/../x.js"\n',
    )
    for (const command of ['git add Makefile', 'docker build .', 'pnpm lint', 'npm run ship -- -w 2'])
      expect(await always(run(command)), command).toContain(command)
  })

  it('follows scripts that load each other, and a large project as far as two hundred files', async () => {
    for (let at = 0; at < 300; at++) await writeFile(join(cwd, `m${at}.py`), `import m${(at + 1) % 300}\n`)
    await always(run('python3 m0.py'))
    expect(await says(run('python3 m0.py'))).toBe('allow')
    await writeFile(join(cwd, 'm150.py'), 'import m151 # changed\n')
    expect(await says(run('python3 m0.py'))).toBe('ask')
  })

  it('holds in no other folder, machine or isolation, and for nobody else', async () => {
    await always(run('bash deploy.sh'), subject({ user: 'ada' }))
    expect(await says(run('bash deploy.sh'), subject({ user: 'ada' }))).toBe('allow')
    expect(await says(run('bash deploy.sh'), subject({ user: 'eve' }))).toBe('ask')
    expect(await says(run('bash deploy.sh'))).toBe('ask')
    const elsewhere = [{ cwd: join(cwd, 'sub') }, { cwd: join(cwd, '..') }, { backend: 'ssh' }, { backend: 'docker' }]
    for (const place of [...elsewhere, { outside: true }])
      expect(await says(run('bash deploy.sh', place), subject({ user: 'ada' })), JSON.stringify(place)).toBe('ask')
  })

  it.each([
    'bash() { id; }',
    'alias bash=id',
    'export PATH=/evil:$PATH',
    'hash -p /evil bash',
    'function bash { id; }',
    'bash() if true; then id; fi',
    'BASH_ALIASES[bash]=id',
    'declare -x PATH=/evil:$PATH',
    'export "PATH=/evil:$PATH"',
    'read -r PATH < list',
    'eval "bash() { id; }"',
    'true && PATH=/evil:$PATH',
    'enable -n echo',
    'export PYTHONPATH=sub',
    'export NODE_OPTIONS="--require ./x.js"',
    'declare -x PERL5LIB=sub',
  ])('does not hold in a session whose shell ran %j', async (command) => {
    await always(run('bash deploy.sh'))
    await answer(run(command), 'once')
    expect(await says(run('bash deploy.sh'))).toBe('ask')
    expect(await says(run('bash deploy.sh'), subject({ sessionId: 'other' }))).toBe('allow')
  })

  it('binds recipes: make and npm ask again when their files change', async () => {
    await always(run('make all'))
    await always(run('npm run ship'))
    expect(await says(run('make all'))).toBe('allow')
    await writeFile(join(cwd, 'Makefile'), 'all:\n\tid\n')
    expect([await says(run('make all')), await says(run('npm run ship'))]).toEqual(['ask', 'allow'])
    await writeFile(join(cwd, 'package.json'), '{"scripts":{"ship":"id"}}')
    expect(await says(run('npm run ship'))).toBe('ask')
  })

  it.each([
    ...[
      'sudo ls',
      'env ls',
      'timeout 5 ls',
      'bash -c ls',
      'eval ls',
      'xargs rm < list',
      'find . -exec ls {} +',
      'ssh h ls',
    ],
    ...['docker exec web ls', 'npx tsc', 'npm exec -- tsc', 'rm -rf $D', 'rm -rf "$(cat x)"', 'X=1 make', '. ./env.sh'],
    ...['git rebase -x "npm test" main', 'rm -rf "a\u202eb"'],
  ])('is not offered for %j', async (command) => {
    await policy.decide(run(command), subject())
    expect(requested.at(-1)?.choices).not.toContain('always')
    expect(requested.at(-1)?.grant).toBeUndefined()
  })

  it('is for the method of a request, and for one file', async () => {
    const get: Action = { type: 'fetch', url: 'http://localhost:3000/a', method: 'get' }
    expect(await always(get)).toBe('web(http://localhost:3000/*) by GET')
    expect(await says(get)).toBe('allow')
    expect(await says({ ...get, method: 'POST' })).toBe('ask')
    expect(await says({ ...get, url: 'http://localhost:3001/a' })).toBe('ask')
    const write: Action = { type: 'write', path: '/etc/x', operation: 'write', backend: 'local' }
    await always(write)
    expect([await says(write), await says({ ...write, path: '/etc/y' })]).toEqual(['allow', 'ask'])
    expect(await says({ ...write, operation: 'remove' })).toBe('ask')
  })
})

describe('a grant for the session', () => {
  /** What was allowed, and what is not the same: another line, or the same one after something changed. */
  const SUBSTITUTIONS: readonly (readonly [allowed: string, then: string, change?: () => Promise<unknown>])[] = [
    ['bash deploy.sh', 'bash deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['bash deploy.sh', 'bash deploy.sh', () => rm(join(cwd, 'deploy.sh'))],
    ['bash deploy.sh', 'bash deploy.sh', () => linkTo('deploy.sh', 'evil.sh')],
    ['bash deploy.sh', 'bash deploy.sh prod'],
    ['bash deploy.sh', 'bash -x deploy.sh'],
    ['bash deploy.sh', 'sh deploy.sh'],
    ['bash deploy.sh', './deploy.sh'],
    ['bash deploy.sh', 'bash deploy.sh; id'],
    ['bash deploy.sh', 'bash deploy.sh | sh'],
    ['bash deploy.sh', 'bash deploy.sh > out'],
    ['bash deploy.sh', 'FOO=1 bash deploy.sh'],
    ['bash deploy.sh', 'cd sub && bash deploy.sh'],
    ['bash deploy.sh', 'nice bash deploy.sh'],
    ['bash deploy.sh', 'bash deploy.sh', () => plant('bin/bash')],
    ['bash deploy.sh', 'bash deploy.sh', () => plant('tools/bash')],
    ['bash < deploy.sh', 'bash < deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['node deploy.sh', 'node deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['./deploy.sh', './deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['. ./deploy.sh', '. ./deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['sudo bash deploy.sh', 'sudo bash deploy.sh', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['sudo bash deploy.sh', 'sudo bash deploy.sh', () => plant('bin/sudo')],
    ['timeout 5 bash deploy.sh', 'timeout 5 bash deploy.sh', () => plant('tools/timeout')],
    ['bash -c "./deploy.sh"', 'bash -c "./deploy.sh"', () => writeFile(join(cwd, 'deploy.sh'), 'id\n')],
    ['make all', 'make all', () => writeFile(join(cwd, 'Makefile'), 'all:\n\tid\n')],
    ['make all', 'make all', () => writeFile(join(cwd, 'GNUmakefile'), 'all:\n\tid\n')],
    ['make all', 'make ship'],
    ['make all', 'make -f Other all'],
    ['npm run ship', 'npm run ship', () => writeFile(join(cwd, 'package.json'), '{"scripts":{"ship":"id"}}')],
    ['npm run ship', 'npm run ship', () => writeFile(join(cwd, '.npmrc'), 'script-shell=./evil\n')],
    ['npm i -g x', 'npm i -g ./evil'],
    [
      'npm i -g ./sub',
      'npm i -g ./sub',
      () => writeFile(join(cwd, 'sub/package.json'), '{"scripts":{"install":"id"}}'),
    ],
    ['pip install ./sub', 'pip install ./sub', () => writeFile(join(cwd, 'sub/setup.py'), 'id\n')],
    ['tool run', 'tool run', () => writeFile(join(cwd, 'tools/tool'), '#!/bin/sh\nls\n')],
    ['tool run', 'tool run', () => plant('bin/tool')],
    ['tool run', 'tool run', () => rename(join(cwd, 'tools/tool'), join(cwd, 'tools/other'))],
    ['tool run', 'tool stop'],
    ['rm -rf dist', 'rm -rf src'],
    ['git reset --hard', 'git reset --hard HEAD~9'],
    ['xargs rm < list', 'xargs rm < list', () => writeFile(join(cwd, 'list'), 'src\n')],
    ['ssh host uptime', 'ssh other uptime'],
  ]
  const plant = async (file: string) => {
    await mkdir(join(cwd, file, '..'), { recursive: true })
    await writeFile(join(cwd, file), '#!/bin/sh\nid\n')
    await chmod(join(cwd, file), 0o755)
  }
  const linkTo = async (file: string, target: string) => {
    await writeFile(join(cwd, target), 'id\n')
    await rm(join(cwd, file))
    await symlink(target, join(cwd, file))
  }

  beforeEach(async () => {
    await writeFile(join(cwd, 'list'), 'a\n')
    await plant('tools/tool')
  })

  const rows = SUBSTITUTIONS.map(([first, then, change]) => ({ first, then, change }))
  it.each(rows)(
    'for $first is not asked for again, and is none for $then after a change',
    async ({ first, then, change }) => {
      expect(SUBSTITUTIONS).toHaveLength(40)
      await answer(run(first), 'session')
      expect(await says(run(first))).toBe('allow')
      await change?.()
      expect(await says(run(then))).toBe('ask')
    },
  )

  it('is none for another folder, machine or session, nor for what leaves the isolation', async () => {
    await answer(run('bash deploy.sh'), 'session')
    for (const place of [{ cwd: join(cwd, 'sub') }, { backend: 'ssh' }, { outside: true }])
      expect(await says(run('bash deploy.sh', place)), JSON.stringify(place)).toBe('ask')
    expect(await says(run('bash deploy.sh'), subject({ sessionId: 'other' }))).toBe('ask')
  })

  it('ends when names come to mean other programs, and may be given again', async () => {
    await answer(run('bash deploy.sh'), 'session')
    await answer(run('export PATH=/evil:$PATH'), 'once')
    expect(await says(run('bash deploy.sh'))).toBe('ask')
    await answer(run('bash deploy.sh'), 'session')
    expect(await says(run('bash deploy.sh'))).toBe('allow')
  })

  it('is for a line with a file of more than 20 MB, until that file changes', async () => {
    const dump = join(cwd, 'dump.sql')
    await writeFile(dump, '')
    await truncate(dump, 30_000_000)
    const line = run('psql -f dump.sql')
    await answer(line, 'session')
    expect(await says(line)).toBe('allow')
    await writeFile(dump, 'x', { flag: 'r+' })
    expect(await says(line)).toBe('ask')
  })

  it.each([
    'git commit -m "add function to parse"',
    "cat > a.js <<'EOF'\nfunction f() { return 1 }\nEOF",
    "node -e 'function b(){}; b()'",
    'PATH=$PATH:./node_modules/.bin tsc',
    'env PATH=/opt/bin:$PATH tsc',
    'echo "alias x=y" > notes',
    'alias',
  ])('goes on after %j, which changes no names in the shell', async (command) => {
    await answer(run('rm -rf dist'), 'session')
    await always(run('rm -rf out'))
    await answer(run(command), 'once')
    expect([await says(run('rm -rf dist')), await says(run('rm -rf out'))]).toEqual(['allow', 'allow'])
  })

  it('goes on after a command that was refused', async () => {
    await answer(run('rm -rf dist'), 'session')
    await answer(run('export PATH=/evil:$PATH'), 'deny')
    expect(await says(run('rm -rf dist'))).toBe('allow')
  })

  it('is for a line that defines a function of its own, until another one does', async () => {
    const line = run('clean() { rm -rf dist; }; clean')
    await answer(line, 'session')
    for (const _ of [1, 2, 3]) expect(await says(line)).toBe('allow')
    await answer(run('rm() { id; }'), 'once')
    expect(await says(line)).toBe('ask')
  })

  it.each(['bash deploy.sh "$X"', 'rm -rf $(cat list)', 'cat > a <<E\n$X\nE', 'bash $(cat list)'])(
    'is not offered for %j, which is another one each time',
    async (command) => {
      await policy.decide(run(command), subject())
      expect(requested.at(-1)?.choices).not.toContain('session')
    },
  )
})

it('binds an "always" to the program that is found, not to its name alone', async () => {
  await mkdir(join(cwd, 'tools'))
  await writeFile(join(cwd, 'tools/tool'), '#!/bin/sh\n')
  await chmod(join(cwd, 'tools/tool'), 0o755)
  expect(await always(run('git status -s'))).not.toContain('sha256')
  expect(await always(run('tool run'))).toContain('sha256')
  expect(await says(run('tool run'))).toBe('allow')
  await writeFile(join(cwd, 'tools/tool'), '#!/bin/sh\nid\n')
  expect(await says(run('tool run'))).toBe('ask')
  await writeFile(join(cwd, 'tools/git'), '#!/bin/sh\nid\n')
  await chmod(join(cwd, 'tools/git'), 0o755)
  expect(await says(run('git status -s'))).toBe('ask')
})
