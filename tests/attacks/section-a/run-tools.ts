import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSession } from './session.js'
import type { ToolSuite } from './tools-tries.js'

/** What got through, by id. */
export async function runSuite(
  { options, tries }: ToolSuite,
  say: (text: string) => void = () => {},
): Promise<Readonly<Record<string, string>>> {
  const session = await openSession(options)
  const holes: Record<string, string> = {}
  try {
    for (const one of tries) {
      const { scene } = session
      const fill = (text: string) => scene.fill(text, one.id).replaceAll('@WEB@', String(session.port))
      const put = (path: string) => {
        mkdirSync(dirname(fill(path)), { recursive: true })
        rmSync(fill(path), { recursive: true, force: true })
      }
      for (const [path, text] of Object.entries(one.files ?? {})) {
        put(path)
        writeFileSync(fill(path), fill(text))
      }
      for (const [path, target] of Object.entries(one.links ?? {})) {
        put(path)
        symlinkSync(fill(target), fill(path))
      }
      const requested = session.questions.length
      const calls = one.calls.map(({ name, args }) => ({
        name,
        args: Object.fromEntries(
          Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? fill(value) : value]),
        ),
      }))
      let hole: string | null
      try {
        const answers = await session.call(...calls)
        say(`--- ${one.id}\n${answers.join('\n---\n').slice(0, 1500)}\n`)
        hole = one.judge
          ? one.judge(answers, session, session.questions.length - requested)
          : [...scene.secrets].some((secret) => answers.join('').includes(secret))
            ? 'the secret was shown'
            : null
      } catch (error) {
        hole = `failed: ${error}`
      }
      if (hole !== null) holes[one.id] = hole
      for (const path of Object.keys(one.links ?? {})) rmSync(fill(path), { force: true })
    }
  } finally {
    await session.close()
  }
  return holes
}
