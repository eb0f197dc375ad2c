import { spawn } from 'node:child_process'

/** One connection to a tmux server. A program started for each look at the screen would cost a hundred times as much as the look. */
export interface TmuxControl {
  /** Resolves with what a command prints. Rejects with what tmux says is wrong, or when the server has ended. */
  command(...words: readonly string[]): Promise<string>
}

interface Waiting {
  readonly found: (text: string) => void
  readonly failed: (error: Error) => void
}

/** Attaches to the only session of the server `name`, without a say in its size. The connection ends with the server. */
export async function openTmuxControl(name: string): Promise<TmuxControl> {
  const client = spawn('tmux', ['-L', name, '-C', 'attach-session', '-f', 'no-output,ignore-size'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting: Waiting[] = []
  const ask = (line: string) =>
    new Promise<string>((found, failed) => {
      waiting.push({ found, failed })
      client.stdin.write(line)
    })
  let rest = ''
  let block: { readonly id: string; readonly lines: string[] } | null = null
  client.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const [, word, id] = /^%(begin|end|error) (.+)$/.exec(line) ?? []
      if (block === null) {
        if (word === 'begin') block = { id: id!, lines: [] }
      } else if (id === block.id) {
        const { found, failed } = waiting.shift()!
        const answer = block.lines.join('\n')
        block = null
        if (word === 'end') found(answer)
        else failed(new Error(answer))
      } else block.lines.push(line)
    }
  })
  client.stdin.on('error', () => undefined)
  const ended = () => new Error('the tmux server has ended')
  let isOver = false
  const end = () => {
    isOver = true
    for (const { failed } of waiting.splice(0)) failed(ended())
  }
  client.on('error', end).on('close', end)
  // The answer to attaching comes by itself.
  await ask('')
  return {
    command: async (...words) => {
      if (isOver) throw ended()
      return ask(`${words.map(quote).join(' ')}\n`)
    },
  }
}

/** As tmux reads words: a line end would end the command. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`).replaceAll('\n', `'"\\n"'`)}'`
}
