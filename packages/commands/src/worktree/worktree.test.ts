import { execFile, execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandContext, CommandOutput, CommandTable } from '@hermes/contracts/extension'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commandsOfViews } from '../session/view-commands.js'
import { leaveWorktree, makeWorktree, plainShell, pruneTable, type RunShell, worktreeTable } from './index.js'
import { worktreeCommand } from './worktree-command.js'

const NOBODY = 4_194_304
const AS = '-c user.name=me -c user.email=me@localhost'
let root: string

const shell: RunShell = (command, cwd) =>
  new Promise((resolve) =>
    execFile('/bin/sh', ['-c', command], { cwd }, (error, stdout, stderr) =>
      resolve({ output: error ? stdout + stderr : stdout, exitCode: error ? 1 : 0 }),
    ),
  )
let run: RunShell
const sh = (command: string, cwd = root) => execFileSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8' })
const commit = (cwd: string, file: string) =>
  sh(`echo ${file} > ${file} && git add ${file} && git ${AS} commit -qm ${file}`, cwd)
const cells = ({ rows }: CommandTable) => rows.map(({ cells: [, branch, state] }) => `${branch} ${state}`)

beforeEach(async () => {
  run = plainShell(shell)
  root = realpathSync(await mkdtemp(join(tmpdir(), 'hermes-worktree-')))
  sh('git init -q -b main')
  await mkdir(join(root, 'src'))
  commit(root, 'a')
  commit(join(root, 'src'), 'b')
})
afterEach(() => rm(root, { recursive: true }))

it('makes one at the newest commit, in the same folder of it, which the repository does not see and no hook hears of', async () => {
  await writeFile(join(root, '.git/hooks/post-checkout'), '#!/bin/sh\ntouch hooked\n', { mode: 0o755 })
  const made = await makeWorktree(run, join(root, 'src'), { name: 'one', pid: process.pid })
  expect(made).toMatchObject({ cwd: join(root, '.worktrees/one/src'), branch: 'hermes/one' })
  expect(sh('git status --porcelain')).toBe('')
  expect([existsSync(join(made.cwd, 'b')), existsSync(join(made.path, 'hooked'))]).toEqual([true, false])
  // Another one is made beside it, not within.
  expect(await makeWorktree(run, made.cwd, { name: 'two', pid: NOBODY })).toMatchObject({
    cwd: join(root, '.worktrees/two/src'),
  })
  await expect(makeWorktree(run, root, { name: 'one', pid: NOBODY })).rejects.toThrow(/already exists/)
  await expect(makeWorktree(run, root, { name: '$(x)', pid: NOBODY })).rejects.toThrow('is no name for a worktree')
  await expect(makeWorktree(run, tmpdir(), { name: 'x', pid: NOBODY })).rejects.toThrow('is in no git repository')
})

it('goes when its work ends, unless something would be lost', async () => {
  const empty = await makeWorktree(run, root, { name: 'empty', pid: process.pid })
  expect(await leaveWorktree(run, empty)).toBe('The worktree had nothing new and is gone.')
  expect([existsSync(empty.path), sh('git branch --list hermes/empty')]).toEqual([false, ''])

  const full = await makeWorktree(run, root, { name: 'full', pid: process.pid })
  commit(full.path, 'c')
  await writeFile(join(full.path, 'd'), '')
  expect(await leaveWorktree(run, full)).toBe(
    `Your work is in ${full.path} on branch hermes/full: 1 commit that is nowhere else, 1 file that is not committed. To take it over: git merge hermes/full`,
  )
  expect(existsSync(join(full.path, 'd'))).toBe(true)
})

