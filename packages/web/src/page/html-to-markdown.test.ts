import { describe, expect, it } from 'vitest'
import { htmlToMarkdown } from './html-to-markdown.js'

const WORDS =
  'Every evening the lamplighter walks along the quay and lights forty lamps, one after the other, in the rain. '
const prose = (times: number) => `<p>${WORDS.repeat(4)}</p>`.repeat(times)
const around = (main: string) =>
  `<!doctype html><html><head><title>Lamps &amp; quays</title><script>var hidden = 1</script><style>p{}</style></head><body>
<nav><ul><li><a href="/a">Menu entry</a></li></ul></nav><header><a href="/">Site name</a></header>
<main><article>${main}</article></main><aside>Related things</aside><footer>Imprint and privacy</footer></body></html>`
const read = (html: string, url = 'https://site.example/dir/page') => htmlToMarkdown(html, url)

describe('htmlToMarkdown', () => {
  it('gives the article and leaves out what is around it', () => {
    const { title, text, needsScripts } = read(
      around(`<h1>The lamps</h1>${prose(3)}<h2>Later</h2><ul><li>one</li><li>two</li></ul>`),
    )
    expect({ title, needsScripts }).toEqual({ title: 'Lamps & quays', needsScripts: false })
    expect(text).toContain('the lamplighter walks along the quay')
    expect(text).toMatch(/^## Later$/m)
    expect(text).toMatch(/^- +one$/m)
    for (const word of ['Menu entry', 'Imprint', 'Related', 'hidden']) expect(text).not.toContain(word)
  })

  it('keeps code as it is, with its language, whatever colours it has', () => {
    const code = 'const a = [1, 2]\n\nif (a < b && c) {\n\treturn `x_y*z`  // [no link](at all)\n}'
    const coloured = code
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .split('\n')
      .map((line) => `<span class="line">${line}</span>`)
      .join('\n')
    const page = `${prose(2)}<div class="highlight highlight-source-ts"><button>Copy</button><pre><button>Copy</button><code>${coloured}</code></pre></div>${prose(2)}`
    expect(read(around(page)).text).toContain(`\`\`\`ts\n${code}\n\`\`\``)
  })

  it('keeps tables cell by cell', () => {
    const table = `<table><caption>Tides</caption><thead><tr><th>Port</th><th colspan="2">High_water</th></tr></thead>
<tbody><tr><td>A*b*</td><td>03:10</td><td>4.2 m</td></tr><tr><td>a | b</td><td><code>x_y</code></td><td></td></tr></tbody></table>`
    const { text } = read(around(`${prose(2)}${table}${prose(2)}`))
    expect(text).toContain(
      'Tides\n\n| Port | High_water |  |\n| --- | --- | --- |\n| A*b* | 03:10 | 4.2 m |\n| a \\| b | `x_y` |  |',
    )
  })

  it('makes addresses whole, and leaves out what is no address', () => {
    const links = `<p>${WORDS}<a href="../up?a=1">up</a> <a href="javascript:alert(1)">bad</a> <img src="/p.png" alt="Lamp"> <img src="data:image/png;base64,AAAA" alt="dot"></p>`
    const { text } = read(around(`${prose(2)}${links}${prose(2)}`))
    expect(text).toContain('[up](https://site.example/up?a=1)')
    expect(text).toContain('![Lamp](https://site.example/p.png)')
    expect(text).not.toMatch(/javascript:|base64/)
    expect(text).toContain('bad')
  })

  it('gives all of a page that is a list, not one entry of it', () => {
    const entries = Array.from(
      { length: 40 },
      (_, index) =>
        `<tr><td>${index}.</td><td><a href="/i/${index}">Story number ${index} about something</a></td></tr>`,
    )
    const { text } = read(
      `<html><head><title>News</title></head><body><table>${entries.join('')}</table></body></html>`,
    )
    for (const index of [0, 17, 39]) expect(text).toContain(`Story number ${index} about`)
  })

  it('tells a page that scripts make from one that is merely short', () => {
    const empty =
      '<!doctype html><html><head><title>App</title><script type="module" src="/app.js"></script></head><body><div id="root"></div><noscript>You need to enable JavaScript.</noscript></body></html>'
    expect(read(empty).needsScripts).toBe(true)
    expect(read('<!doctype html><html><body><p>It is noon.</p></body></html>')).toMatchObject({
      needsScripts: false,
      text: 'It is noon.',
    })
  })

  it('reads what is hardly a page', () => {
    expect(read('Just <b>text').text).toContain('text')
    expect(read('').text).toBe('')
    expect(read(`<div>${'<table><tr><td>'.repeat(3_000)}deep`).text).toContain('deep')
    expect(read(`${'<div>'.repeat(20_000)}deep`).text).toContain('deep')
  }, 20_000)
})
