// The skills that come with Hermes, packages/skills/bundled/GROUP/NAME/SKILL.md, as text in two files of that package: their heads, which every
// session is shown, and their bodies, which are loaded with the first of them. A bundler finds both.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const HEAD = /^---\nname: ([a-z0-9-]+)\ndescription: (.+)\n(?:[\w-]+:.*\n(?: {2}.*\n)*)*---\n\n/

/** @returns {{ file: string, text: string }[]} */
export function bundledSkillFiles(root) {
  const folder = join(root, 'packages/skills/bundled')
  if (!existsSync(folder)) return []
  const skills = readdirSync(folder)
    .sort()
    .flatMap((group) =>
      readdirSync(join(folder, group))
        .sort()
        .map((name) => read(join(folder, group, name, 'SKILL.md'), { group, name })),
    )
  const heads = skills.map(
    ({ name, group, description }) =>
      `  { name: ${quote(name)}, group: ${quote(group)}, description: ${quote(description)} },\n`,
  )
  const bodies = skills.map(({ name, body }) => `  [${quote(name)}, ${quote(body)}],\n`)
  return [
    {
      file: 'packages/skills/src/generated/bundled-heads.ts',
      text: `// Written by \`pnpm gen\` from packages/skills/bundled.\nexport const BUNDLED_HEADS = [\n${heads.join('')}] as const\n`,
    },
    {
      file: 'packages/skills/src/generated/bundled-bodies.ts',
      text: `// Written by \`pnpm gen\` from packages/skills/bundled.\nexport const BUNDLED_BODIES: ReadonlyMap<string, string> = new Map([\n${bodies.join('')}])\n`,
    },
  ]
}

function read(file, { group, name }) {
  const text = readFileSync(file, 'utf8')
  const [head, written, description] = HEAD.exec(text) ?? []
  if (written !== name) throw new Error(`${file} begins with no head that says "name: ${name}" and "description: …"`)
  return { name, group, description: description.replace(/^"(.*)"$/, '$1'), body: text.slice(head.length) }
}

const quote = (text) => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