it('clears away what nobody is in and what has nothing new, a commit that was taken over as another one included', async () => {
  const made = async (name: string, pid = NOBODY) => (await makeWorktree(run, root, { name, pid })).path
  await made('clean')
  await made('busy', process.pid)
  const squashed = await made('squashed')
  commit(squashed, 'e')
  commit(squashed, 'f')
  sh(`git ${AS} merge -q --squash hermes/squashed && git ${AS} commit -qm both`)
  await writeFile(join(await made('dirty'), 'a'), 'changed')
  const kept = [
    `hermes/busy kept: it is locked: hermes, process ${process.pid}`,
    'hermes/dirty kept: 1 file that is not committed',
  ]
  const trial = cells(await pruneTable(run, root, { isTrial: true }))
  expect(trial.toSorted()).toEqual([kept[0], 'hermes/clean would go', kept[1], 'hermes/squashed would go'])
  await pruneTable(run, root, { isTrial: false })
  expect(cells(await worktreeTable(run, root)).toSorted()).toEqual(kept.map((line) => line.replace('kept: ', '')))
}, 120_000)

it('clears away nothing that would be lost: the last of two branches, ignored files, folders of the person, what cannot be read', async () => {
  const made = async (name: string) => (await makeWorktree(run, root, { name, pid: NOBODY })).path
  const one = await made('one')
  commit(one, 'g')
  sh('git merge -q hermes/one', await made('same'))
  sh('git config status.showUntrackedFiles no')
  await writeFile(join(root, '.git/info/exclude'), '*.env\nbuild/\ndata/\n')
  const ignored = await made('ignored')
  await writeFile(join(ignored, 'secret.env'), 'KEY=1')
  await mkdir(join(ignored, 'data'))
  await writeFile(join(ignored, 'data/x'), '')
  await writeFile(join(await made('untracked'), 'new'), '')
  const built = await made('built')
  await mkdir(join(built, 'build'))
  await writeFile(join(built, 'build/x'), '')
  const theirs = `${root}-theirs`
  sh(`git worktree add -q -b theirs ${theirs}`)
  await writeFile(join(await made('broken'), '.git'), 'gitdir: /nowhere')
  const rows = cells(await pruneTable(run, root, { isTrial: false }))
  await rm(theirs, { recursive: true })
  expect(rows.filter((line) => /^hermes\/(?:one|same) gone$/.test(line))).toHaveLength(1)
  expect(rows.filter((line) => /^hermes\/(?:one|same) kept: its commits are nowhere else$/.test(line))).toHaveLength(1)
  expect(sh('git branch --all --contains hermes/one 2> /dev/null || git branch --contains hermes/same')).not.toBe('')
  expect(rows).toEqual(
    expect.arrayContaining([
      'hermes/ignored kept: 2 ignored files or folders',
      'hermes/untracked kept: 1 file that is not committed',
      'hermes/built gone',
      'hermes/broken kept: its files cannot be looked at',
      'theirs kept: Hermes did not make it',
    ]),
  )
}, 120_000)

it('is made where the folder it was asked for in stands, and in its root where that folder is not committed', async () => {
  const first = await makeWorktree(run, root, { name: 'first', pid: NOBODY })
  commit(first.path, 'only-there')
  await mkdir(join(first.path, 'build'))
  const second = await makeWorktree(run, join(first.path, 'build'), { name: 'second', pid: NOBODY })
  expect([second.cwd, existsSync(join(second.path, 'only-there'))]).toEqual([second.path, true])
})

it('/worktree new begins a session in a new one; list and prune look where the session works', async () => {
  const runOwn = (command: string) => shell(`${command}; code=$?; [ "$PWD" = / ] && exit $code`, '/')
  const context = { session: { cwd: root, runOwn }, signal: new AbortController().signal }
  const type = (args: object) => worktreeCommand().run(args as never, context as unknown as CommandContext)
  const [change, notified] = (await type({ verb: 'new', name: 'mine' })) as readonly CommandOutput[]
  expect(change).toEqual({ type: 'change', change: { type: 'new-in', cwd: join(root, '.worktrees/mine') } })
  expect(notified).toMatchObject({ text: expect.stringContaining('on branch hermes/mine') })
  expect(cells((await type({ verb: 'list' })) as CommandTable)).toHaveLength(1)
  expect(cells((await type({ verb: 'prune' })) as CommandTable)[0]).toContain('kept: it is locked')
})

