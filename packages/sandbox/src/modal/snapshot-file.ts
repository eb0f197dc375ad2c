import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Which snapshot each sandbox is made from the next time, in a file of JSON. What cannot be read counts as nothing. */
export class SnapshotFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  get(name: string): string | null {
    const id = this.#read()[name]
    return typeof id === 'string' ? id : null
  }

  set(name: string, id: string | null): void {
    const { [name]: _, ...others } = this.#read()
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    const text = JSON.stringify(id === null ? others : { ...others, [name]: id }, null, 2)
    writeFileSync(`${this.#path}.tmp`, `${text}\n`, { mode: 0o600 })
    renameSync(`${this.#path}.tmp`, this.#path)
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const found: unknown = JSON.parse(readFileSync(this.#path, 'utf8'))
      return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {}
    } catch {
      return {}
    }
  }
}
