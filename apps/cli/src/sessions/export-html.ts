import { type Message, toolCalls } from '@hermes/contracts/conversation'
import type { ExportedSession } from './export-session.js'
import { undoLine } from './export-session.js'
import { shownText } from './shown-text.js'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 52rem; margin: 0 auto; padding: 1rem }
header { position: sticky; top: 0; background: Canvas; padding: .5rem 0; border-bottom: 1px solid GrayText }
input { width: 100%; font: inherit; padding: .4rem; box-sizing: border-box }
h1 { font-size: 1.3rem; margin: 0 }
.facts, .count { color: GrayText; font-size: .85rem }
article { margin: 1rem 0; padding: .2rem .8rem; border-left: 4px solid GrayText }
article.user { border-color: #3b82f6 } article.assistant { border-color: #10b981 }
article[hidden] { display: none }
h2 { font-size: .85rem; margin: 0; color: GrayText }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font: inherit }
details pre { font: .85rem/1.4 ui-monospace, monospace }`

// Matching is by the words of the box, all of which must occur, in any case.
const SCRIPT = `
const box = document.querySelector('input'), count = document.querySelector('.count')
const all = [...document.querySelectorAll('article')]
const texts = all.map((article) => article.textContent.toLowerCase())
const search = () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let shown = 0
  all.forEach((article, at) => {
    article.hidden = !words.every((word) => texts[at].includes(word))
    if (!article.hidden) shown++
    for (const details of article.querySelectorAll('details')) details.open = words.length > 0
  })
  count.textContent = words.length ? shown + ' of ' + all.length + ' messages' : all.length + ' messages'
}
box.addEventListener('input', search)
search()`

/** One file that needs nothing else: the conversation with a box to search it. */
export function exportHtml({ session, entries }: ExportedSession): string {
  const title = (session.title ?? session.preview).replace(/\s+/g, ' ').trim() || session.id
  const facts = [
    session.id,
    new Date(session.startedAtMs).toISOString().slice(0, 16).replace('T', ' '),
    session.model,
    session.cwd,
  ]
  const articles = entries.flatMap((entry) => {
    if (entry.type === 'message') return article(entry.message, entry.atMs)
    if (entry.type === 'undo') return [`<p class="facts">${asHtml(undoLine(entries, entry))}</p>`]
    return entry.type === 'compaction' ? [summary(entry.summary)] : []
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${asHtml(title)}</title>
<style>${STYLE}
</style>
</head>
<body>
<header>
<h1>${asHtml(title)}</h1>
<p class="facts">${facts
    .filter((fact) => fact !== null)
    .map(asHtml)
    .join(' · ')}</p>
<input type="search" placeholder="Search this conversation" aria-label="Search this conversation">
<p class="count"></p>
</header>
<main>
${articles.join('\n')}
</main>
<script>${SCRIPT}
</script>
</body>
</html>
`
}

function article(message: Message, atMs: number): readonly string[] {
  if (message.role === 'system') return []
  const text = shownText(message).trim()
  const calls = toolCalls(message).map((call) => folded(`Calls ${call.name}`, call.rawArgs))
  const body = message.role === 'tool' ? folded(`Result${message.isError ? ' (failed)' : ''}`, text) : block(text)
  const who = message.role === 'tool' ? message.toolName : message.role
  const when = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
  return [
    `<article class="${message.role}">\n<h2>${asHtml(who)} <time>${when}</time></h2>\n${[body, ...calls].filter(Boolean).join('\n')}\n</article>`,
  ]
}

function summary(text: string): string {
  return `<article>\n<h2>Summary of what came before</h2>\n${block(text.trim())}\n</article>`
}

const block = (text: string): string => (text === '' ? '' : `<pre>${asHtml(text)}</pre>`)
const folded = (label: string, text: string): string =>
  `<details><summary>${asHtml(label)}</summary><pre>${asHtml(text)}</pre></details>`

function asHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
