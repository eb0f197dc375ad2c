/** Ends a statement outside of quotes and brackets. */
const OPERATORS = ['&&', '||', ';;', ';'] as const
const CLOSES = { '(': ')', '{': '}' } as const

/**
 * A command line with each of its statements on a line of its own; joined again by line feeds it means the same. One that cannot be told
 * apart with certainty, such as a here document or an open quote, keeps the lines it has.
 */
export function statementsOf(command: string): readonly string[] {
  const asWritten = command.trimEnd().split('\n')
  if (command.includes('<<')) return asWritten
  const lines: string[] = []
  const open: string[] = []
  let from = 0
  let quote = ''
  const end = (at: number) => {
    const text = withoutBlanks(command.slice(from, at))
    if (text !== '') lines.push(text)
  }
  for (let at = 0; at < command.length; at++) {
    const sign = command[at]!
    if (sign === '\\' && quote !== "'") at++
    else if (quote !== '') {
      if (sign === quote) quote = ''
    } else if (sign === "'" || sign === '"' || sign === '`') quote = sign
    // A comment ends with its line, whatever stands in it.
    else if (sign === '#' && (at === from || /[\s;&|]/.test(command[at - 1]!)))
      at += command.slice(at).split('\n', 1)[0]!.length - 1
    else if (open.length > 0 && sign === open.at(-1)) open.pop()
    else if (sign === '(' || sign === '{') open.push(CLOSES[sign])
    else if (open.length > 0) continue
    else if (sign === '\n') {
      end(at)
      from = at + 1
    } else if (sign === '&' || sign === '|' || sign === ';') {
      const operator = OPERATORS.find((known) => command.startsWith(known, at))
      if (operator === undefined) continue
      at += operator.length - 1
      end(at + 1)
      from = at + 1
    }
  }
  if (quote !== '' || open.length > 0) return asWritten
  end(command.length)
  return lines.length > 0 ? lines : asWritten
}

/** Without blanks and tabs around it; an expression for that would look at each run of blanks again and again. */
function withoutBlanks(line: string): string {
  const isBlank = (at: number) => line[at] === ' ' || line[at] === '\t'
  let [from, to] = [0, line.length]
  while (isBlank(from)) from++
  while (to > from && isBlank(to - 1)) to--
  return line.slice(from, to)
}
