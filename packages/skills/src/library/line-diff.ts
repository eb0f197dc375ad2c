const CONTEXT = 3

/** What becomes of a text, in lines with `-`, `+` and a space before them; nothing where it stays. Pure, in linear time. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return ''
  const [old, fresh] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const end = old.length - tail
  return [
    ...old.slice(Math.max(0, head - CONTEXT), head).map((line) => ` ${line}`),
    ...old.slice(head, end).map((line) => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+${line}`),
    ...old.slice(end, end + CONTEXT).map((line) => ` ${line}`),
  ].join('\n')
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
