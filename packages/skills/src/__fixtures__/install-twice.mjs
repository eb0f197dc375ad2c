// node install-twice.mjs ROOT AT [ROUND] [full]: installs the skill below ROOT/work/tides, and puts another text in its place. Before the AT-th change of a
// file by the install of that round (default the second) it is killed, or finds the disk full once; prints how many changes there were, and
// what the full disk came to: the line, and the skill after another try.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const [root, at, round = '2', what = 'kill'] = process.argv.slice(2)
let changes = 0
let isCounted = false
const CHANGES = ['rename', 'rm', 'cp', 'mkdir', 'writeFile', 'open', 'unlink', 'link', 'rmdir', 'chmod']
for (const [owner, names] of [[fs.promises, CHANGES], [fs, CHANGES.map((name) => `${name}Sync`)]])
  for (const name of names.filter((one) => one in owner)) {
    const real = owner[name]
    owner[name] = (...args) => {
      const onlyReads = name.startsWith('open') && ['r', 0, undefined].includes(args[1])
      if (!isCounted || onlyReads || ++changes !== Number(at)) return real.apply(owner, args)
      if (what === 'kill') process.kill(process.pid, 'SIGKILL')
      const error = Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: 'ENOSPC' })
      if (owner === fs.promises) return Promise.reject(error)
      throw error
    }
  }
syncBuiltinESMExports()

const { SkillInstaller } = await import('../install/installer.ts')
const { SkillLibrary } = await import('../skill-library.ts')
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const home = {
  directory: join(root, 'home/skills'),
  cacheFile: join(root, 'home/cache.json'),
  userHome: root,
  settings: { disabled: [], trusted_sources: [] },
  clock: { now: () => Date.now() },
  logger: silent,
}
const library = new SkillLibrary(home)
const installer = new SkillInstaller(library)
const source = join(root, 'work/tides')
await mkdir(join(source, 'references'), { recursive: true })
let waiting = null
/** What was offered waits after a failure: it is not fetched again. */
const install = async () => {
  const fetching = { cwd: join(root, 'work'), signal: new AbortController().signal }
  waiting ??= (await installer.offer('tides', fetching)).offered.id
  await installer.accept(waiting, { force: false })
  waiting = null
}
const failures = []
for (const number of [1, 2]) {
  await writeFile(join(source, 'SKILL.md'), `---\nname: tides\ndescription: Number ${number}.\n---\n\nNumber ${number}.\n`)
  await writeFile(join(source, 'references/a.md'), `Number ${number}.\n`)
  isCounted = number === Number(round)
  try {
    await install()
  } catch (error) {
    isCounted = false
    const { skills, problems } = await library.lock.sound()
    const installed = await readdir(library.lock.directory).catch(() => [])
    const before = skills.map((one) => one.description)
    failures.push({ code: error.code, line: error.message, before, problems, installed: installed.length })
    await install()
  }
  isCounted = false
}
const { skills, problems } = await library.lock.sound()
process.stdout.write(JSON.stringify({ changes, failures, after: skills.map((one) => one.description), problems }))
