import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createFileLogger } from '../index.js'

describe('createFileLogger', () => {
  it('has written every line once flushed, privately and without what looks like a key', async () => {
    await using home = await temporaryHome()
    const file = join(home.path, 'logs', 'agent.log')
    const logger = createFileLogger(file)
    logger.warn('first', { key: 'sk-abcdefghijklmnopqrstuvwxyz123456' })
    logger.error('second')
    await logger.flush?.()
    const lines = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map((line) => line.msg)).toEqual(['first', 'second'])
    expect(JSON.stringify(lines)).not.toContain('sk-abc')
    expect((await stat(file)).mode & 0o077).toBe(0)
  })

  it('loses its lines and nothing else where the file cannot be written', async () => {
    await using home = await temporaryHome()
    const logger = createFileLogger(join(home.path, 'missing\0name', 'agent.log'))
    logger.info('lost')
    await expect(logger.flush?.()).resolves.toBeUndefined()
  })

  it.runIf(existsSync('/dev/full'))('loses its lines and nothing else on a full disk', async () => {
    const logger = createFileLogger('/dev/full')
    logger.warn('lost')
    logger.warn('lost too')
    await expect(logger.flush?.()).resolves.toBeUndefined()
  })
})
