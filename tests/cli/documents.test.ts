// Documents and images through the built program: what of them reaches the model.
import { copyFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const FIXTURES = resolve(import.meta.dirname, '../../packages/tools/src/documents/__fixtures__')
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const read = async (path: string) => {
  const { server, home, cwd } = scene
  server.enqueue({ toolCalls: [{ name: 'read_file', args: { path } }] }, { text: 'Read.' })
  const run = await runCli(['chat', '-q', 'Read it.', '--base-url', server.baseUrl, '-m', 'm'], { home, cwd })
  expect(run).toMatchObject({ exitCode: 0, stdout: 'Read.\n' })
  return JSON.stringify(server.requests.at(-1)!.body.messages)
}

it('gives the text of a Word document', async () => {
  await copyFile(join(FIXTURES, 'report.docx'), join(scene.cwd, 'report.docx'))
  expect(await read('report.docx')).toContain('2|Costs rose by 4 % & fell again.')
})

it('gives the text of a PDF', async () => {
  const page = 'BT /F1 12 Tf 72 720 Td (Hello from a page) Tj ET'
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[4 0 R]/Count 1>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>',
    `<</Length ${page.length}>>stream\n${page}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`)
  await writeFile(join(scene.cwd, 'a.pdf'), `%PDF-1.4\n${objects.join('')}trailer<</Size 6/Root 1 0 R>>\n%%EOF\n`)
  expect(await read('a.pdf')).toContain('2|Hello from a page')
})

it('shows an image', async () => {
  await writeFile(join(scene.cwd, 'dot.png'), Buffer.from(PNG, 'base64'))
  expect(await read('dot.png')).toContain(`data:image/png;base64,${PNG}`)
})

it('does not show one to a model that is known not to see', async () => {
  const { home, cwd } = scene
  await runCli(['config', 'set', 'model_overrides', '{"m": {"supports_vision": false}}'], { home, cwd })
  await writeFile(join(cwd, 'dot.png'), Buffer.from(PNG, 'base64'))
  const sent = await read('dot.png')
  expect(sent).not.toContain(PNG)
  expect(sent).toContain('name one as auxiliary.vision')
})
