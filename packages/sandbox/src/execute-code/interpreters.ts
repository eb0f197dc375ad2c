import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { HermesError } from '@hermes/contracts'
import { type Language, pythonOnPath } from './language.js'

const OLDEST = '(3, 8)'
const PROBE_TIMEOUT_MS = 10_000

/** How to run a file in a language. */
interface Interpreter {
  /** Program and options; the file comes after them. */
  readonly argv: readonly string[]
  /** Bytes of address space the system is to hold it to; 0 where it holds itself. */
  readonly maxMemoryBytes: number
}

/** Finds interpreters, each once for a folder: managers of versions decide by where they are called. */
export class Interpreters {
  readonly #node: string
  readonly #env: Readonly<Record<string, string>>
  readonly #maxMemoryBytes: number
  readonly #pythons = new Map<string, Promise<string | null>>()

  constructor(options: {
    readonly node: string
    readonly env: Readonly<Record<string, string>>
    readonly maxMemoryBytes: number
  }) {
    this.#node = options.node
    this.#env = options.env
    this.#maxMemoryBytes = options.maxMemoryBytes
  }

  /** @throws HermesError `code.no_python` */
  async find(language: Language, cwd: string): Promise<Interpreter> {
    // V8 reserves far more addresses than it uses, so that its own limit is the one that works.
    if (language === 'javascript') {
      const heap = Math.floor(this.#maxMemoryBytes / 2 ** 20)
      return { argv: [this.#node, ...(heap === 0 ? [] : [`--max-old-space-size=${heap}`])], maxMemoryBytes: 0 }
    }
    const python = await this.#python(cwd)
    if (python !== null) return { argv: [python, '-u'], maxMemoryBytes: this.#maxMemoryBytes }
    throw new HermesError('There is no Python 3.8 or newer on this machine; use language=javascript.', {
      code: 'code.no_python',
    })
  }

  #python(cwd: string): Promise<string | null> {
    let found = this.#pythons.get(cwd)
    if (!found) {
      found = this.#resolve(cwd)
      this.#pythons.set(cwd, found)
    }
    return found
  }

  /** The interpreter itself, past the scripts that choose one: they take longer than it does. */
  async #resolve(cwd: string): Promise<string | null> {
    const python = pythonOnPath(this.#env['PATH'])
    if (python === null) return null
    const code = `import sys; print(sys.executable if sys.version_info >= ${OLDEST} else "")`
    try {
      const options = { cwd, env: this.#env, timeout: PROBE_TIMEOUT_MS }
      const { stdout } = await promisify(execFile)(python, ['-I', '-c', code], options)
      return stdout.trim() || null
    } catch {
      return null
    }
  }
}
