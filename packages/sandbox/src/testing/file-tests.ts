import { describe, expect } from 'vitest'
import type { Backend } from './harness.js'
import { testPermit } from './permit.js'

const text = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes)

/** Reading, writing and looking. */
export function fileTests({ shared, it }: Backend): void {
  describe('files', () => {
    it('gives back what was written, whole and in part', async () => {
      const { environment, write } = await shared()
      await write('a.txt', 'hello world')
      expect(text(await environment.read('a.txt'))).toBe('hello world')
      expect(text(await environment.read('a.txt', { offset: 6 }))).toBe('world')
      expect(text(await environment.read('a.txt', { offset: 2, length: 3 }))).toBe('llo')
      expect(text(await environment.read('a.txt', { offset: 50, length: 3 }))).toBe('')
    })

    it('keeps every byte, in whole files and in parts', async () => {
      const { environment } = await shared()
      const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7 + (index >> 8)) % 256)
      const path = environment.resolve('bytes')
      const permit = testPermit({ type: 'write', path, operation: 'write', backend: environment.backend })
      await environment.write(permit, 'bytes', bytes)
      expect(Buffer.compare((await environment.read('bytes'))!, bytes)).toBe(0)
      const part = await environment.read('bytes', { offset: 70_001, length: 66_000 })
      expect(Buffer.compare(part!, bytes.subarray(70_001, 136_001))).toBe(0)
      expect((await environment.stat('bytes'))?.sizeBytes).toBe(200_000)
    })

    it('writes and reads an empty file', async () => {
      const { environment, write, read } = await shared()
      expect(await write('empty', '')).toMatchObject({ type: 'file', sizeBytes: 0 })
      expect(await read('empty')).toBe('')
      expect(await environment.read('empty', { offset: 3, length: 5 })).toHaveLength(0)
    })

    it('takes names of any characters', async () => {
      const { environment, write, read } = await shared()
      const names = [
        "it's",
        '-n',
        '$HOME `x`',
        'two\nlines',
        '"q" \\',
        '*?[a]',
        'grüße 日本',
        ' edge ',
        '..x',
        '.hidden',
      ]
      for (const name of names) await write(`odd/${name}`, name)
      for (const name of names) expect(await read(`odd/${name}`)).toBe(name)
      const entries = await environment.list('odd')
      expect(entries?.map((entry) => entry.name).sort()).toEqual([...names].sort())
      expect(await environment.realpath("odd/it's")).toMatch(/\/odd\/it's$/)
    })

    it('tells a dangling link from its name, and looks through links', async () => {
      const { environment, run } = await shared()
      await run('mkdir dir; ln -s dir to-dir; ln -s nowhere dangling')
      expect(await environment.stat('to-dir')).toMatchObject({ type: 'directory' })
      expect([await environment.stat('dangling'), await environment.read('dangling')]).toEqual([null, null])
    })

    it('keeps a path through a file apart from one that is missing', async () => {
      const { environment, write } = await shared()
      await write('file', 'x')
      await expect(environment.read('file/x')).rejects.toMatchObject({ code: 'environment.not_a_directory' })
      await expect(environment.list('file')).rejects.toMatchObject({ code: 'environment.not_a_directory' })
      await expect(write('.', 'x')).rejects.toMatchObject({ code: 'environment.is_directory' })
      await expect(environment.read('a\0b')).rejects.toMatchObject({ code: 'environment.invalid_path' })
    })

    it('answers null for what is missing', async () => {
      const { environment } = await shared()
      expect(await environment.read('none')).toBeNull()
      expect(await environment.stat('none')).toBeNull()
      expect(await environment.list('none')).toBeNull()
    })

    it('refuses to read a directory as a file', async () => {
      const { environment } = await shared()
      await expect(environment.read('.')).rejects.toMatchObject({ code: 'environment.is_directory' })
    })

    it('resolves relative paths against the shell and ~ against home', async () => {
      const { environment, run } = await shared()
      const { home } = await environment.probe()
      const [before, root] = [environment.cwd(), environment.root]
      expect(`${before}/`.startsWith(`${root}/`)).toBe(true)
      await run('mkdir sub && cd sub')
      expect(environment.resolve('x')).toBe(`${before}/sub/x`)
      expect(environment.root).toBe(root)
      expect(environment.resolve('~/x')).toBe(`${home}/x`)
      expect(environment.resolve('/x/../y')).toBe('/y')
    })

    it('makes parents, and replaces content while keeping the mode', async () => {
      const { environment, write, read, run } = await shared()
      await write('deep/er/run.sh', 'one')
      await run('chmod 751 deep/er/run.sh')
      const stat = await write('deep/er/run.sh', 'two, longer')
      expect(await read('deep/er/run.sh')).toBe('two, longer')
      expect(stat).toMatchObject({ type: 'file', sizeBytes: 11, mode: 0o751 })
      expect(await environment.stat('deep/er')).toMatchObject({ type: 'directory' })
    })

    it('gives a new file the mode asked for', async () => {
      const { write } = await shared()
      expect(await write('secret', 'x', { mode: 0o600 })).toMatchObject({ mode: 0o600 })
    })

    it('writes through a link and leaves the link a link', async () => {
      const { environment, write, read, run } = await shared()
      await run('mkdir real && echo old > real/file && ln -s real/file link')
      await write('link', 'new')
      expect(await read('real/file')).toBe('new')
      const entries = await environment.list('.')
      expect(entries).toContainEqual({ name: 'link', type: 'link' })
    })

    it('refuses a link that came after leave was given for a path without', async () => {
      const { environment, run, write } = await shared()
      await run('mkdir real other; ln -s ../other real/link')
      await expect(write('real/link/a', 'x', { noLinks: true })).rejects.toMatchObject({ code: 'environment.changed' })
      expect(await environment.list('other')).toEqual([])
      const place = await environment.realpath('real')
      await write(`${place}/deep/a`, 'one', { noLinks: true })
      await write(`${place}/deep/a`, 'two', { noLinks: true })
      expect(text(await environment.read('real/deep/a'))).toBe('two')
    })

    it('removes and renames nothing through a link that came after leave was given', async () => {
      const { environment, run } = await shared()
      await run('mkdir real other && echo kept > other/a && ln -s ../other real/link && echo mine > real/b')
      const place = await environment.realpath('real')
      const { backend } = environment
      const change = (operation: 'remove' | 'rename', path: string) =>
        testPermit({ type: 'write', path: `${place}/${path}`, operation, backend })
      const noLinks = { noLinks: true }
      const changed = { code: 'environment.changed' }
      await expect(environment.remove(change('remove', 'link/a'), `${place}/link/a`, noLinks)).rejects.toMatchObject(
        changed,
      )
      const rename = (from: string, to: string) =>
        environment.rename(change('rename', from), `${place}/${from}`, `${place}/${to}`, noLinks)
      await expect(rename('link/a', 'stolen')).rejects.toMatchObject(changed)
      await expect(rename('b', 'link/b')).rejects.toMatchObject(changed)
      expect((await run('ls real; cat real/link/a')).output).toBe('b\nlink\nkept\n')
      await rename('b', 'deep/c')
      await environment.remove(change('remove', 'link'), `${place}/link`, noLinks)
      expect((await run('ls real; cat real/deep/c other/a')).output).toBe('deep\nmine\nkept\n')
    })

    it('leaves no temporary file behind, whether a write succeeds or fails', async () => {
      const { environment, write } = await shared()
      await write('a', '1')
      await expect(write('a', '2', { ifVersion: 'another' })).rejects.toMatchObject({ code: 'environment.changed' })
      expect(await environment.list('.')).toEqual([{ name: 'a', type: 'file' }])
    })

    it('changes the version with the content and keeps it without', async () => {
      const { environment, write } = await shared()
      const first = await write('a', 'one')
      expect((await environment.stat('a'))?.version).toBe(first.version)
      const second = await write('a', 'two')
      expect(second.version).not.toBe(first.version)
    })

    it('writes under ifVersion only while the file is that one', async () => {
      const { write, read, run } = await shared()
      const { version } = await write('a', 'one')
      const next = await write('a', 'two', { ifVersion: version })
      await expect(write('a', 'three', { ifVersion: version })).rejects.toMatchObject({ code: 'environment.changed' })
      await run('rm a')
      await expect(write('a', 'four', { ifVersion: next.version })).rejects.toMatchObject({
        code: 'environment.changed',
      })
      expect(await read('a')).toBeNull()
    })

    it('never shows a reader half a file', async () => {
      const { environment, write } = await shared()
      const whole = [`${'a'.repeat(300_000)}`, `${'b'.repeat(300_000)}`]
      await write('a', whole[0]!)
      let writing = true
      const writes = (async () => {
        for (let round = 0; round < 20; round++) await write('a', whole[round % 2]!)
        writing = false
      })()
      while (writing) expect(whole).toContain(text(await environment.read('a')))
      await writes
    })

    it('keeps text for its file tools, where it keeps any, for the user alone', async () => {
      const { environment, read } = await shared()
      if (!environment.keepText) return
      const paths = [await environment.keepText('one\nü'), await environment.keepText('two')]
      expect(await Promise.all(paths.map(read))).toEqual(['one\nü', 'two'])
      expect(await environment.stat(paths[0]!)).toMatchObject({ mode: 0o600 })
      expect(paths.map((path) => environment.resolve(path))).toEqual(paths)
    })

    it('lists names sorted, with their kinds', async () => {
      const { environment, run } = await shared()
      await run('mkdir b; touch c a; ln -s nowhere d')
      expect(await environment.list('.')).toEqual([
        { name: 'a', type: 'file' },
        { name: 'b', type: 'directory' },
        { name: 'c', type: 'file' },
        { name: 'd', type: 'link' },
      ])
    })

    it('follows links as far as the path exists and appends the rest', async () => {
      const { environment, run } = await shared()
      await run('mkdir -p real && ln -s real link && ln -s real/later dangling')
      const root = await environment.realpath('.')
      expect(await environment.realpath('link/not/yet')).toBe(`${root}/real/not/yet`)
      expect(await environment.realpath('dangling')).toBe(`${root}/real/later`)
    })

    it('makes, renames and removes', async () => {
      const { environment, write, read } = await shared()
      const { backend } = environment
      const permit = (path: string, operation: 'mkdir' | 'rename' | 'remove') =>
        testPermit({ type: 'write', path: environment.resolve(path), operation, backend })
      await environment.mkdir(permit('x/y', 'mkdir'), 'x/y')
      await environment.mkdir(permit('x/y', 'mkdir'), 'x/y')
      await write('x/y/file', 'here')
      await environment.rename(permit('x/y/file', 'rename'), 'x/y/file', 'x/other')
      expect(await read('x/other')).toBe('here')
      await environment.remove(permit('x/other', 'remove'), 'x/other')
      await environment.remove(permit('x/y', 'remove'), 'x/y')
      expect(await environment.list('x')).toEqual([])
    })

    it('replaces a file by renaming, and removes a link but not its target', async () => {
      const { environment, write, read, run } = await shared()
      const { backend } = environment
      const permit = (path: string, operation: 'rename' | 'remove') =>
        testPermit({ type: 'write', path: environment.resolve(path), operation, backend })
      await write('new', 'new')
      await write('kept', 'old')
      await run('mkdir dir; ln -s dir link')
      await environment.rename(permit('new', 'rename'), 'new', 'kept')
      expect([await read('kept'), await read('new')]).toEqual(['new', null])
      await expect(environment.rename(permit('kept', 'rename'), 'kept', 'dir')).rejects.toMatchObject({
        code: 'environment.is_directory',
      })
      await environment.remove(permit('link', 'remove'), 'link')
      expect(await environment.list('.')).toEqual([
        { name: 'dir', type: 'directory' },
        { name: 'kept', type: 'file' },
      ])
    })

    it('says so when what should be removed or renamed is missing, or a directory holds something', async () => {
      const { environment, write } = await shared()
      const { backend } = environment
      const permit = (path: string, operation: 'rename' | 'remove') =>
        testPermit({ type: 'write', path: environment.resolve(path), operation, backend })
      await expect(environment.remove(permit('none', 'remove'), 'none')).rejects.toMatchObject({
        code: 'environment.not_found',
      })
      await expect(environment.rename(permit('none', 'rename'), 'none', 'x')).rejects.toMatchObject({
        code: 'environment.not_found',
      })
      await write('full/file', 'x')
      await expect(environment.remove(permit('full', 'remove'), 'full')).rejects.toMatchObject({
        code: 'environment.not_empty',
      })
    })

    it('uses up the permit, and does nothing with the wrong one', async () => {
      const { environment, read } = await shared()
      const { backend } = environment
      const bytes = new TextEncoder().encode('x')
      const action = { type: 'write', path: environment.resolve('a'), operation: 'write', backend } as const
      const permit = testPermit(action)
      await environment.write(permit, 'a', bytes)
      expect(permit.used).toBe(true)
      await expect(environment.write(permit, 'a', bytes)).rejects.toMatchObject({ code: 'policy.permit_used' })
      await expect(environment.write(testPermit(action), 'b', bytes)).rejects.toMatchObject({
        code: 'policy.permit_mismatch',
      })
      expect(await read('b')).toBeNull()
    })
  })
}
