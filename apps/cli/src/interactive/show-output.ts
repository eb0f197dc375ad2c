import type { CommandOutput, SessionChange } from '@hermes/contracts/extension'
import { renderFindings, renderTable } from '../render/command-table.js'
import { paintDiff } from '../render/diff.js'
import { printable } from '../render/style.js'
import type { Console } from './console.js'
import type { Display } from './display.js'
import { markdownFor } from './show-turn.js'
import type { Written } from './written.js'

/** More options than keys pick are searched. */
const MAX_NUMBERED = 9

/** Where what a command gives goes. */
interface OutputTo {
  readonly written: Written
  readonly console: Console
  readonly display: Pick<Display, 'drawsMarkdown'>
  /** Carries out a line that a command wants typed. */
  readonly typed: (line: string) => Promise<void>
  readonly change: (change: SessionChange) => Promise<void>
}

/** Shows what a command gives to the person at the terminal; asks where it wants to know something. */
export async function showOutput(output: CommandOutput, { written, console, ...to }: OutputTo): Promise<void> {
  switch (output.type) {
    case 'text':
      if (output.format === 'markdown') await showMarkdown(output.text, { written, console, ...to })
      else if (output.format === 'diff') written.lines.write(`${paintDiff(printable(output.text), written.style)}\n`)
      else written.say(output.text)
      break
    case 'table':
      if (output.rows.length === 0) written.say(output.empty)
      else written.lines.write(renderTable(output, written.lines))
      break
    case 'findings':
      written.lines.write(renderFindings(output.findings, written.lines))
      break
    case 'choice': {
      const labels = output.options.map(({ label }) => printable(label))
      const index = await chooseOne(console, { title: printable(output.question), labels })
      if (index !== null) await to.typed(output.options[index]!.line)
      break
    }
    case 'form': {
      const answers = await fillIn(console, output)
      if (answers === null) written.say(output.title)
      else await to.typed([output.line, ...answers].join(' '))
      break
    }
    case 'change':
      await to.change(output.change)
      break
    default:
      output satisfies never
  }
}

async function showMarkdown(text: string, to: OutputTo): Promise<void> {
  const markdown = await markdownFor(to)
  if (markdown) to.written.lines.write(markdown.add(printable(text)) + markdown.end())
  else to.written.say(text)
}

/** Which of `labels` the person picks; `null` for none. */
export async function chooseOne(
  console: Console,
  { title, labels, first }: { readonly title: string; readonly labels: readonly string[]; readonly first?: number },
): Promise<number | null> {
  const options = labels.map((label) => ({ label }))
  const isSearch = options.length > MAX_NUMBERED
  const answer = await console.pick({
    title,
    options,
    freeText: false,
    isSearch,
    ...(first === undefined ? {} : { first }),
  })
  return answer.type === 'option' ? answer.index : null
}

async function fillIn(
  console: Console,
  { title, fields }: CommandOutput & { readonly type: 'form' },
): Promise<readonly string[] | null> {
  const answers: string[] = []
  for (const { description } of fields) {
    const answer = await console.pick({ title: `${title}\n${description}`, options: [], freeText: true })
    if (answer.type !== 'text') return null
    answers.push(answer.text)
  }
  return answers
}
