/** Ends a statement outside of quotes and brackets. */
const OPERATORS = ['&&', '||', ';;', ';'] as const
const CLOSES: Readonly<Record<string, string>> = { '(': ')', '{': '}' }

/**
 * A command line with each of its statements on a line of its own; joined again by line feeds it means the same. One that cannot be told
 * apart with certainty, such as a here document or an open quote, keeps the lines it has.
 */
export function statementsOf(command: string): readonly string[] {
  const asWritten = command.trimEnd().split('\n')
  if (command.includes('<<')) return asWritten
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  let quote = ''
  const end = () => {
    const text = withoutBlanks(line)
    if (text !== '') lines.push(text)
    line = ''
  }
  for (let at = 0; at < command.length; at++) {
    const sign = command[at]!
    if (sign === '\\' && quote !== "'") {
      line += command.slice(at, at + 2)
      at++
    } else if (quote !== '') {
      if (sign === quote) quote = ''
      line += sign
    } else if (sign === "'" || sign === '"' || sign === '`') {
      quote = sign
      line += sign
    } else if (sign === '#' && (line === '' || /[\s;&|]/.test(command[at - 1]!))) {
      // A comment ends with its line, whatever stands in it.
      const rest = command.slice(at).split('\n', 1)[0]!
      line += rest
      at += rest.length - 1
    } else if (CLOSES[sign] !== undefined || (open.length > 0 && sign === open.at(-1))) {
      if (CLOSES[sign] === undefined) open.pop()
      else open.push(CLOSES[sign])
      line += sign
    } else if (open.length > 0) {
      line += sign
    } else if (sign === '\n') {
      end()
    } else {
      const operator = OPERATORS.find((known) => known[0] === sign && command.startsWith(known, at))
      line += operator ?? sign
      if (operator === undefined) continue
      at += operator.length - 1
      end()
    }
  }
  if (quote !== '' || open.length > 0) return asWritten
  end()
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
