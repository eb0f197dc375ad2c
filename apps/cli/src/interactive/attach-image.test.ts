import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { imagePath, imageReference, pastedImage, withAttached } from './attach-image.js'

const PNG = Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1')

async function stage() {
  const folder = await mkdtemp(join(tmpdir(), 'attach-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'a b.png'), PNG)
  await writeFile(join(folder, 'notes.txt'), 'notes')
  return { folder, at: { cwd: folder, userHome: dirname(folder), tempDir: folder } }
}

it('sends what the person attached as images, wherever they are, and leaves other references', async () => {
  const { at, folder } = await stage()
  const path = await imagePath('"a b.png"', at)
  expect(path).toBe(join(folder, 'a b.png'))
  const line = `${imageReference(path)}and @file:"/etc/other.png" please`
  expect(await withAttached(line, new Map([[path, null]]))).toEqual([
    { type: 'text', text: 'a b.png and @file:"/etc/other.png" please' },
    { type: 'image', mediaType: 'image/png', data: PNG.toString('base64'), name: 'a b.png' },
  ])
  expect(await withAttached(line, new Map([['/etc/x.png', null]]))).toBe(line)
  await expect(imagePath('notes.txt', at)).rejects.toThrow('is no PNG')
  await expect(imagePath('gone.png', at)).rejects.toThrow('There is no file')
})

it('takes the image of the clipboard from the first program that has one, and leaves no file of it', async () => {
  const { at, folder } = await stage()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const script = `#!/bin/sh\n[ "$DISPLAY" = "it's :9" ] && cat '${join(folder, 'a b.png')}' && ls -ld '${folder}'/hermes-paste-* > '${folder}/seen'\n`
  await writeFile(join(bin, 'xclip'), script, { mode: 0o755 })
  await writeFile(join(bin, 'wl-paste'), '#!/bin/sh\necho no image >&2; exit 1\n', { mode: 0o755 })
  const { execFile } = await import('node:child_process')
  const run = (command: string) =>
    new Promise<{ output: string; exitCode: number }>((resolve) =>
      execFile('/bin/sh', ['-c', command], { env: { PATH: `${bin}:/usr/bin:/bin` } }, (error, output) =>
        resolve({ output, exitCode: error ? 1 : 0 }),
      ),
    )
  const signal = new AbortController().signal
  const [path, image] = await pastedImage(run, { ...at, env: { DISPLAY: "it's :9" } }, signal)
  expect(await readFile(join(folder, 'seen'), 'utf8')).toMatch(/^drwx------/)
  const sent = [{ type: 'text', text: 'image.png ' }, image]
  expect(await withAttached(imageReference(path), new Map([[path, image]]))).toEqual(sent)
  expect(image.data).toBe(PNG.toString('base64'))
  await expect(pastedImage(run, { ...at, env: {} }, signal)).rejects.toThrow('There is no image on the clipboard')
  expect((await readdir(folder)).filter((name) => name.startsWith('hermes-paste-'))).toEqual([])
})
