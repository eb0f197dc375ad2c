import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createReadFileTool } from './index.js'
import { defaultToolSettings } from './settings.js'

const tool = createReadFileTool()

async function setup(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  const context = createToolContext({ environment })
  return { folder, context, read: (path: string, more = {}) => call(tool, { path, ...more }, context) }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('read_file', () => {
  it('shows lines with their numbers and nothing else', async () => {
    const { read, folder } = await setup({ 'a.txt': 'one\n  two\n\nfour' })
    const result = await read('a.txt')
    expect(result.text).toBe('1|one\n2|  two\n3|\n4|four')
    expect(result.data).toEqual({
      path: join(folder, 'a.txt'),
      content: '1|one\n2|  two\n3|\n4|four',
      total_lines: 4,
      file_size: 15,
      truncated: false,
    })
  })

  it('pages and says where to go on', async () => {
    const { read } = await setup({ 'a.txt': numbered(1234) })
    const first = await read('a.txt')
    expect(first.text).toMatch(/^1\|line 1\n/)
    expect(first.text).toMatch(/\n500\|line 500\n\[Lines 1-500 of 1234\. Continue with offset 501\.\]$/)
    expect(first.data).toMatchObject({ truncated: true, next_offset: 501 })
    const last = await read('a.txt', { offset: 1233 })
    expect(last.text).toBe('1233|line 1233\n1234|line 1234\n[Lines 1233-1234 of 1234; this is the end.]')
    expect((await read('a.txt', { offset: 2000 })).text).toBe('[No line 2000: the file has 1234 lines]')
  })

  it('advises to search a large file, where a page of many lines is only its start', async () => {
    const { read } = await setup({ 'large.txt': 'some text of a line\n'.repeat(30_000), 'small.txt': numbered(3000) })
    const advice = 'The file is large: find the place with search_files and read only that.'
    expect((await read('large.txt')).text).toMatch(
      new RegExp(`\\n\\[Lines 1-500 of 30000\\. Continue with offset 501\\. ${advice}\\]$`),
    )
    expect((await read('large.txt', { limit: 200 })).text).not.toContain(advice)
    expect((await read('large.txt', { offset: 29_900 })).text).not.toContain(advice)
    expect((await read('small.txt')).text).not.toContain(advice)
  })

  it('clamps offset and limit instead of failing', async () => {
    const { read } = await setup({ 'a.txt': numbered(2500) })
    expect((await read('a.txt', { offset: -5, limit: 2 })).text).toMatch(/^1\|line 1\n2\|line 2\n\[Lines 1-2 /)
    expect((await read('a.txt', { offset: '3', limit: 0 })).text).toMatch(/^3\|line 3\n\[Lines 3-3 /)
    expect((await read('a.txt', { limit: 9999 })).data).toMatchObject({ next_offset: 2001 })
  })

  it('cuts long lines and says how many', async () => {
    const { read } = await setup({ 'a.txt': `${'x'.repeat(2500)}\r\n${'y'.repeat(2000)}\r\nend\r\n` })
    const { text } = await read('a.txt')
    expect(text).toBe(`1|${'x'.repeat(2000)} [… 501 more characters]\n2|${'y'.repeat(2000)}\n3|end\n[1 long line cut.]`)
  })

  it('refuses a page over the character limit with what would fit', async () => {
    const { read } = await setup({ 'a.txt': `${'x'.repeat(999)}\n`.repeat(300) })
    const refused = await read('a.txt')
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain('The file has 300 lines, 300000 bytes')
    const limit = Number(/limit=(\d+)/.exec(refused.text)?.[1])
    expect((await read('a.txt', { limit })).isError).toBe(false)
    expect((await read('a.txt')).text).toBe(refused.text)
  })

  it('reads the end of a file of 50 MB', async () => {
    const line = `${'x'.repeat(99)}\n`
    const { read } = await setup({ 'big.log': `${line.repeat(500_000)}last\n` })
    const result = await read('big.log', { offset: 500_001 })
    expect(result.text).toBe('500001|last\n[Lines 500001-500001 of 500001; this is the end.]')
    expect((await read('big.log', { limit: 1 })).text).toContain('[Lines 1-1 of 500001. Continue with offset 2.]')
  })

  it('decodes characters that lie across a chunk border', async () => {
    const { read } = await setup({ 'a.txt': `${'é'.repeat(700)}\n`.repeat(2000) })
    const { text } = await read('a.txt', { offset: 740, limit: 20 })
    expect(text).not.toContain('\uFFFD')
    expect(text.split('\n').slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => `${740 + i}|${'é'.repeat(700)}`))
  })

  it('says that a line of UTF-16 lies too deep to be reached', async () => {
    const { read, folder } = await setup({ 'a.txt': Buffer.from('\uFEFFone\n', 'utf16le') })
    await truncate(join(folder, 'a.txt'), 2 ** 32)
    expect((await read('a.txt', { limit: 1 })).text).toMatch(/^1\|one\n/)
    expect((await read('a.txt', { offset: 9 })).text).toContain('lies too deep')
  })

  it('strips a UTF-8 mark and decodes UTF-16 with a mark', async () => {
    const { read } = await setup({
      'utf8.txt': '\uFEFFone\ntwo',
      'le.txt': Buffer.from('\uFEFFone\r\ntwö\r\n', 'utf16le'),
      'be.txt': Buffer.from('\uFEFFone\ntwö', 'utf16le').swap16(),
    })
    expect((await read('utf8.txt')).text).toBe('1|one\n2|two')
    expect((await read('le.txt')).text).toBe('1|one\n2|twö')
    expect((await read('be.txt')).text).toBe('1|one\n2|twö')
  })

  it('tells UTF-16 without a mark by its zero bytes, and numbers from text', async () => {
    const { folder, read } = await setup()
    const text = 'eins\r\nzwei für drei\r\n'
    await writeFile(join(folder, 'le.txt'), Buffer.from(text, 'utf16le'))
    await writeFile(join(folder, 'be.txt'), Buffer.from(text, 'utf16le').swap16())
    for (const name of ['le.txt', 'be.txt']) expect((await read(name)).text).toBe('1|eins\n2|zwei für drei')
    await writeFile(
      join(folder, 'samples.raw'),
      Buffer.from(Uint16Array.from({ length: 300 }, (_, n) => n % 90).buffer),
    )
    expect((await read('samples.raw')).text).toContain('not text but ')
  })

  it('names the kind and size of a binary file', async () => {
    const { read } = await setup({
      'a.png': Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
      'b.bin': Buffer.from([1, 0, 2]),
      'c.txt': Buffer.from('caf\xe9 au lait\n', 'latin1'),
      'd.pdf': '%PDF-1.7 text only',
    })
    expect((await read('a.png')).text).toMatch(/a\.png is not text but PNG image, 12 bytes/)
    expect((await read('b.bin')).text).toMatch(/binary data, 3 bytes/)
    expect((await read('c.txt')).text).toMatch(/encoding other than UTF-8/)
    expect((await read('d.pdf')).text).toMatch(/PDF document/)
  })

  it('says that a file is empty', async () => {
    const { read, folder } = await setup({ 'a.txt': '' })
    const result = await read('a.txt')
    expect(result).toMatchObject({ text: `[${join(folder, 'a.txt')} is empty]`, isError: false })
  })

  it('reads files whose size is not known', async () => {
    const { read } = await setup()
    expect((await read('/proc/self/status')).text).toMatch(/^1\|Name:/)
  })

  it('suggests similar names for a missing file', async () => {
    const { read, folder } = await setup({ 'src/parser.ts': '', 'src/parser.test.ts': '', 'src/zebra.md': '' })
    const { text, isError } = await read('src/parsr.ts')
    expect(isError).toBe(true)
    expect(text).toContain(`Did you mean ${join(folder, 'src/parser.ts')}`)
    expect(text).not.toContain('zebra')
    expect((await read('nowhere/at/all.txt')).text).toContain('its folder does not exist either')
  })

  it('refuses devices, pipes and folders without reading them', async () => {
    const { read, folder, context } = await setup({ 'sub/a.txt': 'x', 'sub/inner/b.txt': 'y' })
    expect((await read('/dev/zero')).text).toContain('is a device')
    expect((await read('../../../../../../dev/stdin')).text).toContain('is a device')
    await context.environment.exec(await context.permit(spawn('mkfifo pipe', folder)), 'mkfifo pipe')
    expect((await read('pipe')).text).toContain('not a regular file')
    const listed = await read('sub')
    expect(listed.isError).toBe(true)
    expect(listed.text).toContain('is a directory. It holds a.txt, inner/.')
  })

  it('answers a repeated read with a stub, then an error, then the text again', async () => {
    const { read, folder } = await setup({ 'a.txt': 'one\n' })
    expect((await read('a.txt')).text).toBe('1|one')
    expect((await read(join(folder, 'a.txt'))).text).toContain('is unchanged since')
    expect((await read('a.txt')).isError).toBe(true)
    expect((await read('a.txt')).text).toBe('1|one')
    expect((await read('a.txt', { limit: 3 })).text).toBe('1|one')
    await writeFile(join(folder, 'a.txt'), 'two\n')
    expect((await read('a.txt')).text).toBe('1|two')
  })

  it('delivers a page again once the conversation was compacted', async () => {
    const { folder, environment } = await temporaryEnvironment()
    await writeFile(join(folder, 'a.txt'), 'one\n')
    let compactions = 0
    const context = createToolContext({ environment, compactions: () => compactions })
    expect((await call(tool, { path: 'a.txt' }, context)).text).toBe('1|one')
    compactions++
    expect((await call(tool, { path: 'a.txt' }, context)).text).toBe('1|one')
  })

  it('asks for a permit to read the path and what it links to', async () => {
    const { read, folder, context } = await setup({ 'real.txt': 'x' })
    await symlink('real.txt', join(folder, 'link.txt'))
    await read('link.txt')
    expect(context.permitted).toEqual([
      { type: 'read', path: join(folder, 'link.txt'), backend: 'local' },
      { type: 'read', path: join(folder, 'real.txt'), backend: 'local' },
    ])
  })

  it('reads nothing that the policy denies behind a link', async () => {
    const { folder, context } = await setup({ 'secret.txt': 'hidden' })
    await symlink('secret.txt', join(folder, 'notes.txt'))
    const strict = createToolContext({
      environment: context.environment,
      deny: (action) => action.type === 'read' && action.path.endsWith('secret.txt'),
    })
    const result = await call(tool, { path: 'notes.txt' }, strict)
    expect(result).toMatchObject({ isError: true, text: 'Not allowed here.' })
  })

  it('plans exactly the read it asks for', async () => {
    const { context, folder } = await setup({ 'a.txt': 'x' })
    const args = { path: 'a.txt', offset: 1, limit: 1 }
    expect(tool.actions?.(args, context)).toEqual([{ type: 'read', path: join(folder, 'a.txt'), backend: 'local' }])
    expect(tool.paths?.(args, context)).toEqual([join(folder, 'a.txt')])
  })

  it('keeps to the limits it is given', async () => {
    const { context } = await setup({ 'a.txt': numbered(10) })
    const small = createReadFileTool({ ...defaultToolSettings, maxLines: 2, maxLineLength: 4 })
    expect((await call(small, { path: 'a.txt', limit: 5 }, context)).text).toContain(
      '2|line [… 2 more characters]\n[Lines 1-2 of 10. Continue with offset 3. 2 long lines cut.]',
    )
  })
})

const spawn = (command: string, cwd: string) => ({ type: 'spawn', command, cwd, backend: 'local' }) as const
