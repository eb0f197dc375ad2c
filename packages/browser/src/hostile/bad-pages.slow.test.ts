// Pages and servers that misbehave. Each ends as a line that a model can act on, and the same session goes on after it.
import { gzipSync } from 'node:zlib'
import { needs } from '@hermes/testkit/daemons'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { processes } from '../__fixtures__/processes.js'
import { type BrowserScene, openScene, PUBLIC } from '../__fixtures__/scene.js'
import { type Answer, type Site, startSite } from '../__fixtures__/site.js'
import { findBrowser } from '../launch/find-browser.js'

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => null,
  () => 'no Chromium',
)

const isSoak = process.env['HERMES_TEST_RUNS'] !== undefined
/** Frames within frames. */
const DEEPEST = isSoak ? 60 : 12

const reply =
  (status: number, headers: Readonly<Record<string, string>>, body: string | Buffer = ''): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)
const PDF =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/MediaBox[0 0 9 9]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>'
const DOWNLOAD = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename=five.bin' }
const HTML = { 'content-type': 'text/html; charset=utf-8' }

needs(missing)('bad pages', () => {
  let scene: BrowserScene
  let site: Site
  const at = (path: string) => `http://site.test:${site.port}${path}`
  const go = (path: string, session?: string) => scene.call('browser_navigate', { url: at(path) }, session)
  const open = (answer: Answer, session?: string) => {
    site.pages['/page'] = typeof answer === 'string' ? `<!doctype html><title>T</title>${answer}` : answer
    return go('/page', session)
  }
  const ref = (text: string, what: string) => new RegExp(`\\[(e\\d+)\\] ${what}`).exec(text)?.[1]
  /** The first line of what a call rejects with; what happened beside it comes after. */
  const failure = async (calling: Promise<string>) => {
    const error: unknown = await calling.then(
      (text) => `It gave ${text}`,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(Error)
    return (error as Error).message.split('\n')[0]
  }
  const processesOf = async (group: number) => (await processes()).filter((one) => one.group === group)

  beforeAll(async () => {
    scene = await openScene()
    site = await startSite(PUBLIC, { '/well': '<!doctype html><title>T</title><h1>All is well</h1>' })
  })
  beforeEach(() => go('/well'))
  afterEach(async () => {
    expect(await go('/well')).toContain('heading 1 "All is well"')
  })
  afterAll(async () => {
    const pid = scene.pid!
    await scene[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
    for (let tries = 0; tries < 100 && (await processesOf(pid)).length > 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await processesOf(pid)).toEqual([])
  })

  it.each<readonly [string, Answer, RegExp]>([
    ['redirects in a circle', reply(302, { location: '/page' }), /^The site redirects in a circle/],
    ['wants HTTP authentication', reply(401, { 'www-authenticate': 'Basic realm="x"' }), /\(HTTP authentication\)/],
    ['names what is no content', reply(204, {}), /^The page was not opened\.$/],
  ])('a server that %s is said in a line', async (_, answer, words) => {
    const line = await failure(open(answer))
    expect(line).toMatch(words)
    expect(line).not.toContain('net::')
  })

  it('what a server sends is shown as far as it can be', async () => {
    expect(await open((_request, response) => void response.destroy())).toContain('The server answered 502.')
    expect(await open(reply(403, HTML, '<h1>Log in</h1><input type=password aria-label=Key>'))).toMatch(
      /The server answered 403\.[\s\S]*heading 1 "Log in"\n\[e\d+\] password "Key"/,
    )
    const latin = reply(200, { 'content-type': 'text/html; charset=latin1' }, Buffer.from('<h1>Grüße</h1>', 'latin1'))
    expect(await open(latin)).toContain('heading 1 "Grüße"')
    expect(await open(reply(200, { 'content-type': 'text/html; charset=klingon' }, '<h1>Gr'))).toContain(
      'heading 1 "Gr"',
    )
    expect(await open(reply(200, HTML, Buffer.alloc(10_000, 7)))).toContain('/page')
    expect(await open(reply(200, { 'content-type': 'application/pdf' }, PDF))).toContain(
      'a PDF, whose text is not seen',
    )
  })

  it('what breaks off is shown without a wait for the rest', async () => {
    scene.settings = { ...scene.settings, commandMs: 12_000 }
    const cut: Answer = (_request, response) => {
      response.writeHead(200, { ...HTML, 'content-length': '1000' })
      response.write('<h1>Half of it</h1>')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await open(cut, 'hasty')).toContain('heading 1 "Half of it"')
    expect(await open(reply(200, { ...HTML, 'content-encoding': 'gzip' }, 'no gzip'), 'hasty')).toContain('/page')
    scene.settings = { ...scene.settings, commandMs: 300_000 }
    await scene.sessions.end('hasty')
  })

  it('a page that never comes, or never ends, is given up in its time and can be looked at', async () => {
    const within = (commandMs: number) => {
      scene.settings = { ...scene.settings, commandMs }
    }
    onTestFinished(() => within(300_000))
    site.pages['/never'] = () => undefined
    site.pages['/endless'] = (_request, response) => {
      response.writeHead(200, HTML).write('<h1>And on</h1>')
      const more = setInterval(() => response.write('<p>and on</p>'), 50)
      response.once('close', () => clearInterval(more))
    }
    // Of the time that its first page takes, which is long on a machine under load, nothing is taken from them.
    await go('/well', 'hasty')
    within(1_000)
    for (const path of ['/never', '/endless'])
      expect(await failure(go(path, 'hasty'))).toMatch(
        /^The page (?:did not get there within 1 s\.|answers nothing: it never came)/,
      )
    within(300_000)
    await expect.poll(() => scene.call('browser_snapshot', {}, 'hasty')).toContain('heading 1 "And on"')
    await scene.sessions.end('hasty')
  })

  it('what is packed a thousandfold is shown in part', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000, '<p>row</p>\n'))
    const text = await open(reply(200, { ...HTML, 'content-encoding': 'gzip' }, bomb))
    expect(text).toMatch(/row[\s\S]*\(below: \d+ lines and more/)
    expect(text.length).toBeLessThan(4_096)
  })

  it('a download of 5 GB is not begun', async () => {
    const huge: Answer = (_request, response) => {
      response.writeHead(200, { ...DOWNLOAD, 'content-length': '5000000000' })
      response.write(Buffer.alloc(100_000))
    }
    expect(await open(huge)).toContain('"five.bin" was not downloaded: it has more than 100 MB.')
  })

  it('dialogs without end leave a page that can be closed', async () => {
    expect(await open('<script>while (confirm("Stay?")) {}</script>', 'asked')).toContain('confirm "Stay?"')
    for (let time = 0; time < 3; time++)
      expect(await scene.call('browser_dialog', { action: 'accept' }, 'asked')).toContain('A dialog is open')
    expect(await failure(go('/well', 'asked'))).toBe('This waits: a dialog has to be answered first.')
    await scene.call('browser_close', {}, 'asked')
    expect(await go('/well', 'asked')).toContain('All is well')
    await scene.sessions.end('asked')
  })

  it('a page that does not want to be left asks, and is left', async () => {
    const text = await open('<button>x</button><script>onbeforeunload = (event) => event.preventDefault()</script>')
    await scene.call('browser_click', { ref: ref(text, 'button') })
    expect(await go('/well')).toContain('asks whether to leave it')
    expect(await scene.call('browser_dialog', { action: 'accept' })).toContain('All is well')
  })

  it('tabs that no click asked for are not opened', async () => {
    const opening = `for (let n = 0; n < 40; n++) window.open('/unasked?' + n)`
    const text = await open(`<script>${opening}</script><button onclick="${opening}">Read on</button>`, 'many')
    expect(text).toContain(
      `wanted to open 40 windows by itself, and a window opens by a click alone: the first was for`,
    )
    expect(text).toContain(at('/unasked?0'))
    const clicked = await scene.call('browser_click', { ref: ref(text, 'button') }, 'many')
    expect(clicked).toContain('tab 2')
    const tabs = await scene.call('browser_tabs', {}, 'many')
    expect(tabs.split('\n').filter((line) => /^[* ] \d+: /.test(line))).toHaveLength(2)
    expect(site.seen.filter((line) => line.startsWith('GET /unasked'))).toEqual(['GET /unasked?0'])
    await scene.sessions.end('many')
  })

  it('tabs that are one too many are closed', async () => {
    site.pages['/one-more'] = '<button onclick="window.open(`/one-more`)">One more</button>'
    let answer = await go('/one-more', 'loading')
    for (let tab = 2; tab <= 22; tab++)
      answer = await scene.call(
        'browser_click',
        { ref: ref(answer, 'button') ?? ref(await scene.call('browser_snapshot', {}, 'loading'), 'button') },
        'loading',
      )
    expect(answer).toContain('more than 20 tabs')
    const tabs = await scene.call('browser_tabs', {}, 'loading')
    expect(tabs.split('\n').filter((line) => /^[* ] \d+: /.test(line))).toHaveLength(20)
    expect(await go('/well', 'loading')).toContain('All is well')
    await scene.sessions.end('loading')
  })

  it('frames within frames and roots within roots are read to a depth', async () => {
    const nested: Answer = (request, response) => {
      const depth = Number(new URL(request.url!, 'http://x').searchParams.get('n') ?? 0)
      const frame = depth < DEEPEST ? `<iframe src="/nested?n=${depth + 1}"></iframe>` : ''
      response.writeHead(200, HTML).end(`<p>level ${depth}</p>${frame}`)
    }
    site.pages['/nested'] = nested
    expect(await go('/nested')).toContain('level 9')
    const roots =
      '<div id=d></div><script>let at = d; for (let n = 0; n < 300; n++) { const root = at.attachShadow({ mode: "open" }); root.innerHTML = "<div></div>"; at = root.firstChild } at.innerHTML = "<button onclick=\'this.textContent=1+1\'>deep</button>"</script>'
    const text = await open(roots)
    expect(await scene.call('browser_click', { ref: ref(text, 'button "deep"') })).toContain('button "2"')
  })

  it('what moves away is not clicked, and what lies over a page is put aside', async () => {
    const moving = await open(
      '<button id=b style="position:absolute">Catch</button><script>let at = 0; setInterval(() => { b.style.left = `${(at += 7) % 400}px` }, 10)</script>',
    )
    const catching = scene.call('browser_click', { ref: ref(moving, 'button') })
    expect(await failure(catching)).toContain('keeps moving. Wait for it with browser_wait')
    const shy = await open(
      '<button style="position:absolute" onmouseover="this.style.left=`400px`" onclick="alert(1)">Shy</button>',
    )
    expect(await scene.call('browser_click', { ref: ref(shy, 'button') })).toContain('Nothing on the page changed.')
    const layered = await open(
      '<button onclick="this.textContent=`bought`">Buy</button><div id=l style="position:fixed;inset:0;background:white">Cookies? <button onclick="l.remove()">Accept</button></div>',
    )
    const buy = ref(layered, 'button "Buy"') ?? ref(await scene.call('browser_snapshot', { more: 1 }), 'button "Buy"')
    expect(await failure(scene.call('browser_click', { ref: buy }))).toContain('is covered by')
    await scene.call('browser_click', { ref: ref(layered, 'button "Accept"') })
    expect(await scene.call('browser_click', { ref: buy })).toContain('bought')
  })

  it('a name that leads to this machine once its page is there leads nowhere', async () => {
    await using near = await startSite('127.0.0.1', { '/': 'near' })
    scene.names.set('turns.test', PUBLIC)
    expect(await scene.call('browser_navigate', { url: `http://turns.test:${site.port}/well` })).toContain(
      'All is well',
    )
    scene.names.set('turns.test', '127.0.0.1')
    const url = `http://turns.test:${near.port}/`
    expect(await scene.call('browser_navigate', { url }).catch(String)).toContain('not on the public network')
    expect(near.seen).toEqual([])
    // Nor does what a page does that stood open while its name was turned, on the port that it came from.
    await using same = await startSite('127.0.0.1', {}, site.port)
    scene.names.set('stays.test', PUBLIC)
    site.pages['/stays'] = (_request, response) =>
      void response
        .writeHead(200, { ...HTML, connection: 'close' })
        .end(
          `<button onclick="fetch('/well').then(() => 'reached', () => 'shut').then((t) => { this.textContent = t })">Go</button>`,
        )
    const stays = await scene.call('browser_navigate', { url: `http://stays.test:${site.port}/stays` })
    scene.names.set('stays.test', '127.0.0.1')
    await scene.call('browser_click', { ref: ref(stays, 'button') })
    await expect.poll(() => scene.call('browser_snapshot')).toMatch(/button "(?:reached|shut)"/)
    expect(same.seen).toEqual([])
    expect(scene.resolved.filter((name) => name === 'stays.test').length).toBeGreaterThan(1)
  })

  it('a page whose process dies, and a browser that is killed in a call, are opened again', async () => {
    const dying = scene.pid!
    const renderers = (await processesOf(dying)).filter(({ command }) => command.includes('--type=renderer'))
    for (const { pid } of renderers) process.kill(pid, 'SIGKILL')
    await expect.poll(() => failure(scene.call('browser_snapshot'))).toMatch(/^The page crashed\. Open it again/)
    expect(await go('/well')).toContain('All is well')
    const waiting = failure(scene.call('browser_wait', { text: 'never', seconds: 60 }))
    await expect.poll(() => scene.sessions.get('one').isBusy).toBe(true)
    process.kill(-dying, 'SIGKILL')
    expect(await waiting).toMatch(/browser/)
    expect(await go('/well')).toContain('All is well')
    await expect.poll(() => processesOf(dying)).toEqual([])
  })
})