it('runs no filter, merge driver or monitor of the repository', async () => {
  const canary = join(root, '.git/canary')
  const program = join(root, '.git/program.sh')
  await writeFile(program, `#!/bin/sh\necho "$*" >> '${canary}'\ncat\n`, { mode: 0o755 })
  commit(root, 'c')
  const names = { a: 'evil', b: 'e\u2028vil', c: 'e=vil' }
  const drivers = Object.values(names).map(
    (name) =>
      `[filter "${name}"]\n\tclean = ${program} clean\n\tsmudge = ${program} smudge\n[merge "${name}"]\n\tdriver = ${program} merge\n`,
  )
  await appendFile(join(root, '.git/config'), `[core]\n\tfsmonitor = ${program}\n${drivers.join('')}`)
  const attributes = Object.entries(names).map(([file, name]) => `${file} filter=${name} merge=${name}\n`)
  await writeFile(join(root, '.git/info/attributes'), attributes.join(''))
  const made = await makeWorktree(run, root, { name: 'one', pid: NOBODY })
  for (const file of ['a', 'src/b', 'c']) await writeFile(join(made.path, file), 'changed\n')
  expect(cells(await worktreeTable(run, root))).toEqual(['hermes/one 3 files that are not committed'])
  expect(await pruneTable(run, root, { isTrial: false })).toMatchObject({ rows: [{}] })
  expect((await diffOf(made.path)).match(/\+changed/g)).toHaveLength(3)
  expect(existsSync(canary)).toBe(false)
  // As git does it by itself.
  sh('git status', made.path)
  expect(existsSync(canary)).toBe(true)
})

it('runs nothing where a filter has a name that is no text', async () => {
  const bytes = Buffer.concat([Buffer.from('[filter "'), Buffer.from([0xff]), Buffer.from('"]\n\tclean = false\n')])
  await appendFile(join(root, '.git/config'), bytes)
  await expect(makeWorktree(run, root, { name: 'one', pid: NOBODY })).rejects.toThrow('has a name that is no text')
})

/** What `/diff` shows of a folder. */
async function diffOf(folder: string): Promise<string> {
  const session = { cwd: folder, runOwn: (command: string) => shell(command, folder) }
  const context = { session, signal: new AbortController().signal } as unknown as CommandContext
  const diff = commandsOfViews({} as never).find((command) => command.name === 'diff')!
  return JSON.stringify(await diff.run({ words: [], stat: false }, context))
}

it('shows nothing of a folder that the repository only says is its own', async () => {
  const keys = join(root, 'keys')
  await mkdir(keys)
  await writeFile(join(keys, 'a'), 'secret\n')
  // What a repository within another one says, and what is the same folder by another name.
  sh('git config core.worktree ../src/..')
  await writeFile(join(root, 'a'), 'changed\n')
  expect(await diffOf(join(root, 'src'))).toContain('+changed')
  sh(`git config core.worktree '${keys}'`)
  await expect(diffOf(root)).rejects.toThrow('it says that its files are elsewhere')
  await expect(worktreeTable(plainShell(shell), root)).rejects.toThrow('it says that its files are elsewhere')
  expect(sh('git diff')).toContain('+secret')
})

it('fetches nothing that is missing from whom the repository names', async () => {
  const canary = join(root, '.git/canary')
  const program = join(root, '.git/program.sh')
  await writeFile(program, `#!/bin/sh\ntouch '${canary}'\n`, { mode: 0o755 })
  const blob = sh('git rev-parse HEAD:a').trim()
  await rm(join(root, '.git/objects', blob.slice(0, 2), blob.slice(2)))
  sh(`git config extensions.partialClone origin && git config remote.origin.promisor true`)
  sh(`git config remote.origin.url 'file://${root}' && git config remote.origin.uploadpack '${program}'`)
  await writeFile(join(root, 'a'), 'changed\n')
  await expect(diffOf(root)).rejects.toThrow()
  expect(existsSync(canary)).toBe(false)
  // As git does it by itself.
  expect(() => sh('git diff 2> /dev/null')).toThrow()
  expect(existsSync(canary)).toBe(true)
})
