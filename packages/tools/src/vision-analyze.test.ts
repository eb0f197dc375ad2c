import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'
import { createVisionAnalyzeTool } from './vision-analyze.js'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function setup(settings: Partial<ToolSettings> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  const tool = createVisionAnalyzeTool({ ...defaultToolSettings, ...settings })
  await writeFile(join(folder, 'dot.png'), PNG)
  const look = (image_url: string, question = 'Which colour?') => call(tool, { image_url, question }, context)
  return { folder, context, look }
}

describe('vision_analyze', () => {
  it('gives the image to a model that sees', async () => {
    const { look } = await setup({ seesImages: () => true })
    const { content } = await look('dot.png')
    expect(content.at(-1)).toMatchObject({ type: 'image', mediaType: 'image/png', data: PNG.toString('base64') })
  })

  it('has another model answer the question for one that does not', async () => {
    const requested: string[] = []
    const describeImage: ToolSettings['describeImage'] = async (image, { about, sessionId }) => {
      requested.push(`${image.name} ${about} ${sessionId}`)
      return { text: 'Blue.', by: 'eyes' }
    }
    const { look } = await setup({ describeImage })
    const { content } = await look('dot.png')
    expect(requested).toEqual(['dot.png Which colour? session'])
    expect(content).toMatchObject([
      { type: 'text', origin: 'external', text: expect.stringMatching(/eyes tells.*\nBlue\.$/) },
    ])
  })

  it('gets an address with leave for it', async () => {
    const fetchBytes: ToolSettings['fetchBytes'] = async (url, { permit }) => {
      await permit({ type: 'fetch', url, method: 'GET' })
      return { status: url.endsWith('gone.png') ? 404 : 200, body: PNG, isCut: url.endsWith('huge.png') }
    }
    const { look, context } = await setup({ seesImages: () => true, fetchBytes })
    expect((await look('https://a.test/dot.png')).isError).toBe(false)
    expect(context.permitted).toContainEqual({ type: 'fetch', url: 'https://a.test/dot.png', method: 'GET' })
    expect((await look('https://a.test/gone.png')).text).toContain('answered 404')
    expect((await look('https://a.test/huge.png')).text).toContain('make a smaller copy')
  })

  it('says in one line why there is nothing to see', async () => {
    const { folder, look } = await setup({ seesImages: () => true })
    await writeFile(join(folder, 'fake.png'), '<html>')
    await writeFile(join(folder, 'large.png'), Buffer.concat([PNG, Buffer.alloc(11 * 1024 * 1024)]))
    for (const [place, reason] of [
      ['gone.png', 'gone.png'],
      ['fake.png', 'no PNG, JPEG, GIF or WebP'],
      ['large.png', 'make a smaller copy'],
      ['.', 'no regular file'],
      ['https://a.test/dot.png', 'Addresses are not read here'],
    ] as const)
      expect(await look(place)).toMatchObject({ isError: true, text: expect.stringContaining(reason) })
    const blind = await setup()
    expect((await blind.look('dot.png')).text).toContain('there is no model that does')
  })
})
