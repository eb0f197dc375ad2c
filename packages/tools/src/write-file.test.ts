import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createPatchTool, createReadFileTool, createWriteFileTool } from './index.js'

const tool = createWriteFileTool()

async function setup() {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  const write = (path: string, content: string) => call(tool, { path, content }, context)
  return { folder, environment, context, write, content: (name: string) => readFile(join(folder, name), 'utf8') }
}

describe('write_file', () => {
  it('creates a file with its folders and says what it did', async () => {
    const { write, folder, content } = await setup()
    const path = join(folder, 'a/b/c.txt')
    const result = await write('a/b/c.txt', 'one\ntwö\n')
    expect(result.text).toBe(`Created ${path}: 2 lines, 9 bytes.`)
    expect(result.data).toEqual({ path, bytes_written: 9, lines: 2, created: true })
    expect(await content('a/b/c.txt')).toBe('one\ntwö\n')
    expect((await write('a/b/c.txt', '')).text).toBe(`Overwrote ${path}: 0 lines, 0 bytes.`)
  })

  it('keeps mode, CRLF, mark and link of the old file', async () => {
    const { write, folder, content } = await setup()
    await writeFile(join(folder, 'a.sh'), '\uFEFFone\r\ntwo\r\n', { mode: 0o755 })
    await chmod(join(folder, 'a.sh'), 0o755)
    await symlink('a.sh', join(folder, 'link.sh'))
    await write('link.sh', 'x\ny\r\n')
    expect(await content('a.sh')).toBe('\uFEFFx\r\ny\r\n')
    expect((await stat(join(folder, 'a.sh'))).mode & 0o777).toBe(0o755)
    expect((await lstat(join(folder, 'link.sh'))).isSymbolicLink()).toBe(true)
  })

  it('refuses the redaction marker unless the old file holds it', async () => {
    const { write, folder, content } = await setup()
    const refused = await write('a.env', 'key=[REDACTED]\n')
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('stands for a secret') })
    await expect(stat(join(folder, 'a.env'))).rejects.toThrow('ENOENT')
    await writeFile(join(folder, 'doc.md'), 'shows [REDACTED]\n')
    expect((await write('doc.md', 'still shows [REDACTED]\n')).isError).toBe(false)
    expect(await content('doc.md')).toBe('still shows [REDACTED]\n')
    expect((await write('doc.md', '[REDACTED] and [REDACTED]\n')).isError).toBe(true)
  })

  it('refuses the display form of read_file, but takes tables', async () => {
    const { write, content } = await setup()
    expect((await write('a.ts', '1|import a\n2|\n3|run()\n')).text).toContain('line numbers that read_file adds')
    expect((await write('a.ts', '1|only one line')).isError).toBe(false)
    await write('people.psv', '1|Ann\n2|Bob\n3|Cyd\n')
    expect(await content('people.psv')).toBe('1|Ann\n2|Bob\n3|Cyd\n')
    expect((await write('b.md', '| a | b |\n|---|---|\n10|20\n')).isError).toBe(false)
  })

  it('refuses what read_file says in place of text', async () => {
    const { write, folder, context, content } = await setup()
    await writeFile(join(folder, 'a.min.js'), `${'x'.repeat(3000)}\nend\n`)
    const read = await call(createReadFileTool(), { path: 'a.min.js' }, context)
    const shown = read.text.replace(/^\d+\|/gm, '').replace(/\n\[1 long line cut\.\]$/, '\n')
    expect(shown).toMatch(/more characters\]\nend\n$/)
    expect((await write('a.min.js', shown)).text).toContain('would destroy that rest. Nothing was written')
    expect(await content('a.min.js')).toHaveLength(3005)
    const again = await call(createReadFileTool(), { path: 'a.min.js' }, context)
    expect(again.text).toContain('unchanged')
    for (const text of [again.text, 'one\ntwo\n[Lines 1-2 of 40. Continue with offset 3.]'])
      expect(await write('b.txt', text)).toMatchObject({
        isError: true,
        text: expect.stringContaining('a note of read_file'),
      })
    expect((await write('b.txt', '[section]\nLines 1-2 of 40. Continue.\n')).isError).toBe(false)
  })

  it('says when only a part of the old file had been read', async () => {
    const { write, folder, context } = await setup()
    const read = (offset: number, limit: number) =>
      call(createReadFileTool(), { path: 'a.txt', offset, limit }, context)
    const note = 'You had read only a part of the old file; the rest of it is gone unseen.'
    const refill = () => writeFile(join(folder, 'a.txt'), 'a\nb\nc\nd\n')
    await refill()
    await read(1, 2)
    expect((await write('a.txt', 'x\n')).data['warning']).toBe(note)
    expect((await write('a.txt', 'y\n')).data).not.toHaveProperty('warning')
    await refill()
    await read(3, 2)
    expect((await write('a.txt', 'x\n')).data['warning']).toBe(note)
    await refill()
    await read(1, 2)
    await read(3, 2)
    expect((await write('a.txt', 'x\n')).data).not.toHaveProperty('warning')
    await refill()
    await read(1, 2)
    await call(createPatchTool(), { path: 'a.txt', old_string: 'd', new_string: 'e' }, context)
    expect((await write('a.txt', 'x\n')).data['warning']).toBe(note)
    await writeFile(join(folder, 'a.txt'), `${'x'.repeat(3000)}\n`)
    await read(1, 2)
    expect((await write('a.txt', 'x\n')).data['warning']).toBe(note)
  })

  it('writes over a file that changed since it was read, and says so', async () => {
    const { write, folder, context, content } = await setup()
    await writeFile(join(folder, 'a.txt'), 'one\n')
    await call(createReadFileTool(), { path: 'a.txt' }, context)
    expect((await write('a.txt', 'two\n')).data).not.toHaveProperty('warning')
    await writeFile(join(folder, 'a.txt'), 'somebody else\n')
    const result = await write('a.txt', 'three\n')
    expect(result.data['warning']).toContain('had changed since you last read it')
    expect(await content('a.txt')).toBe('three\n')
  })

  it('reports JSON that breaks with this write only', async () => {
    const { write } = await setup()
    expect((await write('a.json', '{"a": 1}')).data).not.toHaveProperty('syntax_error')
    expect((await write('a.json', '{"a": 1,}')).text).toMatch(/a\.json has a syntax error now: .+/)
    expect((await write('a.json', '{"a": 1,,}')).data).not.toHaveProperty('syntax_error')
    expect((await write('tsconfig.json', '{ /* why */ }')).data).not.toHaveProperty('syntax_error')
  })

  it('refuses folders, half characters and what the policy denies', async () => {
    const { write, folder, environment } = await setup()
    await mkdir(join(folder, 'sub'))
    expect((await write('sub', 'x')).text).toContain('not a regular file')
    expect((await write('a.txt', '\udc00')).text).toContain('surrogate')
    const strict = createToolContext({ environment, deny: (action) => action.type === 'write' })
    expect((await call(tool, { path: 'a.txt', content: 'x' }, strict)).text).toBe('Not allowed here.')
    await expect(stat(join(folder, 'a.txt'))).rejects.toThrow('ENOENT')
  })

  it('names the argument that is missing', async () => {
    const { context } = await setup()
    expect((await call(tool, { content: 'x' }, context)).text).toContain('path')
    expect((await call(tool, { path: 'a.txt' }, context)).text).toContain('content')
  })
})
