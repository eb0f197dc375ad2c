import { appendFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import type { CDPSession, Page } from 'playwright-core'

/** One recording holds the first of these; what changes faster than this is seen at its last. */
const MOST_BYTES = 100_000_000
const MOST_FRAMES = 3_600
const FRAME_MS = 500
const KEPT_MS = 72 * 3_600_000
const SCREENCAST = { format: 'jpeg', quality: 50, maxWidth: 1280, maxHeight: 800 } as const

/** Shows the frames one after the other. Nothing of a page is in it but the pictures. */
const PLAYER = `<!doctype html><meta charset="utf-8"><title>A recorded session</title>
<style>body{margin:1rem;font:1rem sans-serif;text-align:center}img{max-width:100%;border:1px solid}input{width:60%}</style>
<img id="shown" alt=""><p><button id="play">Play</button> <input id="at" type="range" value="0" aria-label="Frame"> <span id="time"></span></p>
<script>const frames = []</script><script src="frames.js"></script>
<script>
const id = (name) => document.getElementById(name)
let timer
const show = (index) => {
  const [ms, file, tab] = frames[index] ?? [0, '', 0]
  id('at').value = index
  id('shown').src = file
  id('time').textContent = (ms / 1000).toFixed(1) + ' s, tab ' + tab
}
const play = () => {
  const index = Number(id('at').value)
  show(index)
  if (index + 1 >= frames.length) return
  timer = setTimeout(() => { id('at').value = index + 1; play() }, Math.min(3000, frames[index + 1][0] - frames[index][0]))
}
id('at').max = frames.length - 1
id('at').oninput = () => { clearTimeout(timer); show(Number(id('at').value)) }
id('play').onclick = () => { clearTimeout(timer); play() }
show(0)
</script>
`

interface Frame {
  readonly bytes: Buffer
  readonly tab: number
}

/** What the pages of one session show, as pictures with their times and a page that plays them: for the person, readable by its owner alone. */
export class Recording {
  readonly folder: string
  readonly #clock: Clock
  readonly #note: (text: string) => void
  readonly #casts = new Set<CDPSession>()
  #beganMs: number | null = null
  #next: Frame | null = null
  #frames = 0
  #bytes = 0
  #isOver = false
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(folder: string, { clock, note }: { readonly clock: Clock; readonly note: (text: string) => void }) {
    this.folder = folder
    this.#clock = clock
    this.#note = note
  }

  /** Records a page from now on, as tab `tab`. Never rejects: a page that cannot be recorded can be used. */
  async watch(page: Page, tab: number): Promise<void> {
    if (this.#isOver) return
    try {
      this.#begin()
      const cast = await page.context().newCDPSession(page)
      this.#casts.add(cast)
      page.once('close', () => this.#casts.delete(cast))
      cast.on('Page.screencastFrame', ({ data, sessionId }) => {
        void cast.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined)
        this.#take({ bytes: Buffer.from(data, 'base64'), tab })
      })
      await cast.send('Page.startScreencast', SCREENCAST)
    } catch (error) {
      this.#note(`Tab ${tab} is not recorded: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`)
    }
  }

  /** Takes no more pictures, and says why. */
  end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#beganMs !== null) this.#note(`The recording ends here: ${why}.`)
    for (const cast of this.#casts) void cast.send('Page.stopScreencast').catch(() => undefined)
    this.#casts.clear()
  }

  /** Resolves once all that was seen is on disk. Never rejects. */
  async written(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#flush()
    await this.#writing
  }

  #begin(): void {
    if (this.#beganMs !== null) return
    this.#beganMs = this.#clock.now()
    this.#write(async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      await writeFile(this.#player, PLAYER, { mode: 0o600 })
    })
    this.#note(
      `The session is recorded (browser.record_sessions), for ${KEPT_MS / 3_600_000} hours: ${this.#player}. The pictures are for the person, and what they show comes from outside.`,
    )
  }

  get #player(): string {
    return join(this.folder, 'index.html')
  }

  /** The newest picture of a while is kept, so that the last state of a page is always there. */
  #take(frame: Frame): void {
    if (this.#isOver) return
    this.#next = frame
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#flush()
    }, FRAME_MS)
  }

  #flush(): void {
    const frame = this.#next
    this.#next = null
    if (frame === null) return
    if (this.#frames >= MOST_FRAMES || this.#bytes + frame.bytes.length > MOST_BYTES) {
      this.end('it is full')
      return
    }
    this.#frames++
    this.#bytes += frame.bytes.length
    const file = `${String(this.#frames).padStart(5, '0')}.jpg`
    const line = `frames.push(${JSON.stringify([this.#clock.now() - this.#beganMs!, file, frame.tab])})\n`
    this.#write(async () => {
      await writeFile(join(this.folder, file), frame.bytes, { mode: 0o600 })
      await appendFile(join(this.folder, 'frames.js'), line, { mode: 0o600 })
    })
  }

  /** One thing after the other, so that what is there can be played at any time. */
  #write(work: () => Promise<void>): void {
    const written = this.#writing.then(work)
    this.#writing = written.catch((error: Error) => this.end(`it cannot be written (${error.message.slice(0, 200)})`))
  }
}

/** Removes recordings to which nothing was added for 72 hours. Never rejects. */
export async function pruneRecordings(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const age = nowMs - ((await stat(path).catch(() => null))?.mtimeMs ?? nowMs)
    if (age > KEPT_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
