import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** HTML, or what answers a request for a page. */
type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** What a model does: a tool with its arguments, in which `$role "name"` stands for the reference of that element as it was shown last, `$first …` for that as it was shown first. */
export type Step = readonly [tool: string, args?: Readonly<Record<string, unknown>>]

/** One page of the site, and what a model has of it. */
export interface SitePage {
  readonly name: string
  readonly page: Answer
  /** What else is there, by path. */
  readonly beside?: Readonly<Record<string, Answer>>
  /** After it was opened. */
  readonly steps?: readonly Step[]
  /** What the last answer says. */
  readonly shows: RegExp
  /** A call about it ends with the time that it has. */
  readonly takesAllTime?: true
}

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const reply =
  (status: number, headers: Readonly<Record<string, string>>, body: string | Buffer = ''): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)
const click = (element: string): Step => ['browser_click', { ref: `$${element}` }]
const type = (element: string, text: string): Step => ['browser_type', { ref: `$${element}`, text }]
const look = (args: object = {}): Step => ['browser_snapshot', { ...args }]
const dialog = (action: string, text?: string): Step => ['browser_dialog', { action, ...(text ? { text } : {}) }]
const attached = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  'content-type': 'application/octet-stream',
  'content-disposition': `attachment; filename="${name}"`,
  ...more,
})
const PDF =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/MediaBox[0 0 9 9]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>'
const inRoots = (depth: number) =>
  `<div id=a></div><script>let at = a; for (let n = 0; n < ${depth}; n++) { const root = at.attachShadow({ mode: 'open' }); root.innerHTML = '<div></div>'; at = root.firstChild }; at.innerHTML = '<button onclick="this.textContent=\\'deep done\\'">Deep</button>'</script>`

