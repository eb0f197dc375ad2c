import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import {
  createPatchTool,
  createReadFileTool,
  createSharedFiles,
  createWriteFileTool,
  defaultToolSettings,
} from '../index.js'

async function setUp() {
  const { folder, environment } = await temporaryEnvironment()
  const sharedFiles = createSharedFiles()
  const settings = { ...defaultToolSettings, sharedFiles }
  const [read, write, patch] = [createReadFileTool(settings), createWriteFileTool(settings), createPatchTool(settings)]
  const agent = (agentPath: readonly string[], signal?: AbortSignal) => {
    const context = createToolContext({
      environment,
      agent: { sessionId: agentPath.join('-'), agentPath },
      ...(signal ? { signal } : {}),
    })
    return {
      context,
      read: (path: string) => call(read, { path }, context),
      write: (path: string, content: string) => call(write, { path, content }, context),
      replace: (path: string, old_string: string, new_string: string) =>
        call(patch, { path, old_string, new_string }, context),
      patch: (text: string) => call(patch, { mode: 'patch', patch: text }, context),
    }
  }
  return {
    sharedFiles,
    parent: agent(['root']),
    child: agent(['root', 'task-1']),
    agent,
    put: (name: string, text: string) => writeFile(join(folder, name), text),
    content: (name: string) => readFile(join(folder, name), 'utf8'),
  }
}

describe('agents on the same files', () => {
  it("lose none of each other's edits of one file", async () => {
    const { agent, put, content } = await setUp()
    const names = Array.from({ length: 8 }, (_, index) => `line ${index}`)
    await put('a.txt', `${names.join('\n')}\n`)
    const edits = names.map((name, index) =>
      agent(['root', `task-${index}`]).replace('a.txt', `${name}\n`, `${name} done\n`),
    )
    expect((await Promise.all(edits)).map(({ isError }) => isError)).toEqual(names.map(() => false))
    expect(await content('a.txt')).toBe(names.map((name) => `${name} done\n`).join(''))
  })

  it('do not wait for each other over several files in whatever order', async () => {
    const { parent, child, put, content } = await setUp()
    await put('a.txt', 'a\nb\n')
    await put('b.txt', 'a\nb\n')
    const update = (name: string, line: string) => `*** Update File: ${name}\n-${line}\n+${line}${line}\n`
    const results = await Promise.all([
      parent.patch(update('a.txt', 'a') + update('b.txt', 'a')),
      child.patch(update('b.txt', 'b') + update('a.txt', 'b')),
    ])
    expect(results.map(({ isError }) => isError)).toEqual([false, false])
    expect([await content('a.txt'), await content('b.txt')]).toEqual(['aa\nbb\n', 'aa\nbb\n'])
  })

  it('are told whose changes they write over, also of a file they never read', async () => {
    const { parent, child, put } = await setUp()
    await put('a.txt', 'old\n')
    await parent.read('a.txt')
    await child.write('a.txt', 'of the child\n')
    const over = await parent.write('a.txt', 'of the parent\n')
    expect(over.data['warning']).toBe(
      'Another agent (task-1) wrote the file and you had not read it since; those changes are overwritten.',
    )
    await child.write('new.txt', 'x\n')
    expect((await parent.replace('new.txt', 'x', 'y')).text).toContain('Another agent (task-1) wrote the file')
    expect((await parent.replace('new.txt', 'y', 'z')).text).not.toContain('Another agent')
  })

  it('are told of an edit by a patch too, and of none they have read', async () => {
    const { parent, child, put } = await setUp()
    await put('a.txt', 'one\n')
    await parent.patch('*** Update File: a.txt\n-one\n+two\n')
    await child.read('a.txt')
    expect((await child.replace('a.txt', 'two', 'three')).text).not.toContain('Another agent')
    await parent.patch('*** Update File: a.txt\n-three\n+four\n')
    expect((await child.write('a.txt', 'five\n')).text).toContain('Another agent wrote the file')
  })

  it('stop waiting when they are stopped, and keep nobody else from their turn', async () => {
    const { sharedFiles, agent } = await setUp()
    const [first, last] = [agent(['root']), agent(['root', 'task-2'])]
    const controller = new AbortController()
    const stopped = agent(['root', 'task-1'], controller.signal)
    const order: string[] = []
    const held = Promise.withResolvers<void>()
    const running = sharedFiles.alone(first.context, ['/a'], async () => {
      await held.promise
      order.push('first')
    })
    const waiting = sharedFiles.alone(stopped.context, ['/a'], async () => void order.push('stopped'))
    const next = sharedFiles.alone(last.context, ['/a'], async () => void order.push('last'))
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await sharedFiles.alone(last.context, ['/b'], async () => void order.push('another file'))
    held.resolve()
    await Promise.all([running, next])
    expect(order).toEqual(['another file', 'first', 'last'])
  })

  it('go on after a call that failed', async () => {
    const { sharedFiles, parent } = await setUp()
    const failing = sharedFiles.alone(parent.context, ['/a'], () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(await sharedFiles.alone(parent.context, ['/a'], async () => 'yes')).toBe('yes')
  })
})
