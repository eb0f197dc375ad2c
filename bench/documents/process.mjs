// node process.mjs: reads small documents in a process of their own and in this one, and prints the milliseconds that each took as JSON.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIsolationSupport } from '../../packages/sandbox/src/isolation/isolation-support.ts'
import { defaultToolSettings } from '../../packages/tools/src/settings.ts'

const documents = join(import.meta.dirname, '../../packages/tools/src/documents')
// What people install: sources have their types taken out in each process, which costs as much as the process itself.
const dist = join(import.meta.dirname, '../../apps/cli/dist')
const chunk = (name) =>
  join(
    dist,
    readdirSync(dist).find((file) => file.startsWith(`${name}-`)),
  )
const { runConfined } = await import(chunk('run-confined'))
const { confined, extractTextModule } = await import(chunk('extract-text'))

const limits = { ...defaultToolSettings.documentLimits, maxOutputBytes: 100 * 1024 * 1024 }
const signal = new AbortController().signal
// A session looks at its machine once.
const isolationSupport = createIsolationSupport()
isolationSupport.why()

/** A PDF of one page, of 0.6 kB. @see ISO 32000-1, 7.5 */
function pdf() {
  const drawing = 'BT /F1 12 Tf 72 720 Td (The meeting is on Monday.) Tj ET'
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[4 0 R]/Count 1>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>',
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
  ]
  const bodies = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`)
  const head = '%PDF-1.4\n'
  const offsets = bodies.map((_, at) => head.length + bodies.slice(0, at).join('').length)
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const text = `${head}${bodies.join('')}`
  const size = objects.length + 1
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`
}

const DOCUMENTS = {
  pdf: new TextEncoder().encode(pdf()),
  docx: new Uint8Array(readFileSync(join(documents, '__fixtures__/report.docx'))),
}

/** As `read_file` reads one. */
async function readApart(kind, bytes) {
  const result = await runConfined({
    ...{ module: extractTextModule, bytes, argument: kind, signal },
    ...{ support: isolationSupport, ...limits },
  })
  return result.type === 'done' ? result.value : null
}

/** Milliseconds until it was read. */
async function timed(read) {
  const start = performance.now()
  const document = await read()
  const ms = performance.now() - start
  if (document?.type !== 'text' || document.text === '') throw new Error('the document was not read')
  return ms
}

// The first of a version has a process keep what is compiled; it is ended with this one.
for (const [kind, bytes] of Object.entries(DOCUMENTS)) await readApart(kind, bytes)
await new Promise((resolve) => setTimeout(resolve, 1_000))

const figures = {}
for (const [kind, bytes] of Object.entries(DOCUMENTS)) {
  const first = await timed(() => confined(bytes, kind))
  const apart = await timed(() => readApart(kind, bytes))
  const again = await timed(() => confined(bytes, kind))
  figures[kind] = { apart, first, again }
}
process.stdout.write(JSON.stringify(figures))
