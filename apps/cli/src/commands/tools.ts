import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle } from '../render/style.js'

/** `hermes tools`: toolsets and tools, which of them a new session gets, and what keeps the others away. */
export async function tools(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const runtime = await openCli(io, { surface: 'cli', yolo: false })
  try {
    const [all, toolsets] = [await runtime.tools(), runtime.toolsets()]
    if (json) {
      io.stdout.write(`${JSON.stringify({ tools: all, toolsets })}\n`)
      return EXIT.ok
    }
    const style = createStyle(io.stdout)
    const columns = io.stdout.columns()
    io.stdout.write(`${style.bold('Tools')}\n`)
    for (const { name, description, isEnabled, isAvailable, requires } of all) {
      const needs = requires.length > 0 ? `, needs ${requires.join(', ')}` : ''
      const mark = !isAvailable ? `not here${needs}` : isEnabled ? 'on' : 'off'
      const head = `  ${name.padEnd(14)}  ${mark.padEnd(3)}  `
      io.stdout.write(`${head}${style.dim(clip(firstSentence(description), Math.max(10, columns - head.length)))}\n`)
    }
    io.stdout.write(`\n${style.bold('Toolsets')} ${style.dim('(toolsets in config.yaml, or -t)')}\n`)
    for (const [name, { tools: members }] of Object.entries(toolsets)) {
      const head = `  ${name.padEnd(14)}  `
      io.stdout.write(`${head}${style.dim(clip(members.join(', '), Math.max(10, columns - head.length)))}\n`)
    }
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text
}
