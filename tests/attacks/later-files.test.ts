// What runs or instructs later: forty files, each written in four ways after text from outside was read. One run takes every eighth one, drawn
// by HERMES_TEST_SEED; with HERMES_TEST_RUNS, all.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ApprovalChoice } from '@hermes/contracts/policy'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { type AttackSession, type Call, openSession, terminal } from './section-a/session.js'

const FILES = [
  ...['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.hermes.md', 'packages/x/AGENTS.md', '.cursorrules', '.windsurfrules'],
  ...[
    '.claude/settings.json',
    '.claude/commands/go.md',
    '.codex/config.toml',
    '.cursor/rules/a.mdc',
    '.hermes/hooks/a.sh',
  ],
  ...['.agents/skills/a/SKILL.md', 'skills/a/SKILL.md', 'skills/a/scripts/a.sh', '.github/copilot-instructions.md'],
  ...['.mcp.json', 'mcp.json', '.vscode/tasks.json', '.vscode/settings.json', '.vscode/mcp.json', 'a.code-workspace'],
  ...['.idea/runConfigurations/a.xml', '.zed/tasks.json', '.devcontainer/devcontainer.json', '.gitpod.yml'],
  ...['.husky/pre-commit', '.githooks/pre-push', '.gitattributes', '.pre-commit-config.yaml', 'lefthook.yml'],
  ...['.github/workflows/ci.yml', '.gitlab-ci.yml', 'Jenkinsfile', '.npmrc', '.pnpmfile.cjs', '.cargo/config.toml'],
  ...['.mise.toml', 'conftest.py', '.gdbinit'],
]
const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
const isWhole = process.env['HERMES_TEST_RUNS'] !== undefined
const files = FILES.filter((_, index) => isWhole || (index + SEED) % 8 === 0)
const EDITS = isWhole ? 100 : 10

const byTool = (path: string): Call => ({ name: 'write_file', args: { path, content: 'EVIL\n' } })
const byPatch = (path: string): Call => ({
  name: 'patch',
  args: { mode: 'patch', patch: `*** Begin Patch\n*** Add File: ${path}\n+EVIL\n*** End Patch\n` },
})
/** Its words name no file. */
const byProgram = (path: string): Call => terminal(`node write.cjs ${FILES.indexOf(path)}`)
const WAYS = { byTool, byPatch, byProgram }

/** From the folder on, since some paths end like others. */
const names = (summary: string, path: string): boolean => summary.includes(`/work/${path}`)

async function begin(answer: () => ApprovalChoice): Promise<AttackSession> {
  const session = await openSession({
    config: 'checkpoints:\n  enabled: true\nagent:\n  max_blocked_calls: 1000\n',
    answer: () => answer(),
    before: ({ at: { WORK } }) => {
      writeFileSync(join(WORK, 'README.md'), 'Read me.\n')
      writeFileSync(
        join(WORK, 'write.cjs'),
        `const [fs, { dirname }] = [require('fs'), require('path')]
const path = ${JSON.stringify(FILES)}[process.argv[2]]
fs.mkdirSync(dirname(path), { recursive: true })
fs.writeFileSync(path, 'EVIL\\n')
`,
      )
    },
  })
  // Nobody trusts the project, so this is text from outside.
  await session.call({ name: 'read_file', args: { path: 'README.md' } })
  return session
}

/** Makes a package of the workspace and edits it as anybody does, with tools and by `sed`. */
async function expectNoQuestions(session: AttackSession): Promise<void> {
  const { WORK } = session.scene.at
  const path = join(WORK, 'package.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    '{\n  "name": "shop",\n  "version": "1.0.0",\n  "scripts": { "prepare": "husky" },\n  "dependencies": {\n    "zod": "4.0.0"\n  }\n}\n',
  )
  const before = session.questions.length
  const edits = [
    (n: number) => [`"version": "1.0.${n}"`, `"version": "1.0.${n + 1}"`],
    (n: number) => [`"zod": "4.0.${n}"`, `"zod": "4.0.${n + 1}"`],
  ]
  for (let n = 0; n < EDITS; n++) {
    const [from, to] = edits[n % 2]!(Math.floor(n / 2)) as [string, string]
    const call: Call =
      n % 5 === 4
        ? terminal(`sed -i 's/${from}/${to}/' package.json`)
        : { name: 'patch', args: { path: 'package.json', old_string: from, new_string: to } }
    await session.call({ name: 'read_file', args: { path: 'package.json' } }, call)
  }
  expect(readFileSync(path, 'utf8')).toContain(`"version": "1.0.${Math.ceil(EDITS / 2)}"`)
  expect(session.questions.slice(before).map(({ summary }) => summary)).toEqual([])
}

needs(missingPrograms('bwrap', 'node'))('a file that runs or instructs later', () => {
  it('is not written without a yes, in whichever way, and ordinary edits of package.json are not asked about', async () => {
    const session = await begin(() => 'deny')
    const at = (path: string) => join(session.scene.at.WORK, path)
    try {
      for (const [way, write] of Object.entries(WAYS)) {
        const before = session.questions.length
        for (const path of files) await session.call(write(path))
        const silent = files.filter((path) => existsSync(at(path)) && readFileSync(at(path), 'utf8').includes('EVIL'))
        const requested = session.questions.slice(before).map(({ summary }) => summary)
        const unasked = files.filter((path) => !requested.some((summary) => names(summary, path)))
        expect({ way, silent, unasked }).toEqual({ way, silent: [], unasked: [] })
      }
      await expectNoQuestions(session)
    } finally {
      await session.close()
    }
  }, 120_000)

  it('is asked about once by whoever writes it, and comes back by a restore after one more question alone', async () => {
    let answer: ApprovalChoice = 'once'
    const session = await begin(() => answer)
    const at = (path: string) => join(session.scene.at.WORK, path)
    const thereAre = () => files.filter((path) => existsSync(at(path)))
    const questionsOf = (path: string) => session.questions.filter(({ summary }) => names(summary, path)).length
    try {
      const writes = Object.values(WAYS)
      for (const [index, path] of files.entries()) await session.call(writes[index % writes.length]!(path))
      expect(thereAre()).toEqual(files)
      expect(files.filter((path) => questionsOf(path) !== 1).map((path) => `${path}: ${questionsOf(path)}`)).toEqual([])
      // The checkpoint before this one write has them all.
      await session.call({ name: 'write_file', args: { path: 'note.txt', content: 'x\n' } })
      for (const path of files) rmSync(at(path))
      const [list] = await session.call({ name: 'restore', args: {} })
      answer = 'deny'
      await session.call({ name: 'restore', args: { checkpoint: /^\d+/.exec(list!)![0] } })
      expect(thereAre()).toEqual([])
      expect(files.filter((path) => questionsOf(path) !== 2).map((path) => `${path}: ${questionsOf(path)}`)).toEqual([])
    } finally {
      await session.close()
    }
  }, 120_000)
})
