// Forty pages, ordinary ones and those that misbehave, in sessions of the built CLI: what each comes to is what its line in site.ts says, and
// the session goes on after each, for the next page is there. Those that take all the time of a call are in a session of their own, where that
// is short, while the others are looked at.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { hasChromium } from '../support/chromium.js'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { SITE, type SitePage, type Step, serveSite } from './site.js'

const scene = useScene()
const WELL: Step = ['browser_navigate', { url: '/well' }]
/** What programs call works in the pages of their session, and what they open is there after them. */
const IN_PROGRAMS: readonly SitePage[] = [
  {
    name: 'a program',
    page: '',
    steps: [
      [
        'execute_code',
        {
          language: 'javascript',
          code: "import { browser_navigate, browser_snapshot } from 'hermes_tools'\nconst before = await browser_snapshot({})\nconst after = await browser_navigate({ url: before.match(/http\\S+\\/(?=well)/)[0] + '1' })\nconsole.log(before.includes('All is well'), after.includes('Rain is coming'))",
        },
      ],
    ],
    shows: /true true/,
  },
  { name: 'what a program opened', page: '', steps: [['browser_snapshot']], shows: /Rain is coming/ },
]
/** What a call with little time says on a machine under load, and the next one, which meets what the first had begun. */
const LATE = /did not get there within \d+ s|The page was not opened\./
const QUIET = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'

/** What a tool answered last. */
function answerIn({ body }: CapturedRequest): string {
  const last = (body.messages as readonly { readonly role: string; readonly content: unknown }[]).at(-1)
  return last?.role === 'tool' ? (typeof last.content === 'string' ? last.content : JSON.stringify(last.content)) : ''
}

interface PlannedStep {
  /** `null` for a look at a page that must be there. */
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

  constructor(origin: string, pages: readonly SitePage[], after: readonly SitePage[] = []) {
    this.#origin = origin
    const look = { page: null, step: WELL, isLast: true }
    const visit = (page: SitePage) => {
      const number = SITE.indexOf(page) + 1
      const opening: readonly Step[] = number === 0 ? [] : [['browser_navigate', { url: `/${number}` }]]
      const steps = [...opening, ...(page.steps ?? [])]
      const planned = steps.map((step, index) => ({ page, step, isLast: index === steps.length - 1 }))
      return page.takesAllTime ? [...planned, look] : planned
    }
    this.#steps = [look, ...pages.flatMap(visit), look, ...after.flatMap(visit)]
  }

  next(request: CapturedRequest) {
    if (this.#planned) this.#read(answerIn(request), this.#planned)
    this.#planned = this.#steps.shift()
    if (!this.#planned) return { text: 'All were seen.' }
    const [name, args = {}] = this.#planned.step
    if (name === 'execute_code') return { toolCalls: [{ name, args }] }
    return { toolCalls: [{ name: 'tool_call', args: { name, arguments: this.#resolved(args) } }] }
  }

  #read(text: string, planned: PlannedStep): void {
    const { page, step, isLast } = planned
    if (step[0] === 'browser_navigate' && page !== null) this.#texts = []
    this.#texts.push(text)
    // A machine under load needs more than one for the first page, with which the browser starts.
    if (page === null && LATE.test(text)) this.#steps.unshift(planned)
    else if (page === null && !text.includes('All is well')) this.wrong.push(`no page after it: ${text.slice(0, 300)}`)
    if (page === null || !isLast) return
    if (page.shows.test(text)) this.done++
    else this.wrong.push(`${page.name}: ${text.slice(0, 600)}`)
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
    await writeFile(join(cwd, 'note.txt'), 'a note')
    const visitors = {
      all: new Visitor(
        site.origin,
        SITE.filter(({ takesAllTime }) => !takesAllTime),
        IN_PROGRAMS,
      ),
      late: new Visitor(
        site.origin,
        SITE.filter(({ takesAllTime }) => takesAllTime),
      ),
    }
    server.setHandler((request) => visitors[request.body.model as keyof typeof visitors].next(request))
    const visit = async (model: keyof typeof visitors, own: string, browser: string) => {
      await mkdir(own, { recursive: true, mode: 0o700 })
      const config = `${QUIET}agent: {max_turns: 400}\n${browser}`
      await writeFile(join(own, 'config.yaml'), config, { mode: 0o600 })
      await writeFile(join(own, 'permissions.yaml'), `browser(${site.origin}): allow\n`, { mode: 0o600 })
      const args = ['chat', '-q', 'Look at all of them.', '--base-url', server.baseUrl, '-m', model, '--yolo']
      const { stdout, exitCode } = await runCli(args, { home: own, cwd })
      expect(visitors[model].wrong).toEqual([])
      expect(exitCode).toBe(0)
      expect(stdout).toContain('All were seen.')
      expect(await readdir(join(own, 'cache/browser'))).toEqual([])
    }
    const late = join(dirname(home), 'late')
    await Promise.all([visit('all', home, ''), visit('late', late, 'browser: {command_timeout: 4}\n')])
    expect(visitors.all.done + visitors.late.done).toBe(SITE.length + IN_PROGRAMS.length)
  }, 300_000)
})
