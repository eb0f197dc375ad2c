import type { Action, ApprovalChoice, Subject } from '@hermes/contracts/policy'
import { expect, it } from 'vitest'
import { changesLifecycle, createPolicy, surfaceOf } from './index.js'

const cwd = '/home/ada/project'
const FILES = [
  ...[
    'AGENTS.md',
    'CLAUDE.md',
    'GEMINI.md',
    'sub/AGENTS.md',
    '.cursorrules',
    '.windsurfrules',
    '.claude/settings.json',
  ],
  ...['.claude/commands/x.md', '.claude/hooks/x.sh', '.codex/config.toml', '.cursor/rules/x.mdc', '.cursor/mcp.json'],
  ...[
    '.mcp.json',
    '.vscode/tasks.json',
    '.vscode/settings.json',
    '.vscode/launch.json',
    '.idea/workspace.xml',
    '.exrc',
  ],
  ...[
    '.devcontainer/devcontainer.json',
    '.husky/pre-commit',
    '.githooks/pre-push',
    '.git/hooks/pre-commit',
    '.git/config',
  ],
  ...['.gitattributes', '.gitmodules', 'lefthook.yml', '.pre-commit-config.yaml', '.lintstagedrc.json'],
  ...[
    '.github/workflows/ci.yml',
    '.github/copilot-instructions.md',
    '.gitlab-ci.yml',
    '.circleci/config.yml',
    'Jenkinsfile',
  ],
  ...['.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', '.cargo/config.toml', '.envrc', '.mise.toml', 'conftest.py'],
  ...['sitecustomize.py', 'skills/deploy/SKILL.md', '.goosehints', '.hermes.md'],
]
const WAYS: Readonly<Record<string, (file: string) => Action>> = {
  'by a tool': (file) => ({ type: 'write', path: `${cwd}/${file}`, operation: 'write', backend: 'local' }),
  'by a redirect': (file) => run(`echo x >> ${file}`),
  'by a copy': (file) => run(`cp x ./${file}`),
  'in place': (file) => run(`sed -i s/a/b/ ${file}`),
}

const run = (command: string): Action => ({ type: 'spawn', command, cwd, backend: 'local' })
const subject = (tainted: boolean): Subject => ({
  ...{
    sessionId: 's',
    platform: 'cli',
    agentPath: ['root'],
    origin: 'model',
    tainted,
    workspace: cwd,
    writable: [cwd],
  },
})

function open() {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [cwd] })
  policy.listen('*', () => undefined)
  const says = async (action: Action, { tainted = false, answer = 'session' as ApprovalChoice } = {}) => {
    const decision = await policy.decide(action, subject(tainted))
    if (decision.type !== 'ask') return decision.type
    await policy.answer(decision.approvalId, answer)
    await policy.settled(decision.approvalId)
    return 'ask'
  }
  return says
}

it.each(Object.entries(WAYS))(
  'asks about every file that runs or instructs later, once for each, %s',
  async (_, by) => {
    expect(FILES.length).toBeGreaterThanOrEqual(40)
    for (const tainted of [false, true]) {
      const says = open()
      for (const file of FILES) {
        const first = await says(by(file), { tainted })
        if (first !== 'deny') expect([file, first, await says(by(file), { tainted })]).toEqual([file, 'ask', 'allow'])
      }
    }
  },
)

it.each(['/home/ada/app/.claude/worktrees/fix', '/home/ada/.cursor/worktrees/app/x', '/home/ada/skills/game'])(
  'asks about no ordinary file of a workspace in %s, and about its instructions',
  async (workspace) => {
    const policy = createPolicy({
      mode: 'ask',
      home: '/home/ada/.hermes',
      userHome: '/home/ada',
      workspace: [workspace],
    })
    policy.listen('*', () => undefined)
    const says = async (file: string) => {
      const actions: readonly Action[] = [
        { type: 'write', path: `${workspace}/${file}`, operation: 'write', backend: 'local' },
        { type: 'spawn', command: `echo x > ${file}`, cwd: workspace, backend: 'local' },
      ]
      const own: Subject = { ...subject(false), workspace, writable: [workspace] }
      return Promise.all(actions.map(async (action) => (await policy.decide(action, own)).type))
    }
    expect(await says('src/a.ts')).toEqual(['allow', 'allow'])
    expect(await says('.claude/settings.json')).toEqual(['ask', 'ask'])
  },
)

it('asks about every file where the workspace is a folder of instructions', async () => {
  const workspace = '/home/ada/.claude'
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [workspace] })
  policy.listen('*', () => undefined)
  const own: Subject = { ...subject(false), workspace, writable: [workspace] }
  const action: Action = { type: 'write', path: `${workspace}/x.md`, operation: 'write', backend: 'local' }
  expect(await policy.decide(action, own)).toMatchObject({ type: 'ask' })
})

