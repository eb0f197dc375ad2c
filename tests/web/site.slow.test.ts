// Forty pages, ordinary ones and those that misbehave, in one session of the built CLI: what each comes to is what its line in site.ts says, and
// the session goes on after each.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { hasChromium } from '../support/chromium.js'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { SITE, type SitePage, type Step, serveSite } from './site.js'

const scene = useScene()
const WELL: Step = ['browser_navigate', { url: '/well' }]

/** What a tool answered last. */
function answerIn({ body }: CapturedRequest): string {
  const last = (body.messages as readonly { readonly role: string; readonly content: unknown }[]).at(-1)
  return last?.role === 'tool' ? (typeof last.content === 'string' ? last.content : JSON.stringify(last.content)) : ''
}

interface PlannedStep {
  /** `null` for a look at the page that must be there after each. */
  readonly page: SitePage | null
  readonly step: Step
  readonly isLast: boolean
}

/** A model that does the steps of one page after the other, finding elements by role and name in what it was shown. */
class Visitor {
  readonly #origin: string
  readonly #steps: PlannedStep[]
  #texts: string[] = []
  #planned: PlannedStep | undefined
  readonly wrong: string[] = []
  done = 0

  constructor(origin: string) {
    this.#origin = origin
    this.#steps = SITE.flatMap((page, at) => {
      const steps: readonly Step[] = [['browser_navigate', { url: `/${at + 1}` }], ...(page.steps ?? [])]
      return [
        ...steps.map((step, index) => ({ page, step, isLast: index === steps.length - 1 })),
        { page: null, step: WELL, isLast: true },
      ]
    })
    this.#steps.unshift({ page: null, step: WELL, isLast: true })
  }

  next(request: CapturedRequest) {
    if (this.#planned) this.#read(answerIn(request), this.#planned)
    this.#planned = this.#steps.shift()
    if (!this.#planned) return { text: 'All were seen.' }
    const [name, args = {}] = this.#planned.step
    return { toolCalls: [{ name: 'tool_call', args: { name, arguments: this.#resolved(args) } }] }
  }

  #read(text: string, { page, isLast }: PlannedStep): void {
    this.#texts.push(text)
    if (!isLast) return
    if (page === null && !text.includes('All is well')) this.wrong.push(`no page after it: ${text.slice(0, 300)}`)
    if (page !== null && page.shows.test(text)) this.done++
    else if (page !== null) this.wrong.push(`${page.name}: ${text.slice(0, 600)}`)
    if (page === null) this.#texts = []
  }

  #resolved(args: Readonly<Record<string, unknown>>): object {
    const { url, ref } = args
    return {
      ...args,
      ...(typeof url === 'string' ? { url: `${this.#origin}${url}` } : {}),
      ...(typeof ref === 'string' ? { ref: this.#refOf(ref.slice(1)) } : {}),
    }
  }

  #refOf(element: string): string {
    const pattern = new RegExp(`\\[(e\\d+)\\] ${element.replace(/^first /, '')}`)
    const texts = element.startsWith('first ') ? this.#texts : this.#texts.toReversed()
    return texts.flatMap((text) => pattern.exec(text)?.[1] ?? [])[0] ?? 'e0'
  }
}

/** Ends what shows the pages of a home, all at once: the next page may take one that was kept ready. */
async function breakPages(home: string): Promise<void> {
  const pids: number[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('--type=renderer') && command.includes(home)) pids.push(Number(pid))
  }
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
}

needs('chromium', hasChromium)('with a browser', () => {
  it(`${SITE.length} pages come to a line each, and the session goes on`, async () => {
    const { server, home, cwd } = scene
    await using site = await serveSite(() => breakPages(home))
    expect(SITE).toHaveLength(40)
    await mkdir(home, { recursive: true, mode: 0o700 })
    const quiet = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'
    const config = `${quiet}agent: {max_turns: 400}\nbrowser: {command_timeout: 10}\n`
    await writeFile(join(home, 'config.yaml'), config, { mode: 0o600 })
    await writeFile(join(home, 'permissions.yaml'), `browser(${site.origin}): allow\n`, { mode: 0o600 })
    await writeFile(join(cwd, 'note.txt'), 'a note')
    const visitor = new Visitor(site.origin)
    server.setHandler((request) => visitor.next(request))
    const args = ['chat', '-q', 'Look at all of them.', '--base-url', server.baseUrl, '-m', 'm', '--yolo']
    const { stdout, exitCode } = await runCli(args, { home, cwd })
    expect(visitor.wrong).toEqual([])
    expect([visitor.done, exitCode]).toEqual([SITE.length, 0])
    expect(stdout).toContain('All were seen.')
    expect(await readdir(join(home, 'cache/browser'))).toEqual([])
  }, 300_000)
})
