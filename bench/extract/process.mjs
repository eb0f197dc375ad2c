// node process.mjs '{"rounds":…}': measures how pages become Markdown and prints samples as JSON.
const { htmlToMarkdown } = await import('../../packages/web/src/page/html-to-markdown.ts')
const { compareWords, librariesAlone, readabilityAlone, savedPages, wordsOf, wordsOfMarkdown } = await import(
  '../../packages/web/src/__fixtures__/saved-pages.ts'
)

const { rounds } = JSON.parse(process.argv[2])
const ADDRESS = 'https://pages.example/article'

/** 83 kB: sections of words, code, tables and links, with a menu of many entries around them. */
function article() {
  const entries = Array.from({ length: 200 }, (_, at) => `<li><a href="/page/${at}">Entry ${at} of the menu</a></li>`)
  const section = (at) => `<h2 id="s${at}">Section ${at}</h2>
<p>What is written here says <b>something</b> about <a href="/topic/${at}">the topic ${at}</a>, and goes on for a while, so that it is a text and no list. ${'It has more sentences than one, which say little. '.repeat(6)}</p>
<pre><code class="language-js">const value = ${at}
console.log(value &lt; 3)</code></pre>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>a</td><td>${at}</td></tr><tr><td>b</td><td>${at * 2}</td></tr></table>`
  const body = []
  const page = () =>
    `<!doctype html><html><head><title>An article</title></head><body><nav><ul>${entries.join('')}</ul></nav><main><article><h1>An article</h1>${body.join('\n')}</article></main><footer><p>Imprint</p></footer></body></html>`
  for (let at = 0; page().length < 83_000; at++) body.push(section(at))
  return page()
}

/** The thread that reads pages stays for a minute: the first pages in it pay for the others. */
const WARM = 6

/** Processor time in milliseconds. */
function timed(work) {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const mean = (values) => (100 * values.reduce((sum, value) => sum + value, 0)) / values.length

const html = article()
const samples = { ours: [], alone: [] }
for (let round = 0; round < WARM + rounds; round++) {
  samples.ours.push(timed(() => htmlToMarkdown(html, ADDRESS)))
  samples.alone.push(timed(() => librariesAlone(html)))
}
const pages = savedPages().map((page) => {
  const { title, text } = htmlToMarkdown(page.html, ADDRESS)
  return {
    ours: compareWords(page.words, wordsOfMarkdown(text.startsWith(`# ${title}`) ? text : `${title}\n${text}`)),
    alone: compareWords(page.words, wordsOf(readabilityAlone(page.html))),
  }
})
const figures = {
  first: samples.ours.slice(0, 1),
  ours: samples.ours.slice(WARM),
  alone: samples.alone.slice(WARM),
  found: [mean(pages.map(({ ours }) => ours.found))],
  other: [mean(pages.map(({ ours }) => ours.other))],
  foundAlone: [mean(pages.map((page) => page.alone.found))],
  otherAlone: [mean(pages.map((page) => page.alone.other))],
}
process.stdout.write(JSON.stringify(figures))
