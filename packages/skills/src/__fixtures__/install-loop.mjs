// node install-loop.mjs ROOT: installs the skill below ROOT/work/tides again and again, another text each time, until it is killed.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SkillInstaller } from '../install/installer.ts'
import { SkillLibrary } from '../skill-library.ts'

const [root, start] = process.argv.slice(2)
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
for (let at = Number(start); ; at++) {
  await writeFile(join(source, 'SKILL.md'), `---\nname: tides\ndescription: Number ${at}.\n---\n\nNumber ${at}.\n`)
  for (const name of ['a', 'b', 'c']) await writeFile(join(source, `references/${name}.md`), `Number ${at}.\n`)
  const { offered } = await installer.offer('tides', { cwd: join(root, 'work'), signal: new AbortController().signal })
  process.stdout.write('.')
  await installer.accept(offered.id, { force: false })
}
