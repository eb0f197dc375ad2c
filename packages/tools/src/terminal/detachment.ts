const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"/g
const TRAILING = /(?:^|[^&|<>\\])&\s*$/
const PROGRAM = /(?:^|[;&|(]|\bthen\b|\bdo\b)\s*(nohup|setsid|disown)\b/

/** What in a command would let a process outlive its call (a trailing `&`, `nohup`, `setsid`, `disown`); `null` when nothing does. */
export function detachment(command: string): string | null {
  const bare = command.replace(QUOTED, '""')
  const program = PROGRAM.exec(bare)?.[1]
  if (program) return program
  return TRAILING.test(bare) ? 'the trailing "&"' : null
}