/** Ordinary pages first, then those that misbehave. */
export const SITE: readonly SitePage[] = [
  { name: 'an article', page: '<h1>News</h1><p>Rain is coming.', shows: /heading 1 "News"\nRain is coming\./ },
  {
    name: 'a form',
    page: '<form action=/sent><label>Name <input name=n></label><button>Send</button></form>',
    beside: { '/sent': (request, response) => void response.writeHead(200, HTML).end(`<p>Got ${request.url}`) },
    steps: [type('textbox "Name"', 'Ann'), click('button "Send"')],
    shows: /Got \/sent\?n=Ann/,
  },
  {
    name: 'a list to choose from',
    page: '<select aria-label=Size onchange="o.textContent=`chose ${value}`"><option>S<option>M</select><p id=o>',
    steps: [['browser_select', { ref: '$combobox "Size"', values: ['M'] }]],
    shows: /chose M/,
  },
  {
    name: 'boxes to tick',
    page: '<label><input type=checkbox onchange="o.textContent=`ticked ${checked}`">Agree</label><p id=o>',
    steps: [click('checkbox "Agree"')],
    shows: /ticked true/,
  },
  {
    name: 'a date',
    page: '<input type=date aria-label=Day onchange="o.textContent=`day ${value}`"><p id=o>',
    steps: [type('date "Day"', '2026-12-31')],
    shows: /day 2026-12-31/,
  },
  {
    name: 'a table',
    page: '<table><tr><th>Name<th>Sum<tr><td>Ann<td>7</table>',
    shows: /row "Name \| Sum"\nrow "Ann \| 7"/,
  },
  {
    name: 'a page of 2,000 rows',
    page: `<ul>${Array.from({ length: 2000 }, (_, at) => `<li><a href=/r${at}>Row ${at}</a>`).join('')}</ul>`,
    steps: [look({ find: 'Row 1234' })],
    shows: /link "Row 1234"/,
  },
  {
    name: 'a page that scrolls without end',
    page: '<div id=d></div><script>let n = 0; const more = () => { while (d.offsetHeight < scrollY + innerHeight * 1.5) d.insertAdjacentHTML("beforeend", `<p style="height:300px">Part ${n++}`) }; more(); onscroll = more</script>',
    steps: [
      ['browser_scroll', { direction: 'down' }],
      ['browser_scroll', { direction: 'down' }],
    ],
    shows: /above: \d+ lines?\)[\s\S]*Part [5-9]/,
  },
  {
    name: 'a frame of the same site',
    page: '<iframe src=/inner title=Inner></iframe>',
    beside: { '/inner': '<button onclick="this.textContent=`inner done`">Within</button>' },
    steps: [click('button "Within"')],
    shows: /inner done/,
  },
  {
    name: 'a frame without an origin',
    page: `<iframe sandbox="allow-scripts" title=Walled srcdoc="<button onclick=\\"this.textContent='walled done'\\">Within</button>"></iframe>`.replaceAll(
      '\\"',
      '&quot;',
    ),
    steps: [['browser_wait', { seconds: 0.5 }], click('button "Within"')],
    shows: /walled done/,
  },
  { name: 'shadow roots', page: inRoots(3), steps: [click('button "Deep"')], shows: /deep done/ },
  {
    name: 'an input method',
    page: '<input aria-label=Text oninput="o.textContent=`${event.inputType}: ${value}`"><p id=o>',
    steps: [type('textbox "Text"', '日本語と한국어')],
    shows: /insertText: 日本語と한국어/,
  },
  {
    name: 'text from right to left',
    page: '<html dir=rtl lang=ar><h1>مرحبا</h1><label>الاسم <input oninput="o.textContent=value"></label><p id=o>',
    steps: [type('textbox "الاسم"', 'سلام')],
    shows: /= "سلام"/,
  },
  {
    name: 'a question',
    page: '<button onclick="o.textContent=`answered ${prompt(\'Who?\')}`">Ask</button><p id=o>',
    steps: [click('button "Ask"'), dialog('accept', 'Ann')],
    shows: /answered Ann/,
  },
  {
    name: 'a field for files',
    page: '<input type=file aria-label=File onchange="o.textContent=`got ${files[0].name}`"><p id=o>',
    steps: [['browser_upload', { ref: '$file "File"', paths: ['note.txt'] }]],
    shows: /got note\.txt/,
  },
  {
    name: 'a download',
    page: '<a href=/file.txt>Get it</a>',
    beside: { '/file.txt': reply(200, attached('../up.txt'), 'hello') },
    steps: [click('link "Get it"')],
    shows: /up\.txt/,
  },
  {
    name: 'another tab',
    page: '<a href=/other target=_blank>Other</a>',
    beside: { '/other': '<h1>Other</h1>' },
    steps: [click('link "Other"'), ['browser_tabs', { action: 'list' }]],
    shows: /\/other/,
  },
  {
    name: 'a page that a script leads on to',
    page: '<script>location.replace("/led")</script>',
    beside: { '/led': '<h1>Led here</h1>' },
    shows: /Led here/,
  },
  {
    name: 'a page that scripts make',
    page: '<div id=d></div><script>setTimeout(() => { d.innerHTML = "<h1>Made late</h1>" }, 300)</script>',
    steps: [['browser_wait', { text: 'Made late', seconds: 5 }]],
    shows: /Made late/,
  },
  {
    name: 'a cookie layer',
    page: '<button onclick="this.textContent=`bought`">Buy</button><div id=l style="position:fixed;inset:0;background:white">Cookies? <button onclick="l.remove()">Accept</button></div>',
    steps: [click('button "Buy"'), click('button "Accept"'), click('button "Buy"')],
    shows: /bought/,
  },
  {
    name: 'a login wall',
    page: reply(403, HTML, '<h1>Log in</h1><input type=password aria-label=Key>'),
    shows: /The server answered 403\.[\s\S]*heading 1 "Log in"/,
  },
  {
    name: 'a captcha',
    page: '<h1>Are you human?</h1><iframe title="reCAPTCHA" src=/captcha></iframe>',
    beside: { '/captcha': '<label><input type=checkbox>I am not a robot</label>' },
    shows: /Are you human\?[\s\S]*checkbox "I am not a robot"/,
  },
  {
    name: 'HTTP authentication',
    page: reply(401, { 'www-authenticate': 'Basic realm="x"' }),
    shows: /wants a name and a password[^\n]*\(HTTP authentication\)/,
  },
  { name: 'a circle of redirects', page: reply(302, { location: '/24' }), shows: /redirects in a circle/ },
  { name: 'a PDF as page', page: reply(200, { 'content-type': 'application/pdf' }, PDF), shows: /a PDF, whose text/ },
  {
    name: 'a download of 5 GB',
    page: (_request, response) => {
      response.writeHead(200, attached('five.bin', { 'content-length': '5000000000' }))
      response.write(Buffer.alloc(100_000))
    },
    shows: /"five\.bin" was not downloaded: it has more than 100 MB/,
  },
  {
    name: 'alerts without end',
    page: '<button onclick="for (let n = 0; n < 3; n++) alert(`No ${n}`)">Loop</button>',
    steps: [click('button "Loop"'), dialog('accept'), dialog('accept'), dialog('accept')],
    shows: /Accepted the alert "No 2"/,
  },
  {
    name: 'a page that asks before it is left',
    page: '<button>Touch</button><script>onbeforeunload = (event) => event.preventDefault()</script>',
    steps: [click('button "Touch"'), ['browser_navigate', { url: '/well' }], dialog('accept')],
    shows: /All is well/,
  },
  {
    name: '200 tabs',
    page: '<button onclick="for (let n = 0; n < 200; n++) window.open(`about:blank`)">Many</button>',
    steps: [click('button "Many"'), ['browser_tabs', {}]],
    // The page before it opened the second.
    shows: /\b3: +about:blank$/,
  },
  {
    name: 'frames within frames',
    page: '<iframe src=/f?1 title=f></iframe>',
    beside: {
      '/f': (request, response) => {
        const depth = Number(request.url!.split('?')[1])
        const inner = depth < 12 ? `<iframe src="/f?${depth + 1}" title=f></iframe>` : ''
        response.writeHead(200, HTML).end(`<p>Depth ${depth}${inner}`)
      },
    },
    shows: /Depth 12/,
  },
  { name: 'roots within roots', page: inRoots(60), steps: [click('button "Deep"')], shows: /deep done/ },
  {
    name: 'an element that runs away',
    page: '<button id=b style="position:absolute">Catch</button><script>let at = 0; setInterval(() => { b.style.left = `${(at += 7) % 400}px` }, 10)</script>',
    steps: [click('button "Catch"')],
    shows: /keeps moving\. Wait for it with browser_wait/,
  },
  {
    name: 'an element that is gone',
    page: '<button onclick="this.outerHTML=this.outerHTML">Old</button>',
    steps: [click('button "Old"'), click('first button "Old"')],
    shows: /is gone\. The nearest equal one is \[e\d+\] button "Old"/,
  },
  {
    name: 'a page that breaks its process',
    page: '<button onclick="fetch(`/break`)">Break</button>',
    // On a machine under load its end comes after the click.
    steps: [click('button "Break"'), ['browser_wait', { text: 'never', seconds: 25 }]],
    shows: /The page crashed\. Open it again/,
  },
  {
    name: 'a page that never comes',
    takesAllTime: true,
    page: () => undefined,
    shows: /did not get there within \d+ s|it never came/,
  },
  {
    name: 'a page that never ends',
    takesAllTime: true,
    page: (_request, response) => {
      response.writeHead(200, HTML).write('<h1>And on</h1>')
      const more = setInterval(() => response.write('<p>and on</p>'), 50)
      response.once('close', () => clearInterval(more))
    },
    shows: /did not get there within \d+ s|And on/,
  },
  {
    name: 'a script that never ends',
    takesAllTime: true,
    page: '<h1>Busy</h1><script>setTimeout(() => { for (;;); }, 200)</script>',
    steps: [['browser_wait', { seconds: 1 }], look()],
    shows: /The page answers nothing: it never came, or a script/,
  },
  { name: 'a page that breaks off', page: (_request, response) => void response.destroy(), shows: /answered 502/ },
  {
    name: 'bytes that are no page',
    page: reply(200, { ...HTML, 'content-encoding': 'gzip' }, 'no gzip'),
    shows: /\/39/,
  },
  {
    name: 'a frame of what may not be reached',
    page: '<iframe title=Meta src="http://169.254.169.254/latest/"></iframe><h1>Around</h1>',
    shows: /heading 1 "Around"|iframe "Meta"/,
  },
]

/** Serves page N under `/N`, and what is beside it. `breakPages` ends the processes that show it. */
export async function serveSite(breakPages: () => Promise<void>) {
  const beside = Object.assign({}, ...SITE.map((one) => one.beside ?? {})) as Readonly<Record<string, Answer>>
  const server = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    const answer = path === '/well' ? '<h1>All is well</h1>' : (SITE[Number(path.slice(1)) - 1]?.page ?? beside[path])
    if (path === '/break') void breakPages()
    else if (typeof answer === 'function') answer(request, response)
    else
      response.writeHead(answer === undefined ? 404 : 200, HTML).end(`<!doctype html><title>T</title>${answer ?? ''}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
