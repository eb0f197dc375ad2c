import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Call, openSession } from './session.js'
import type { ToolSuite, ToolTry } from './tools-tries.js'

const MOST_AT_ONCE = 12

/** Tries whose answer alone tells are made in one message of the model, as long as each has files of its own. */
function inGroups(tries: readonly ToolTry[]): readonly (readonly ToolTry[])[] {
  const groups: ToolTry[][] = []
  let places = new Set<string>()
  let isOpen = false
  for (const one of tries) {
    const own = [...Object.keys(one.files ?? {}), ...Object.keys(one.links ?? {})]
    const isAlone = one.judge !== undefined || one.calls.length !== 1
    const fits = isOpen && groups.at(-1)!.length < MOST_AT_ONCE && !own.some((path) => places.has(path))
    if (!isAlone && fits) groups.at(-1)!.push(one)
    else {
      groups.push([one])
      places = new Set()
      isOpen = !isAlone
    }
    for (const path of own) places.add(path)
  }
  return groups
}

function lay({ files = {}, links = {} }: ToolTry, fill: (text: string) => string): void {
  const put = (path: string) => {
    mkdirSync(dirname(fill(path)), { recursive: true })
    rmSync(fill(path), { recursive: true, force: true })
  }
  for (const [path, text] of Object.entries(files)) {
    put(path)
    writeFileSync(fill(path), fill(text))
  }
  for (const [path, target] of Object.entries(links)) {
    put(path)
    symlinkSync(fill(target), fill(path))
  }
}

const fillCall = ({ name, args }: Call, fill: (text: string) => string): Call => ({
  name,
  args: Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? fill(value) : value]),
  ),
})
const write = (path: string): Call => ({ name: 'write_file', args: { path, content: 'x\n' } })

/** What got through, by id. */
export async function runSuite(
  { options, tries }: ToolSuite,
  say: (text: string) => void = () => {},
): Promise<Readonly<Record<string, string>>> {
  const session = await openSession(options)
  const holes: Record<string, string> = {}
  try {
    const { scene } = session
    const filled = (one: ToolTry) => (text: string) =>
      scene.fill(text, one.id).replaceAll('@WEB@', String(session.port))
    for (const group of inGroups(tries)) {
      for (const one of group) lay(one, filled(one))
      const requested = session.questions.length
      const calls = group.map((one) => one.calls.map((call) => fillCall(call, filled(one))))
      try {
        // Something that works between them: a run whose calls are refused again and again ends.
        const between = (index: number) => write(`${scene.at.WORK}/n/${group[0]!.id}-${index}.txt`)
        const all = group.length === 1 ? calls[0]! : calls.flatMap((own, index) => [...own, between(index)])
        const answers = await session.call(...all)
        for (const [index, one] of group.entries()) {
          const own = group.length === 1 ? answers : answers.slice(index * 2, index * 2 + 1)
          say(`--- ${one.id}\n${own.join('\n---\n').slice(0, 1500)}\n`)
          const hole = one.judge
            ? one.judge(own, session, session.questions.length - requested)
            : [...scene.secrets].some((secret) => own.join('').includes(secret))
              ? 'the secret was shown'
              : own.length === 0
                ? 'there is no answer'
                : null
          if (hole !== null) holes[one.id] = hole
        }
      } catch (error) {
        for (const { id } of group) holes[id] = `failed: ${error}`
      }
      for (const one of group)
        for (const path of Object.keys(one.links ?? {})) rmSync(filled(one)(path), { force: true })
    }
  } finally {
    await session.close()
  }
  return holes
}