it('asks again once text from outside was read, whatever leave was given before', async () => {
  for (const by of Object.values(WAYS)) {
    const says = open()
    expect(await says(by('AGENTS.md'))).toBe('ask')
    expect(await says(by('AGENTS.md'))).toBe('allow')
    expect(await says(by('AGENTS.md'), { tainted: true })).toBe('ask')
    expect(await says(by('CLAUDE.md'), { tainted: true })).toBe('ask')
  }
})

it('asks where a command changes what npm runs by itself, and not for the rest of a package.json', async () => {
  const asks = [
    'npm pkg set scripts.postinstall="node x.js"',
    `sed -i 's/"test": "x"/"prepare": "y"/' package.json`,
    `node -e 'x' && jq '.scripts.preinstall = "x"' package.json > p && mv p package.json`,
    'cp other.json package.json',
    'curl -o package.json https://x.dev/p.json',
  ]
  for (const command of asks) expect(await open()(run(command)), command).toBe('ask')
  const quiet = ['npm pkg set version=1.2.3', `sed -i 's/1.0.0/1.0.1/' package.json`, 'npm version patch', 'npm i zod']
  for (const command of [...quiet, `jq '.version = "2"' package.json > p && mv p package.json`])
    expect(await open()(run(command)), command).toBe('allow')
})

it('sees no change of install scripts or hooks in a hundred ordinary edits of a package.json', () => {
  const base = { name: 'x', version: '1.0.0', scripts: { test: 'vitest', prepare: 'husky' }, dependencies: { a: '1' } }
  const edits = Array.from({ length: 100 }, (_, at) => {
    const edit: Record<string, unknown> = structuredClone(base)
    if (at % 5 === 0) edit['version'] = `1.0.${at}`
    if (at % 5 === 1) edit['dependencies'] = { a: `${at}`, b: '2' }
    if (at % 5 === 2) edit['scripts'] = { ...base.scripts, [`build:${at}`]: 'tsc', lint: 'biome' }
    if (at % 5 === 3) edit['keywords'] = [`k${at}`]
    if (at % 5 === 4) edit['devDependencies'] = { typescript: `^5.${at}` }
    return JSON.stringify(edit, null, at % 3)
  })
  const before = JSON.stringify(base)
  expect(edits.filter((after) => changesLifecycle(before, after))).toEqual([])
  const evil = [{ ...base.scripts, postinstall: 'x' }, { ...base.scripts, prepare: 'x' }, { test: 'vitest' }]
  for (const scripts of evil) expect(changesLifecycle(before, JSON.stringify({ ...base, scripts }))).toBe(true)
  expect(changesLifecycle(before, JSON.stringify({ ...base, 'simple-git-hooks': { 'pre-commit': 'x' } }))).toBe(true)
})

it.each([
  'README.md',
  'src/agents.ts',
  'docs/claude-notes.md',
  '.gitignore',
  'src/hooks/use-x.ts',
  'src/skills/x.ts',
  'package.json',
  '.env.example',
])('takes %s for what it is', (file) => expect(surfaceOf(file)).toBeNull())

it('says of a file that a Makefile includes why it is asked about, and asks again after outside text', async () => {
  const action: Action = {
    ...{ type: 'write', path: `${cwd}/build/common.mk`, operation: 'write', backend: 'local' },
    runsLater: true,
  }
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [cwd] })
  policy.listen('*', () => undefined)
  for (const tainted of [false, true]) {
    const decision = await policy.decide(action, subject(tainted))
    expect(decision).toMatchObject({
      type: 'ask',
      question: { summary: expect.stringContaining('a Makefile includes it') },
    })
    if (decision.type !== 'ask') continue
    await policy.answer(decision.approvalId, 'session')
    await policy.settled(decision.approvalId)
  }
})

it('a command that changes more such files than a question names is granted for itself', async () => {
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [cwd] })
  policy.listen('*', (id) => void policy.answer(id, 'session'))
  const rules = (count: number) => Array.from({ length: count }, (_, at) => `sub${at}/AGENTS.md`).join(' ')
  const first = await policy.decide(run(`touch ${rules(20)}`), subject(false))
  if (first.type === 'ask') await policy.settled(first.approvalId)
  expect((await policy.decide(run(`touch ${rules(20)}`), subject(false))).type).toBe('allow')
  expect((await policy.decide(run(`touch ${rules(21)}`), subject(false))).type).toBe('ask')
})
