import type { SessionHandle } from '@hermes/host'
import type { Io, Output } from '../io.js'
import type { Console, ConsoleHandlers } from './console.js'
import { openConsole } from './open-console.js'
import { type Asker, answerQuestions } from './questions.js'

/** The person behind a single question: asked on standard error, which is theirs alone while a question is open. */
interface Person {
  /** Standard error, above an open question. */
  readonly output: Output
  /** Puts what a session asks to the person, until the session ends. */
  answer(session: SessionHandle): void
}

/** Whoever sits at the terminal. */
export function createPerson(io: Pick<Io, 'stdin' | 'env' | 'stderr' | 'early' | 'cwd'>): Person {
  const asker = createAsker(io)
  return { output: asker.output, answer: (session) => void answerQuestions(session, asker, io.cwd) }
}

/** Asks on standard error. The terminal is taken for as long as a question is open and no longer. */
export function createAsker(io: Pick<Io, 'stdin' | 'env' | 'stderr' | 'early'>): Asker {
  let console: Console | null = null
  let open = 0
  const handlers: ConsoleHandlers = {
    onLine: () => undefined,
    onEnd: () => undefined,
    onStop: () => undefined,
    onInterrupt: () => process.kill(process.pid, 'SIGINT'),
  }
  return {
    output: { ...io.stderr, write: (text) => (console?.output ?? io.stderr).write(text) },
    pick: async (request, signal) => {
      console ??= openConsole(io, { terminal: io.stderr, handlers })
      open++
      try {
        return await console.pick(request, signal)
      } finally {
        if (--open === 0) {
          console.close()
          console = null
        }
      }
    },
  }
}
