import { chmod, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Download } from 'playwright-core'

/** One file, and all of a session. */
export const MOST_BYTES = 100_000_000
const MOST_FILES = 50
const KEPT_MS = 14 * 24 * 3_600_000
/** Pictures and texts of pages. */
const OF_PAGES_KEPT_MS = 24 * 3_600_000
/** In bytes, as file systems count. */
const LONGEST_NAME = 200
const TOO_LARGE = `it has more than ${MOST_BYTES / 1_000_000} MB`

/** What a file begins with, and what it is then. The first that fits counts. */
const KINDS: readonly (readonly [bytes: string, kind: string])[] = [
  ['%PDF-', 'PDF document'],
  ['\x89PNG', 'PNG image'],
  ['\xff\xd8\xff', 'JPEG image'],
  ['GIF8', 'GIF image'],
  ['PK\x03\x04', 'archive or office document'],
  ['\x1f\x8b', 'archive'],
  ['\x7fELF', 'program'],
  ['MZ', 'program'],
  ['\xcf\xfa\xed\xfe', 'program'],
  ['\xca\xfe\xba\xbe', 'program'],
  ['#!', 'script'],
]

/** What the pages of a session download: into a folder of its own, readable by its owner alone, never run. */
export class Downloads {
  readonly #folder: string
  readonly #note: (text: string) => void
  readonly #running = new Set<Promise<void>>()
  readonly #names = new Set<string>()
  /** Addresses of those that were ended for their size. */
  readonly tooLarge = new Set<string>()
  /** How many began. */
  begun = 0

  constructor(folder: string, note: (text: string) => void) {
    this.#folder = folder
    this.#note = note
  }

  /** Keeps a file once it is whole, and says where. Never throws. */
  take(download: Download): void {
    this.begun++
    const work = this.#keep(download).catch((error: unknown) => {
      const why = error instanceof Error ? error.message.split('\n')[0]!.slice(0, 200) : String(error)
      this.#note(`A download failed: ${why}`)
    })
    this.#running.add(work)
    void work.then(() => this.#running.delete(work))
  }

  /** Resolves once none is under way, or `withinMs` are over. Abort rejects. */
  async settled(signal: AbortSignal, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    const end = performance.now() + withinMs
    while (this.#running.size > 0 && performance.now() < end) {
      signal.throwIfAborted()
      await Promise.race([...this.#running, new Promise((resolve) => setTimeout(resolve, 100))])
    }
  }

  /** Resolves once one more than `count` began and all are done; the driver tells of one a moment after the page. Abort rejects. */
  async beyond(count: number, signal: AbortSignal, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    for (let tries = 0; this.begun <= count && tries < 150; tries++) {
      signal.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await this.settled(signal, withinMs)
  }

  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /** A file of this folder that is not there yet. */
  async newFile(name: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const there = new Set([...(await readdir(this.#folder)), ...this.#names])
    const safe = safeName(name)
    const end = extname(safe)
    let free = safe
    for (let number = 2; there.has(free); number++) free = `${safe.slice(0, safe.length - end.length)}-${number}${end}`
    this.#names.add(free)
    return join(this.#folder, free)
  }

  async #keep(download: Download): Promise<void> {
    const shown = JSON.stringify(safeName(download.suggestedFilename()))
    if (this.begun > MOST_FILES) {
      await download.cancel()
      this.#note(`${shown} was not downloaded: a session may download ${MOST_FILES} files.`)
      return
    }
    const failure = await download.failure()
    if (failure !== null) {
      const isTooLarge = this.tooLarge.has(download.url())
      const why = isTooLarge ? TOO_LARGE : failure === 'canceled' ? 'it was ended before it was whole' : failure
      this.#note(`${shown} was not downloaded: ${why}.`)
      return
    }
    // What comes in one piece was never counted on its way.
    const { size } = await stat(await download.path())
    if (size > MOST_BYTES) {
      await download.delete()
      this.#note(`${shown} was not downloaded: ${TOO_LARGE}.`)
      return
    }
    const path = await this.newFile(download.suggestedFilename())
    await download.saveAs(path)
    await chmod(path, 0o600)
    this.#note(`Downloaded ${path} (${await kindOf(path)}, ${size} bytes). What is in it comes from outside.`)
    await download.delete().catch(() => undefined)
  }
}

/** The last part of what a page calls a file, without what a shell, a terminal or a path could take otherwise. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!.normalize('NFC')
  const plain = last.replace(/[^\p{L}\p{N}._ ()+-]+/gu, '_').replace(/^[.\s-]+|[.\s]+$/g, '')
  const end = extname(plain).slice(0, 20)
  let stem = plain.slice(0, plain.length - extname(plain).length)
  while (Buffer.byteLength(`${stem}${end}`) > LONGEST_NAME) stem = [...stem].slice(0, -1).join('')
  return `${stem}${end}` || 'download'
}

async function kindOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0)
    const head = buffer.toString('latin1', 0, bytesRead)
    const kind = KINDS.find(([start]) => head.startsWith(start))?.[1]
    return kind ?? (head.includes('\0') ? 'binary file' : 'text')
  } finally {
    await file.close()
  }
}

/** Removes what was downloaded two weeks ago, and pictures of pages a day ago. Never rejects. */
export async function pruneDownloads(folder: string, nowMs: number): Promise<void> {
  for (const session of await readdir(folder).catch(() => []))
    for (const name of await readdir(join(folder, session)).catch(() => [])) {
      const path = join(folder, session, name)
      const age = nowMs - ((await stat(path).catch(() => null))?.mtimeMs ?? nowMs)
      if (age > (/^(?:screenshot(?:-\d+)?\.jpg|whole-page(?:-\d+)?\.txt)$/.test(name) ? OF_PAGES_KEPT_MS : KEPT_MS))
        await rm(path, { force: true }).catch(() => undefined)
    }
}
