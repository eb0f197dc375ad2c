// node install-twice.mjs ROOT AT: installs the skill below ROOT/work/tides, and puts another text in its place. Before the AT-th change of a file
// by that it is killed; with 0 it says how many there are.
import { mkdir, writeFile } from 'node:fs/promises'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const [root, at] = process.argv.slice(2)
let changes = 0
let isCounted = false
const CHANGES = ['rename', 'rm', 'cp', 'mkdir', 'writeFile', 'open', 'unlink', 'link', 'rmdir', 'chmod']
for (const [owner, names] of [[fs.promises, CHANGES], [fs, CHANGES.map((name) => `${name}Sync`)]])
  for (const name of names.filter((one) => one in owner)) {
    const real = owner[name]
    owner[name] = (...args) => {
      if (isCounted && ++changes === Number(at)) process.kill(process.pid, 'SIGKILL')
      return real.apply(owner, args)
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
  settings: { disabled: [] },
  clock: { now: () => Date.now() },
  logger: silent,
}
const installer = new SkillInstaller(new SkillLibrary(home))
const source = join(root, 'work/tides')
await mkdir(join(source, 'references'), { recursive: true })
for (const number of [1, 2]) {
  await writeFile(join(source, 'SKILL.md'), `---\nname: tides\ndescription: Number ${number}.\n---\n\nNumber ${number}.\n`)
  await writeFile(join(source, 'references/a.md'), `Number ${number}.\n`)
  const { offered } = await installer.offer('tides', { cwd: join(root, 'work'), signal: new AbortController().signal })
  isCounted = number === 2
  await installer.accept(offered.id, { force: false })
}
process.stdout.write(String(changes))
