import { createInterface } from 'node:readline'
import type { PickAnswer, PickRequest } from '../editor/picker.js'
import type { Io, Output } from '../io.js'
import { printable, wrap } from '../render/style.js'
import type { Console, ConsoleHandlers } from './console.js'

const MAX_OPTIONS = 30

/** A console for terminals that cannot move the cursor: the terminal itself edits the line, questions are answered by a line. */
export function openPlainConsole(io: Pick<Io, 'stdin'>, terminal: Output, handlers: ConsoleHandlers): Console {
  const lines = createInterface({ input: io.stdin, terminal: false })
  const questions: { readonly request: PickRequest; readonly settle: (answer: PickAnswer) => void }[] = []
  const showQuestion = () => {
    const request = questions[0]?.request
    if (request) terminal.write(describe(request, terminal.columns()))
  }
  const settle = (question: (typeof questions)[number] | undefined, answer: PickAnswer) => {
    const at = question ? questions.indexOf(question) : -1
    if (at < 0) return
    questions.splice(at, 1)
    question!.settle(answer)
    if (at === 0) showQuestion()
  }
  lines.on('line', (line) => {
    const text = line.trim()
    const question = questions[0]
    if (question) settle(question, read(question.request, text))
    else handlers.onLine({ text, shown: '', draft: { text, pastes: [] }, how: 'enter' })
  })
  lines.on('close', () => handlers.onEnd())
  return {
    output: terminal,
    isLive: false,
    setBar: () => undefined,
    setStatus: (status) => {
      if (status === null) terminal.write('> ')
    },
    pick: (request, signal) =>
      new Promise((resolve) => {
        if (request.isSecret) terminal.write('This terminal would show what you type; set the variable instead.\n')
        if (signal?.aborted || request.isSecret) return resolve({ type: 'none' })
        const question = { request, settle: resolve }
        signal?.addEventListener('abort', () => settle(question, { type: 'none' }), { once: true })
        if (questions.push(question) === 1) showQuestion()
      }),
    copy: () =>
      'This terminal has no clipboard to write to; `hermes sessions export` writes the conversation to a file.',
    draft: () => '',
    setDraft: () => undefined,
    close: () => {
      for (const question of questions.splice(0)) question.settle({ type: 'none' })
      lines.removeAllListeners('close')
      lines.close()
    },
  }
}

function describe(
  { title, block = [], notes = [], options, freeText, isSeveral }: PickRequest,
  columns: number,
): string {
  const answers = options
    .slice(0, MAX_OPTIONS)
    .map(({ label, key }, index) => `  ${key ? `[${key}]` : `${index + 1}.`} ${label}`)
  if (options.length > MAX_OPTIONS) answers.push(`  … ${options.length - MAX_OPTIONS} more`)
  const prompt =
    options.length === 0 ? 'answer' : freeText ? (isSeveral ? 'numbers or answer' : 'number or answer') : 'choice'
  return `${wrap(printable([title, ...block.map((line) => `  ${line}`), ...notes, ...answers].join('\n')), columns)}\n${prompt} > `
}

/** An empty line, and one that fits nothing, is no answer. */
function read({ options, freeText, isSeveral }: PickRequest, text: string): PickAnswer {
  const word = text.toLowerCase()
  const index = options.findIndex(
    ({ key, words = [] }, at) => word === key || words.includes(word) || text === String(at + 1),
  )
  if (index >= 0) return { type: 'option', index }
  const numbers = isSeveral && /^\d+(?:[\s,]+\d+)+$/.test(text) ? text.split(/[\s,]+/).map(Number) : []
  const indexes = [...new Set(numbers.map((number) => number - 1))].sort((one, other) => one - other)
  if (indexes.length > 0 && indexes.every((at) => at >= 0 && at < options.length)) return { type: 'several', indexes }
  return freeText && text !== '' ? { type: 'text', text } : { type: 'none' }
}
