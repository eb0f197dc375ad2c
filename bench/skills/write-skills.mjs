// Skills like those that people have: a head with a description, steps, pitfalls; no two about the same.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes `count` skills below `directory`, in a folder each. */
export function writeSkills(directory, count) {
  for (let n = 0; n < count; n++) {
    const folder = join(directory, `skill-${n}`)
    mkdirSync(folder, { recursive: true })
    const name = count === 1 ? `bench-${n}` : `skill-${n}`
    const steps = Array.from(
      { length: 20 },
      (_, step) => `${step + 1}. Step ${step + 1} of task ${n}: run \`tool-${n} --part ${step}\`.`,
    )
    const description = `Does task number ${n} with tool-${n}. Use it when the user asks for result-${n}.`
    const text = `---\nname: ${name}\ndescription: "${description}"\n---\n\n## Steps\n\n${steps.join('\n')}\n\n## Pitfalls\n\n- None of tool-${n}.\n`
    writeFileSync(join(folder, 'SKILL.md'), text)
  }
}
